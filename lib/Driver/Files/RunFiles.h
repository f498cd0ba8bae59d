//===- RunFiles.h - What a training has left of itself ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_RUNFILES_H
#define GPUOPT_LIB_DRIVER_FILES_RUNFILES_H

#include "Files/RunMetrics.h"
#include "gpuopt/trainer/profiling/verdict.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace gpuopt {

/// Says why a file cannot be read; what does not exist is told as everywhere,
/// by describe_missing().
llvm::Error unreadable(llvm::StringRef file, std::error_code code);

/// Reads a file of JSON. Bytes that are not UTF-8 are read as U+FFFD.
llvm::Expected<llvm::json::Value> readJson(const std::string &file);

/// Returns whether the folder of a run has a file.
bool hasFile(llvm::StringRef run, llvm::StringRef name);

/// Fails if `folder` holds no results of a training.
llvm::Error checkIsRun(llvm::StringRef folder);

bool hasProfile(llvm::StringRef run);
/// Reads profile.json of a run. Fails if it is that of another version.
llvm::Expected<KeyAverages> readProfile(llvm::StringRef run);

/// How a trainer was started, as run.json has it.
struct RunCommand {
  std::string folder;                 ///< In which it was started.
  std::vector<std::string> arguments; ///< The first is the program.
};

/// run.json of a run.
struct RunDescription {
  RunTraits traits;
  RunCommand command;
};
llvm::Expected<RunDescription> readRunDescription(llvm::StringRef run);

/// Returns means of the steps after `begunAt`, which are those of one process,
/// without the first one, which is not like the others. Fails if there are too
/// few. The folder is for the message.
llvm::Expected<RunFigures> figuresOf(const RunMetrics &metrics,
                                     llvm::StringRef run, int64_t begunAt);

/// Reads a plan. Fails if it is that of another version.
llvm::Expected<llvm::json::Object> readPlanFile(const std::string &file);

/// Returns whether readPlan finds a file.
bool hasPlan(llvm::StringRef run, const RunCommand &command);
/// Reads plan.json of a run, or that of the program that it was started from.
/// Fails if it is that of another version.
llvm::Expected<llvm::json::Object> readPlan(llvm::StringRef run,
                                            const RunCommand &command);

/// Returns what a plan says that its memory budget costs, in percent of a step;
/// 0 if it has no budget.
double budgetCostOf(const llvm::json::Object &plan);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_RUNFILES_H
