//===- RunPlanner.h - Plans of a run's program with other flags -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// plan.json has the command that compiled a program. Here its flags go to
// `gpuopt plan`, in a process of its own that ends when the time does.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_RUNPLANNER_H
#define GPUOPT_LIB_DRIVER_COMMANDS_RUNPLANNER_H

#include "Files/RunFiles.h"
#include <chrono>

namespace gpuopt {

class RunPlanner {
public:
  /// `plan` is plan.json of the run, whose trainer was run by `command`. All
  /// plans together may take `seconds`. Fails if the plan does not say how it
  /// was made, or if the model is no longer there.
  static llvm::Expected<RunPlanner> create(llvm::StringRef run,
                                           const llvm::json::Object &plan,
                                           const RunCommand &command,
                                           int64_t seconds);

  /// Plans the program that a command of gpuopt, whose model is `model`, asks
  /// for; files are sought from the current folder.
  static RunPlanner of(llvm::StringRef model,
                       llvm::ArrayRef<std::string> commandLine,
                       int64_t seconds);

  /// Plans with `flags`, such as "--precision=bf16", in place of those of the
  /// same names; "--memory-budget" alone takes that flag away. Returns what
  /// `gpuopt plan --json` prints; its member `fits` is false where a budget
  /// cannot be met. Fails if the time is over, which isOver() tells.
  llvm::Expected<llvm::json::Object>
  plan(llvm::ArrayRef<std::string> flags) const;

  /// Returns a hash of all that plan() depends on besides its flags.
  std::string key() const;

  bool isOver() const { return secondsLeft() <= 0; }

private:
  using Clock = std::chrono::steady_clock;

  RunPlanner(std::string folder, std::vector<std::string> words,
             int64_t seconds)
      : folder(std::move(folder)), words(std::move(words)), seconds(seconds),
        end(Clock::now() + std::chrono::seconds(seconds)) {}
  int64_t secondsLeft() const;
  llvm::Expected<llvm::json::Object>
  execute(std::vector<std::string> command) const;

  std::string folder;             ///< Where the trainer was started.
  std::vector<std::string> words; ///< The model, and flags that `plan` takes.
  int64_t seconds;
  Clock::time_point end;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_RUNPLANNER_H
