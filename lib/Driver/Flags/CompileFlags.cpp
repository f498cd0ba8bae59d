//===- CompileFlags.cpp - The flags of the compile-time table -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace gpuopt;

static const CompileSetting &rowOf(StringRef name) {
  const CompileSetting *setting =
      find_compile_setting(std::string_view(name.data(), name.size()));
  assert(setting && "a flag of the driver is a row of the table");
  return *setting;
}

/// Returns, by the names of the flags, what their values can be where only the
/// driver knows it.
static StringMap<StringRef> &valuesOfDriver() {
  static StringMap<StringRef> values;
  return values;
}

static cl::OptionCategory &categoryOf(CompileGroup group) {
  switch (group) {
  case CompileGroup::Model:
    return modelCategory();
  case CompileGroup::Loss:
    return lossCategory();
  case CompileGroup::Optimizer:
    return optimizerCategory();
  case CompileGroup::Precision:
    return precisionCategory();
  default:
    return targetCategory();
  }
}

std::string gpuopt::valuesText(const CompileSetting &setting) {
  if (StringRef values = valuesOfDriver().lookup(setting.name); !values.empty())
    return values.str();
  return setting.values.text(/*is_whole=*/true);
}

/// Returns "batches per update (default 1)". Names that can be chosen are
/// listed before the default.
static std::string helpOf(const CompileSetting &setting) {
  std::string help(setting.help);
  if (setting.values.count > 0 || valuesOfDriver().count(setting.name))
    help += ": " + valuesText(setting);
  if (!setting.standard.empty())
    help += " (default " + std::string(setting.standard) + ")";
  if (!setting.otherwise.empty())
    help += " (default: " + std::string(setting.otherwise) + ")";
  return help;
}

FromTable::FromTable(StringRef name, StringRef values)
    : setting(rowOf(name)), values(values) {}

void FromTable::apply(cl::Option &option) const {
  // The texts of help live until the process ends, as the flags do.
  static BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  if (!values.empty())
    valuesOfDriver()[setting.name] = saver.save(values);
  option.setArgStr(setting.name);
  option.setDescription(saver.save(helpOf(setting)));
  if (!setting.value.empty())
    option.setValueStr(setting.value);
  option.addCategory(categoryOf(setting.group));
  TakenBy{setting.takers}.apply(option);
}

static std::string mustBe(const CompileSetting &setting, const Twine &value) {
  return ("--" + StringRef(setting.name) + " must be " + valuesText(setting) +
          ", but is " + value)
      .str();
}

/// Returns what to do about a value that is none of a flag's names; nothing if
/// that is not known.
static std::string hintFor(const CompileSetting &setting, StringRef text) {
  if (const DeviceModel *gpu = findBuiltinGpu(text);
      setting.name == "target" && gpu)
    return "; --device=" + gpu->name +
           " names the GPU whose times are estimated";
  return choice_hint(text.str(), setting.values.names, setting.values.count);
}

std::string gpuopt::errorOf(const CompileSetting &setting, StringRef text) {
  return setting.values.has(text)
             ? ""
             : mustBe(setting, "'" + text + "'") + hintFor(setting, text);
}
std::string gpuopt::errorOf(const CompileSetting &setting, int64_t value) {
  const Values &values = setting.values;
  return values.has_range && !values.range.has(double(value))
             ? mustBe(setting, Twine(value))
             : "";
}
std::string gpuopt::errorOf(const CompileSetting &setting, double value) {
  const Values &values = setting.values;
  return values.has_range && !values.range.has(value)
             ? mustBe(setting, number_text(value))
             : "";
}
std::string gpuopt::errorOf(const CompileSetting &, bool) { return ""; }

template <>
std::string gpuopt::standardOf(const CompileSetting &setting) {
  return std::string(setting.standard);
}
template <>
int64_t gpuopt::standardOf(const CompileSetting &setting) {
  return strtoll(std::string(setting.standard).c_str(), nullptr, 10);
}
template <>
double gpuopt::standardOf(const CompileSetting &setting) {
  return strtod(std::string(setting.standard).c_str(), nullptr);
}
template <>
bool gpuopt::standardOf(const CompileSetting &setting) {
  return setting.standard == "on";
}
