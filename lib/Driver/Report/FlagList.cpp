//===- FlagList.cpp - The flags of a command ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/FlagList.h"

#include "gpuopt/settings/compile_table.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace gpuopt;

/// Returns the names that the tables list for a flag's value.
static std::vector<std::string> choicesOf(StringRef name) {
  std::vector<std::string> choices;
  std::string_view wanted(name.data(), name.size());
  if (const SettingInfo *setting = find_setting(wanted))
    for (int64_t i = 0; setting->field.names && i < setting->field.count; ++i)
      choices.emplace_back(setting->field.names[i]);
  if (const CompileSetting *setting = find_compile_setting(wanted))
    for (size_t i = 0; i < setting->values.count; ++i)
      choices.emplace_back(setting->values.names[i]);
  return choices;
}

std::vector<ListedFlag> gpuopt::flagsOf(cl::SubCommand &command) {
  std::vector<ListedFlag> flags;
  for (auto &[name, option] : cl::getRegisteredOptions(command)) {
    const cl::OptionCategory &category = *option->Categories.front();
    if (option->getOptionHiddenFlag() == cl::ReallyHidden || name.empty() ||
        &category == &cl::getGeneralCategory() ||
        category.getName() == "Generic Options")
      continue;
    flags.push_back({name.str(), option->HelpStr.str(), option->ValueStr.str(),
                     category.getName().str(),
                     option->getValueExpectedFlag() == cl::ValueRequired,
                     choicesOf(name)});
  }
  llvm::sort(flags, [](const ListedFlag &a, const ListedFlag &b) {
    return std::tie(a.heading, a.name) < std::tie(b.heading, b.name);
  });
  return flags;
}
