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
/// place of this one. If an overwriting run was killed there before it saved
/// anything, puts back the results that it had set aside. Where `resume` is
/// auto, it sets `restarts`: the training then starts that run anew. Returns
/// what is wrong, such as another trainer that writes to the folder; empty if
/// nothing is.
std::string lockResults(const std::string &folder, const std::string &resume,
                        std::shared_ptr<void> &lock, bool &restarts);

/// Returns whether a trainer holds the lock of a folder. Asks without writing
/// to the folder, which may be somebody else's.
bool areResultsLocked(const std::string &folder);

/// Returns the folder in which a program waits for its first step, to take the
/// place of that of an earlier run. Creates it, and sets `created` to what
/// removes it when it is destroyed; SIGINT, SIGTERM and SIGHUP remove it, too.
/// It stays if the run `restarts` a killed one: then the next try does so as
/// well. `problem` says what is wrong, if anything.
std::string createNextFolder(const std::string &results, bool restarts,
                             std::shared_ptr<void> &created,
                             std::string &problem);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_RESULTSLOCK_H
