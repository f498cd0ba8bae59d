//===- ProfileFlags.h - Flags of profiled steps -----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_PROFILEFLAGS_H
#define GPUOPT_LIB_DRIVER_COMMANDS_PROFILEFLAGS_H

#include "gpuopt/settings/profile_schedule.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace gpuopt {

/// Returns the flags of a run for some of its steps: without those that say how
/// long it is and what is kept of it, and without data that the user has added
/// other data for.
std::vector<std::string> flagsToRepeat(llvm::ArrayRef<std::string> flags,
                                       llvm::ArrayRef<std::string> added);

/// Returns flags that the user has added, with whole paths.
std::vector<std::string> withWholePaths(llvm::ArrayRef<std::string> flags);

/// Returns flags of a trainer without values that a later flag of the same name
/// replaces.
std::vector<std::string> withoutReplaced(llvm::ArrayRef<std::string> flags);

/// Whether flags of a run name files that gpuopt.train in Python wrote arrays
/// to, which it has removed again.
bool nameRemovedArrays(llvm::ArrayRef<std::string> flags);

/// Returns which steps are profiled if a step takes `stepMs`; 0: not known. The
/// first second warms up: caches fill, and threads learn how to wait for the
/// next kernel. It has at most `mostWarm` steps, as a run of so many was not
/// warmer. Short steps are profiled many times, so that one of them that was
/// held up counts little.
ProfileSchedule scheduleFor(double stepMs, int64_t mostWarm);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_PROFILEFLAGS_H
