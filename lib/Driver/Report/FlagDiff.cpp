//===- FlagDiff.cpp - In which flags two commands differ ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/FlagDiff.h"

#include "Flags/FlagGroups.h"
#include "Report/FlagList.h"
#include "gpuopt/settings/settings_table.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace gpuopt;

static StringRef nameIn(StringRef word) {
  return word.split('=').first.ltrim('-');
}

/// Returns the flags among words, each with its value in one word.
static std::vector<std::string>
joinValues(ArrayRef<std::string> words,
           function_ref<bool(StringRef)> needsValue) {
  std::vector<std::string> flags;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (!StringRef(word).starts_with("-"))
      continue;
    if (!StringRef(word).contains('=') && needsValue(nameIn(word)) &&
        i + 1 < words.size())
      word += "=" + words[++i];
    flags.push_back(word);
  }
  return flags;
}

std::vector<std::string> gpuopt::wordsOf(const json::Array &command) {
  std::vector<std::string> words;
  for (const json::Value &word : command)
    words.push_back(word.getAsString().value_or("").str());
  return words;
}

std::vector<std::string> gpuopt::flagWords(ArrayRef<std::string> command) {
  StringSet<> withValue;
  for (cl::SubCommand *each :
       {&trainCommand(), &compileCommand(), &planCommand()})
    for (const ListedFlag &flag : flagsOf(*each))
      if (flag.needsValue)
        withValue.insert(flag.name);
  constexpr size_t kWordsBefore = 2; // "gpuopt train"
  return joinValues(command.drop_front(std::min(kWordsBefore, command.size())),
                    [&](StringRef name) { return withValue.contains(name); });
}

/// Whether a flag names where results lie, or is one by which gpuopt tells the
/// trainer where the program's own files are.
static bool namesOwnFile(StringRef name, StringRef value) {
  return name == "o" || name == "output-dir" ||
         (name == "weights" && value.ends_with("program/model.safetensors")) ||
         (name == "constants" &&
          value.ends_with("program/constants.safetensors"));
}

/// Adds what `flags` has and `given` has not.
static void addFlags(ArrayRef<std::string> flags, GivenFlags &given) {
  GivenFlags added;
  for (StringRef flag : flags) {
    StringRef name = nameIn(flag), text = flag.split('=').second;
    if (namesOwnFile(name, text))
      continue;
    std::string &value = added[(name.size() == 1 ? "-" : "--") + name.str()];
    value += (value.empty() ? "" : " ") + text.str();
  }
  given.insert(added.begin(), added.end());
}

GivenFlags gpuopt::givenFlags(const json::Object &plan,
                              const std::vector<std::string> &trainer) {
  GivenFlags given;
  if (const json::Array *command = plan.getArray("command"))
    addFlags(flagWords(wordsOf(*command)), given);
  if (!trainer.empty())
    addFlags(joinValues(ArrayRef(trainer).drop_front(),
                        [](StringRef name) {
                          const SettingInfo *setting = find_setting(name.str());
                          return setting && !setting->field.toggle;
                        }),
             given);
  return given;
}

void gpuopt::printFlagsDiff(const GivenFlags &first, const GivenFlags &second,
                            raw_ostream &os) {
  auto textOf = [](const GivenFlags &flags, const std::string &name) {
    auto found = flags.find(name);
    return found == flags.end()    ? std::string("not given")
           : found->second.empty() ? std::string("given")
                                   : found->second;
  };
  GivenFlags all = first;
  all.insert(second.begin(), second.end());
  std::vector<std::string> lines;
  for (const auto &[name, value] : all)
    if (std::string a = textOf(first, name), b = textOf(second, name); a != b)
      lines.push_back(name + ": " + a + " and " + b);
  if (!lines.empty())
    os << "flags that differ: " << lines.size() << "\n";
  for (const std::string &line : lines)
    os << "  " << line << "\n";
}
