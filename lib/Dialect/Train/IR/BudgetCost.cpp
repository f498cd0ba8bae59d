//===- BudgetCost.cpp - What a memory budget costs ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Train/IR/BudgetCost.h"

using namespace gpuopt;
using namespace gpuopt::train;

double BudgetCost::percentOf(double part) const {
  return 100 * part / std::max(1., withoutBudget);
}

BudgetCost train::budgetCostOf(PlanAttr plan, double nanoseconds,
                               double nanosecondsWithoutBudget) {
  BudgetCost cost;
  cost.withoutBudget = nanosecondsWithoutBudget;
  if (plan) {
    cost.recompute = plan.getAddedNanoseconds().getValueAsDouble();
    cost.lowerBound = plan.getLowerBoundNanoseconds().getValueAsDouble();
  }
  cost.added = nanoseconds - nanosecondsWithoutBudget + cost.recompute;
  return cost;
}
