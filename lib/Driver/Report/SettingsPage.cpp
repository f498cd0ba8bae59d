//===- SettingsPage.cpp - docs/settings.md --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/SettingsPage.h"

#include "Flags/FlagGroups.h"
#include "gpuopt/settings/settings_table.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// The title without what it adds for a terminal, in parentheses.
static StringRef titleOf(Section section) {
  return StringRef(title_of(section)).split(" (").first;
}

/// "compile, plan, train, trainer"
static std::string takersOf(const SettingInfo &setting) {
  SmallVector<StringRef> takers;
  if (setting.takers & kCompile)
    takers = {"compile", "plan"};
  if (setting.takers & kTrain)
    takers.push_back("train");
  if (setting.takers & kTrainer)
    takers.push_back("trainer");
  return join(takers, ", ");
}

/// The driver's own flags have their help, with the default, where they are
/// declared.
static StringRef helpOf(const SettingInfo &setting) {
  if (!setting.help.empty())
    return setting.help;
  auto &flags = cl::getRegisteredOptions(compileCommand());
  auto flag = flags.find(setting.name);
  return flag == flags.end() ? StringRef() : flag->second->HelpStr;
}

static void printFlag(const SettingInfo &setting, raw_ostream &os) {
  TrainingSettings defaults;
  os << "| `--" << setting.name << "` | " << value_text(setting, defaults)
     << " | " << range_text(setting) << " | " << takersOf(setting) << " | "
     << helpOf(setting) << " |\n";
}

static void printFlags(raw_ostream &os) {
  const SettingInfo *last = nullptr;
  for (const SettingInfo &setting : kSettings) {
    if (!last || last->section != setting.section)
      os << "\n### " << titleOf(setting.section)
         << "\n\n| flag | default | range | taken by | "
            "|\n|---|---|---|---|---|\n";
    last = &setting;
    printFlag(setting, os);
  }
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

static int64_t elementsOf(const OptimizerState &state,
                          ParameterShape parameter) {
  StateDims dims = dims_of(state, parameter);
  int64_t elements = dims.exists && !state.name.empty() ? 1 : 0;
  for (int i = 0; i < dims.rank; ++i)
    elements *= dims.dims[i];
  return elements;
}

/// Returns how many bytes of state an element of a float matrix of 1024 times
/// 1024 has, without what depends on a hyperparameter or with it.
static double bytesOfElement(const OptimizerInfo &optimizer, bool withAll) {
  const int64_t dims[] = {1024, 1024};
  const ParameterShape matrix{dims, 2};
  int64_t bytes = 0;
  for (const OptimizerState &state : optimizer.states)
    if (withAll || state.needs.empty())
      bytes +=
          elementsOf(state, matrix) * (state.type == StateType::I8 ? 1 : 4);
  return double(bytes) / double(matrix.elements());
}

static void printOptimizer(const OptimizerInfo &optimizer, raw_ostream &os) {
  os << "| `" << optimizer.name << "` | " << optimizer.help << " | "
     << format("%.3g", bytesOfElement(optimizer, /*withAll=*/false));
  for (const OptimizerState &state : optimizer.states)
    if (!state.needs.empty())
      os << "; with `--" << state.needs << "` "
         << format("%.3g", bytesOfElement(optimizer, /*withAll=*/true));
  os << " |";
  for (std::string_view setting : optimizer.settings)
    if (!setting.empty())
      os << " `--" << setting << "`";
  os << " |\n";
}

void gpuopt::printSettingsPage(raw_ostream &os) {
  os << "# Settings\n\nPrinted by `gpuopt settings`. The trainer's defaults "
        "are "
        "those that its program was compiled with,\n`defaults.h` beside its "
        "sources; Python's keywords are the flags with underscores.\n\n## "
        "Optimizers\n\n`--optimizer`, and what each keeps for an element of a "
        "float matrix of 1024 times 1024.\n\n| | | bytes an element | reads "
        "|\n|---|---|---|---|\n";
  for (const OptimizerInfo &optimizer : kOptimizers)
    printOptimizer(optimizer, os);
  os << "\n## Flags\n";
  printFlags(os);
}
