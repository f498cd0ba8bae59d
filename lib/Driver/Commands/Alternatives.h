//===- Alternatives.h - What other flags would make of a run ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_ALTERNATIVES_H
#define GPUOPT_LIB_DRIVER_COMMANDS_ALTERNATIVES_H

#include "Commands/RunPlanner.h"

namespace gpuopt {

/// A run as far as plans with other flags are compared with it.
struct PlannedRun {
  RunTraits traits;
  RunFigures figures;
  Verdict verdict;
};

/// Flags that may help, and what a plan with them says.
struct Alternative {
  std::string flags, text;
};

/// What plans with other flags say of a run.
struct Alternatives {
  /// Names the device file whose rates the estimates rest on.
  std::string device;
  std::vector<Alternative> found;
  /// Whether the estimates say something of the time that was measured.
  bool hasTimes = true;
  /// Why there are no more; empty if all were planned.
  std::string problem;
};

/// Plans the run with other precisions, budgets and batches, those that the
/// verdict names first. A time of a plan is an estimate; it is told as the
/// measured time of a step by the ratio of two estimates.
Alternatives planAlternatives(const PlannedRun &run, const RunPlanner &planner);

/// Prints them in lines of the terminal.
void printAlternatives(const Alternatives &alternatives, llvm::raw_ostream &os);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_ALTERNATIVES_H
