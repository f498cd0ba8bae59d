//===- TrainerFlags.cpp - Flags as a trainer was given them ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/TrainerFlags.h"

#include <algorithm>

using namespace llvm;
using namespace gpuopt;

std::string gpuopt::flagNameOf(StringRef flag) {
  std::string name = flag.split('=').first.str();
  std::replace(name.begin(), name.end(), '_', '-');
  return name == "-o" ? "--output-dir" : name;
}

const SettingInfo *gpuopt::settingWithValue(StringRef flag) {
  const SettingInfo *setting =
      find_setting(StringRef(flagNameOf(flag)).ltrim('-').str());
  return setting && !setting->field.toggle ? setting : nullptr;
}

size_t gpuopt::sizeOfFirst(ArrayRef<std::string> flags) {
  StringRef flag = flags.front();
  bool hasMore = settingWithValue(flag) && !flag.contains('=');
  return std::min<size_t>(hasMore ? 2 : 1, flags.size());
}

std::optional<std::string> gpuopt::valueOf(StringRef name,
                                           ArrayRef<std::string> flags) {
  std::optional<std::string> found;
  for (; !flags.empty(); flags = flags.drop_front(sizeOfFirst(flags))) {
    StringRef flag = flags.front();
    if (flagNameOf(flag) != name)
      continue;
    if (flag.contains('='))
      found = flag.split('=').second.str();
    else
      found = flags.size() > 1 ? flags[1] : "";
  }
  return found;
}
