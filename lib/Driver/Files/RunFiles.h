//===- RunFiles.h - What a training has left of itself ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_RUNFILES_H
#define GPUOPT_LIB_DRIVER_FILES_RUNFILES_H

#include "gpuopt/trainer/profiling/verdict.h"
#include "llvm/Support/Error.h"

namespace gpuopt {

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

/// Reads what metrics.jsonl says of the steps of a run. A last line that is cut
/// off, as that of a run that was killed may be, is left out.
llvm::Expected<RunFigures> readFigures(llvm::StringRef run);

/// Returns what the plan of a run says that its memory budget costs, in
/// percent of a step; 0 if it has no budget or no plan.
double readBudgetCost(llvm::StringRef run);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_RUNFILES_H
