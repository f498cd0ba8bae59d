//===- BudgetCurve.h - What budgets cost a run's program --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Planning a curve takes seconds to minutes, so its points are kept in the
// build cache, by a hash of all that they depend on. Points for which there was
// no time are planned when the curve is asked for again.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_BUDGETCURVE_H
#define GPUOPT_LIB_DRIVER_COMMANDS_BUDGETCURVE_H

#include "Commands/RunPlanner.h"

namespace gpuopt {

/// Finds what budgets cost, as far as there is time: budgets far from each
/// other come first.
class BudgetCurve {
public:
  explicit BudgetCurve(const RunPlanner &planner);

  /// Returns the points, from the largest budget down. Fails if not even the
  /// program without a budget can be planned.
  llvm::Expected<llvm::json::Array> plan();
  /// Returns how many budgets there was no time for.
  int missing() const { return left; }
  /// Returns what is wrong with the budgets that could not be planned.
  llvm::ArrayRef<std::string> failures() const { return failed; }

private:
  struct Point {
    int64_t budget = 0, total = 0;
    double added = 0, bound = 0;
  };
  void load();
  void keep() const;
  llvm::Error planWithoutBudget();
  bool plan(int64_t budget);
  bool isKnown(int64_t budget) const;
  llvm::json::Array toJson();

  const RunPlanner &planner;
  std::string file;           ///< Where the points are kept; empty: nowhere.
  int64_t top = 0, arena = 0; ///< Bytes without a budget; 0: not planned.
  std::vector<Point> points;
  int64_t unmet = 0; ///< The largest budget that is known not to be met.
  int left = 0;
  bool isNew = false; ///< Whether something was planned that is not kept.
  std::vector<std::string> failed;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_BUDGETCURVE_H
