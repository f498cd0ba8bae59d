//===- BudgetHelp.h - What would make a budget feasible ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A budget that cannot be met is tried again with flags that make a program
// smaller. Each trial is a plan, as `gpuopt plan` would make it.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_BUDGETHELP_H
#define GPUOPT_LIB_DRIVER_COMMANDS_BUDGETHELP_H

#include "Report/PlanReport.h"
#include "gpuopt/Driver/Driver.h"

namespace gpuopt {

/// Flags with which the program is within its budget.
struct FittingFlags {
  std::vector<std::string> flags; ///< "--batch-size=4"
  int64_t totalBytes = 0;         ///< What the program takes then.
};

/// What is known of flags that help.
struct BudgetHelp {
  /// Each alone is enough; if none is, the last is all of them together.
  std::vector<FittingFlags> fitting;
  /// All flags that were tried, if not even all of them are enough, and the
  /// proven lower limit with them.
  std::string tried;
  int64_t lowerLimitBytes = 0;
  /// The bytes of the parameters, if they alone are more than the budget; then
  /// nothing is tried.
  int64_t parameterBytes = 0;
  /// The batch of the error, where that is not the one of the command.
  std::optional<int64_t> batch;

  /// Returns a note for people; nothing if nothing was tried.
  std::string text() const;
};

/// Tries which flags would make the budget of `options` feasible. `unmet` is
/// what is known without them.
BudgetHelp findBudgetHelp(const DriverOptions &options,
                          const UnmetReport &unmet);

/// Returns about the largest batch that fits where `batch` does not, since what
/// a step needs at least, beside what stays, grows with the batch; 0 if there
/// is no idea.
int64_t guessBatch(int64_t batch, const UnmetReport &unmet, int64_t budget);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_BUDGETHELP_H
