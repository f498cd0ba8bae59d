//===- Commands.h - What gpuopt-solve can do --------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TOOLS_GPUOPT_SOLVE_COMMANDS_H
#define GPUOPT_TOOLS_GPUOPT_SOLVE_COMMANDS_H

#include <optional>
#include <string>

namespace gpuopt::solve {

/// Exit statuses.
enum Status { Success = 0, Failure = 1, NoSchedule = 2 };

struct CommandOptions {
  std::string input, solution, output, budget;
  bool curve = false;
  double timeLimitInSeconds = 0; ///< 0: none.
  long long effort = -1;         ///< Negative: the default.
  long long capacityInBytes = 0; ///< 0: as low as can be.
  unsigned threads = 1;
};

/// Each prints one summary line, or one line that says what is wrong.
int recompute(const CommandOptions &options);
int packArena(const CommandOptions &options);
int verifyRecompute(const CommandOptions &options);
int verifyArena(const CommandOptions &options);

/// Says "gpuopt-solve: error: ..." and returns `Failure`.
int fail(const std::string &message);

} // namespace gpuopt::solve

#endif // GPUOPT_TOOLS_GPUOPT_SOLVE_COMMANDS_H
