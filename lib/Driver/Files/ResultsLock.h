//===- ResultsLock.h - One training at a time in a folder -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_RESULTSLOCK_H
#define GPUOPT_LIB_DRIVER_FILES_RESULTSLOCK_H

#include <memory>
#include <string>

namespace gpuopt {

/// Creates a folder for the results of a training, if there is none, and locks
/// it as trainers do, until `lock` is destroyed or another program takes the
/// place of this one. Puts back the results of an earlier run if one that was
/// to replace them was killed before it saved anything. Returns what is wrong,
/// such as another trainer that writes to the folder; empty if nothing is.
std::string lockResults(const std::string &folder, std::shared_ptr<void> &lock);

/// Returns whether a trainer holds the lock of a folder. Asks without writing
/// to the folder, which may be somebody else's.
bool areResultsLocked(const std::string &folder);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_RESULTSLOCK_H
