//===- SettingsPage.cpp - docs/settings.md --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/SettingsPage.h"

#include "Flags/CompileFlags.h"
#include "gpuopt/settings/settings_table.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// Returns the title without its end in parentheses, which is meant for a
/// terminal.
static StringRef titleOf(Section section) {
  return StringRef(title_of(section)).split(" (").first;
}
static StringRef titleOf(CompileGroup group) { return title_of(group); }

/// Returns "compile, plan, train, trainer".
static std::string takersOf(unsigned takers) {
  SmallVector<StringRef> names;
  for (auto [taker, name] :
       {std::pair(kCompileAlone, "compile"), std::pair(kPlan, "plan"),
        std::pair(kTrain, "train"), std::pair(kTrainer, "trainer"),
        std::pair(kPredict, "predict"), std::pair(kPredictor, "predictor")})
    if (takers & taker)
      names.push_back(name);
  return join(names, ", ");
}

static Section sectionOf(const SettingInfo &setting) { return setting.section; }
static CompileGroup sectionOf(const CompileSetting &setting) {
  return setting.group;
}

/// Returns a text as a cell of a table has it.
static std::string cell(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

/// Returns the name of a flag, with its short form.
static std::string nameOf(const SettingInfo &setting) {
  std::string name = "`--" + std::string(setting.name) + "`";
  return setting.short_name.empty()
             ? name
             : name + ", `-" + std::string(setting.short_name) + "`";
}
static std::string nameOf(const CompileSetting &setting) {
  return "`--" + std::string(setting.name) + "`";
}

static std::string defaultOf(const SettingInfo &setting) {
  // The commands of gpuopt have no default here, and each program its own.
  if (setting.name == "output-dir")
    return "trainer: " + TrainingSettings().output_dir +
           ", predictor: predicted";
  return setting.otherwise.empty() ? value_text(setting, TrainingSettings())
                                   : std::string(setting.otherwise);
}
static std::string defaultOf(const CompileSetting &setting) {
  return std::string(setting.standard.empty() ? setting.otherwise
                                              : setting.standard);
}

/// Returns what the value of a flag can be: in words, or as --help abbreviates
/// it.
static std::string valuesOf(const SettingInfo &setting) {
  std::string range = range_text(setting);
  return range.empty() ? cell(setting.value) : range;
}
static std::string valuesOf(const CompileSetting &setting) {
  std::string values = valuesText(setting);
  return values.empty() ? cell(setting.value) : values;
}

/// Prints the rows of one heading as a table.
template <typename RowsT, typename SectionT>
static void printSection(const RowsT &rows, SectionT section, raw_ostream &os) {
  os << "\n### " << titleOf(section)
     << "\n\n| flag | default | values | taken by | |\n|---|---|---|---|---|\n";
  for (const auto &row : rows)
    if (sectionOf(row) == section)
      os << "| " << nameOf(row) << " | " << defaultOf(row) << " | "
         << valuesOf(row) << " | " << takersOf(row.takers) << " | " << row.help
         << " |\n";
}

/// Prints a table for each heading, in the order of the rows.
template <typename RowsT>
static void printFlags(const RowsT &rows, raw_ostream &os) {
  const auto *last = std::begin(rows);
  for (const auto &row : rows)
    if (&row == last || sectionOf(row) != sectionOf(*last)) {
      printSection(rows, sectionOf(row), os);
      last = &row;
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

/// Returns the bytes of state for an element of a float matrix of 1024 times
/// 1024. States that depend on a hyperparameter count only if `withAll`.
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
  os << "# Settings\n\nPrinted by `gpuopt settings`. A trainer is the program "
        "of `gpuopt compile`, a predictor that of\n`gpuopt compile "
        "--inference`. The trainer's defaults "
        "are "
        "those that its program was compiled with,\n`defaults.h` beside its "
        "sources; Python's keywords are the flags with underscores.\nIf a flag "
        "is given twice with different values, the last one counts, and a note "
        "or a warning says so:\na script may put its own flags in "
        "front of those that it is given.\n\nA REGEX is what Python's "
        "`re.search` takes, and is found in any part of a name; that of "
        "`--precision-override`\nis the whole name. `\\d`, `\\w` and "
        "`\\s` are those of ASCII. Refused are back-references, escapes of "
        "other letters than\n`\\D`, `\\W`, `\\S`, `\\A` and `\\Z`, what begins "
        "with `(?` but for `(?:`, such as `(?i)` and `(?!...)`, `{,n}`,\nand "
        "sets with escapes of other letters than `\\d`, `\\w` and `\\s`, with "
        "`\\[`, or with `[:`, `[.` or `[=`.\n\n## "
        "Optimizers\n\n`--optimizer`, and what each keeps for an element of a "
        "float matrix of 1024 times 1024.\n\n| | | bytes an element | reads "
        "|\n|---|---|---|---|\n";
  for (const OptimizerInfo &optimizer : kOptimizers)
    printOptimizer(optimizer, os);
  os << "\n## Flags\n";
  printFlags(kSettings, os);
  printFlags(kCompileSettings, os);
}
