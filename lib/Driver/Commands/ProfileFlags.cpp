//===- ProfileFlags.cpp - The flags of steps that are profiled ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/ProfileFlags.h"

#include "Files/TrainerFlags.h"
#include "gpuopt/settings/settings_table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace gpuopt;

/// Whether a flag of the run is left out of the few steps: its results are not
/// wanted, it says how long the run is, or it is of the learning rate's
/// schedule, which may need validations.
static bool isLeftOut(StringRef name) {
  return name.starts_with("eval-") || name.starts_with("save-") ||
         name.starts_with("early-stopping-") || name.starts_with("profile") ||
         name.starts_with("lr-") || name.starts_with("min-lr") ||
         name.starts_with("warmup-") ||
         is_contained({"output-dir", "resume", "max-steps", "num-train-epochs",
                       "logging-steps", "dump-gradients", "checksums-to",
                       "metric-for-best-model"},
                      name);
}

/// Returns the inputs that `--data INPUT=FILE` names among flags.
static StringSet<> inputsWithData(ArrayRef<std::string> flags) {
  StringSet<> inputs;
  for (size_t i = 0; i < flags.size(); i += sizeOfFirst(flags.drop_front(i))) {
    StringRef flag = flags[i];
    if (flagNameOf(flag) != "--data")
      continue;
    if (flag.contains('='))
      inputs.insert(flag.split('=').second.split('=').first);
    else if (i + 1 < flags.size())
      inputs.insert(StringRef(flags[i + 1]).split('=').first);
  }
  return inputs;
}

std::vector<std::string> gpuopt::flagsToRepeat(ArrayRef<std::string> flags,
                                               ArrayRef<std::string> added) {
  std::vector<std::string> kept;
  StringSet<> replaced = inputsWithData(added);
  for (; !flags.empty(); flags = flags.drop_front(sizeOfFirst(flags))) {
    ArrayRef<std::string> first = flags.take_front(sizeOfFirst(flags));
    std::string flag = flagNameOf(first.front());
    StringRef name = StringRef(flag).ltrim('-');
    name.consume_front("no-");
    bool isReplaced =
        name == "data" &&
        any_of(inputsWithData(first).keys(),
               [&](StringRef input) { return replaced.contains(input); });
    if (!isLeftOut(name) && !isReplaced)
      kept.insert(kept.end(), first.begin(), first.end());
  }
  return kept;
}

/// Returns the value of a flag with the file that it names as a whole path:
/// the trainer runs in another folder than the one that the user is in.
static std::string withWholePath(StringRef flag, StringRef value) {
  const SettingInfo *setting = settingWithValue(flag);
  if (setting && setting->name == "output-dir") {
    SmallString<256> folder(value);
    sys::fs::make_absolute(folder);
    return folder.str().str();
  }
  if (!setting || StringRef(setting->value).find("FILE") == StringRef::npos)
    return value.str();
  StringRef input, file = value; // INPUT=FILE or FILE
  if (StringRef(setting->value).contains('=') && value.contains('='))
    std::tie(input, file) = value.split('=');
  SmallString<256> path(file);
  sys::fs::make_absolute(path);
  return (input.empty() ? "" : input.str() + "=") + path.str().str();
}

std::vector<std::string> gpuopt::withWholePaths(ArrayRef<std::string> flags) {
  std::vector<std::string> whole;
  for (size_t i = 0; i < flags.size(); ++i) {
    StringRef flag = flags[i];
    if (auto [name, value] = flag.split('='); flag.contains('=')) {
      whole.push_back((name + "=" + withWholePath(name, value)).str());
      continue;
    }
    whole.push_back(flag.str());
    if (sizeOfFirst(flags.drop_front(i)) > 1)
      whole.push_back(withWholePath(flag, flags[++i]));
  }
  return whole;
}

std::vector<std::string> gpuopt::withoutReplaced(ArrayRef<std::string> flags) {
  std::vector<std::string> kept;
  while (!flags.empty()) {
    ArrayRef<std::string> first = flags.take_front(sizeOfFirst(flags));
    flags = flags.drop_front(first.size());
    const SettingInfo *setting = settingWithValue(first.front());
    if (!setting || may_repeat(*setting) ||
        !valueOf(flagNameOf(first.front()), flags))
      kept.insert(kept.end(), first.begin(), first.end());
  }
  return kept;
}

bool gpuopt::nameRemovedArrays(ArrayRef<std::string> flags) {
  return any_of(flags, [](StringRef flag) {
    StringRef folder = sys::path::parent_path(
        flag.rsplit('=').second.empty() ? flag : flag.rsplit('=').second);
    return sys::path::is_absolute(folder) &&
           sys::path::filename(folder).starts_with("gpuopt-") &&
           !sys::fs::exists(folder);
  });
}

ProfileSchedule gpuopt::scheduleFor(double stepMs, int64_t mostWarm) {
  constexpr double kWarmMs = 1000, kActiveMs = 100;
  constexpr int64_t kLeastWarm = 2, kLeastActive = 5, kMostActive = 50;
  auto stepsIn = [&](double ms, int64_t least, int64_t most) {
    if (!(stepMs > 0))
      return least;
    return int64_t(
        std::clamp(std::ceil(ms / stepMs), double(least), double(most)));
  };
  int64_t warm = stepsIn(kWarmMs, kLeastWarm, std::max(kLeastWarm, mostWarm));
  ProfileSchedule schedule;
  schedule.wait = warm - kLeastWarm;
  schedule.warmup = kLeastWarm;
  schedule.active = stepsIn(kActiveMs, kLeastActive, kMostActive);
  return schedule;
}
