//===- PrecisionProblem.cpp - What is in half precision -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Precision/PrecisionProblem.h"

using namespace gpuopt::planning;

MaybeError PrecisionProblem::check() const {
  int64_t sum = 0;
  // Stops before an overflow: each term is below kForbidden, an eighth of the
  // range.
  auto add = [&](int64_t cost) {
    return cost >= 0 && cost < kForbidden && (sum += cost) < kForbidden;
  };
  for (size_t i = 0; i < choices.size(); ++i)
    if (!add(choices[i].halfCost) || !add(choices[i].fullCost))
      return Error{"choice " + std::to_string(i) + " ('" + choices[i].name +
                   "') has a cost that is negative or too large"};
  int count = choices.size();
  for (size_t i = 0; i < penalties.size(); ++i) {
    const PrecisionPenalty &penalty = penalties[i];
    if (penalty.half < 0 || penalty.half >= count || penalty.full < 0 ||
        penalty.full >= count)
      return Error{"penalty " + std::to_string(i) + " is between choices " +
                   std::to_string(penalty.half) + " and " +
                   std::to_string(penalty.full) + ", but there are " +
                   std::to_string(count)};
    if (penalty.cost != kForbidden && !add(penalty.cost))
      return Error{"penalty " + std::to_string(i) +
                   " has a cost that is negative or too large"};
  }
  return std::nullopt;
}

Result<int64_t> gpuopt::planning::costOf(const PrecisionProblem &problem,
                                         const std::vector<char> &isHalf) {
  if (isHalf.size() != problem.choices.size())
    return Error{"expects a label for each of " +
                 std::to_string(problem.choices.size()) + " choices, but got " +
                 std::to_string(isHalf.size())};
  if (MaybeError error = problem.check())
    return *error;
  int64_t cost = 0;
  for (size_t i = 0; i < isHalf.size(); ++i) {
    const PrecisionChoice &choice = problem.choices[i];
    if (choice.rule ==
        (isHalf[i] ? PrecisionChoice::Rule::Full : PrecisionChoice::Rule::Half))
      return Error{"'" + choice.name + "' must be in " +
                   (isHalf[i] ? "full" : "half") + " precision"};
    cost += isHalf[i] ? choice.halfCost : choice.fullCost;
  }
  for (const PrecisionPenalty &penalty : problem.penalties) {
    if (!isHalf[penalty.half] || isHalf[penalty.full])
      continue;
    if (penalty.cost == kForbidden)
      return Error{"'" + problem.choices[penalty.half].name +
                   "' must not be in half precision where '" +
                   problem.choices[penalty.full].name + "' is not"};
    cost += penalty.cost;
  }
  return cost;
}

MaybeError gpuopt::planning::verify(const PrecisionProblem &problem,
                                    const PrecisionAssignment &assignment) {
  Result<int64_t> cost = costOf(problem, assignment.isHalf);
  if (!cost)
    return cost.error();
  if (*cost != assignment.cost)
    return Error{"the labelling costs " + std::to_string(*cost) +
                 ", but claims " + std::to_string(assignment.cost)};
  return std::nullopt;
}
