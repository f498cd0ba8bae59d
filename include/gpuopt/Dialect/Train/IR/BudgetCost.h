//===- BudgetCost.h - What a memory budget costs ----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_IR_BUDGETCOST_H
#define GPUOPT_DIALECT_TRAIN_IR_BUDGETCOST_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt::train {

/// What a memory budget costs one run of a step. Times are estimates, in
/// nanoseconds.
struct BudgetCost {
  /// The time of the program that is compiled without a budget, which may have
  /// other kernels and precisions.
  double withoutBudget = 0;
  double added = 0; ///< What a run takes beyond that.
  /// What is computed again or reloaded, which is a part of that, and what any
  /// schedule of these kernels computes again or reloads at least.
  double recompute = 0, lowerBound = 0;

  /// Returns a part in percent of the time without a budget.
  double percentOf(double part) const;
};

/// Returns the cost for a step that takes `nanoseconds` where all of its work
/// runs once. The plan is null if nothing runs again.
BudgetCost budgetCostOf(PlanAttr plan, double nanoseconds,
                        double nanosecondsWithoutBudget);

} // namespace gpuopt::train

#endif // GPUOPT_DIALECT_TRAIN_IR_BUDGETCOST_H
