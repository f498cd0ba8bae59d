//===- AssignPrecision.cpp - The cheapest precision of everything ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The source side of the cut is half precision: cutting source -> choice is
// full precision, choice -> sink half. A rule is an arc that cannot be cut.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Precision/AssignPrecision.h"

#include "MaxFlow.h"

using namespace gpuopt::planning;
using Rule = PrecisionChoice::Rule;

static int64_t sourceCapacity(const PrecisionChoice &choice) {
  return choice.rule == Rule::Half ? infiniteCapacity : choice.fullCost;
}
static int64_t sinkCapacity(const PrecisionChoice &choice) {
  return choice.rule == Rule::Full ? infiniteCapacity : choice.halfCost;
}

/// Returns how `last` was reached: "'a', so 'b', so 'c'".
static std::string chainTo(const PrecisionProblem &problem,
                           const std::vector<int> &reachedFrom, int last) {
  std::vector<int> chain{last};
  while (reachedFrom[chain.back()] != chain.back())
    chain.push_back(reachedFrom[chain.back()]);
  std::string text;
  for (auto index = chain.rbegin(); index != chain.rend(); ++index)
    text +=
        (text.empty() ? "'" : ", so '") + problem.choices[*index].name + "'";
  return text;
}

/// Finds a chain of forbidden pairs from a choice that must be in half
/// precision to one that must not.
static MaybeError findContradiction(const PrecisionProblem &problem) {
  int count = problem.choices.size();
  std::vector<std::vector<int>> forces(count);
  for (const PrecisionPenalty &penalty : problem.penalties)
    if (penalty.cost == kForbidden)
      forces[penalty.half].push_back(penalty.full);
  std::vector<int> reached, reachedFrom(count, -1);
  for (int i = 0; i < count; ++i)
    if (problem.choices[i].rule == Rule::Half) {
      reachedFrom[i] = i;
      reached.push_back(i);
    }
  for (size_t i = 0; i < reached.size(); ++i) {
    int choice = reached[i];
    if (problem.choices[choice].rule == Rule::Full)
      return Error{chainTo(problem, reachedFrom, choice) +
                   " must be in half precision, but '" +
                   problem.choices[choice].name + "' must not"};
    for (int next : forces[choice])
      if (reachedFrom[next] < 0) {
        reachedFrom[next] = choice;
        reached.push_back(next);
      }
  }
  return std::nullopt;
}

Result<PrecisionSolution>
gpuopt::planning::assignPrecision(const PrecisionProblem &problem) {
  if (MaybeError error = problem.check())
    return *error;
  if (MaybeError error = findContradiction(problem))
    return *error;
  int count = problem.choices.size(), source = count, sink = count + 1;
  MaxFlow network(count + 2);
  for (int i = 0; i < count; ++i) {
    network.addArc(source, i, sourceCapacity(problem.choices[i]));
    network.addArc(i, sink, sinkCapacity(problem.choices[i]));
  }
  for (const PrecisionPenalty &penalty : problem.penalties)
    network.addArc(penalty.half, penalty.full,
                   penalty.cost == kForbidden ? infiniteCapacity
                                              : penalty.cost);
  network.finish(source, sink);
  PrecisionSolution solution;
  solution.assignment.cost = network.solve();
  std::vector<char> isFull = network.sinkSide(/*smallest=*/false);
  for (int i = 0; i < count; ++i) {
    solution.assignment.isHalf.push_back(!isFull[i]);
    solution.fromSource.push_back(network.flow(2 * i));
    solution.toSink.push_back(network.flow(2 * i + 1));
  }
  for (size_t i = 0; i < problem.penalties.size(); ++i)
    solution.alongPenalty.push_back(network.flow(2 * count + int(i)));
  return solution;
}

MaybeError gpuopt::planning::verifyOptimal(const PrecisionProblem &problem,
                                           const PrecisionSolution &solution) {
  if (MaybeError error = verify(problem, solution.assignment))
    return error;
  size_t count = problem.choices.size();
  if (solution.fromSource.size() != count || solution.toSink.size() != count ||
      solution.alongPenalty.size() != problem.penalties.size())
    return Error{"the flow has not one value for each choice and penalty"};
  // Wide enough for any number of flows.
  using Sum = __int128;
  Sum value = 0;
  std::vector<Sum> excess(count);
  for (size_t i = 0; i < count; ++i) {
    const PrecisionChoice &choice = problem.choices[i];
    int64_t in = solution.fromSource[i], out = solution.toSink[i];
    bool isWithin = in >= 0 && out >= 0 &&
                    (choice.rule == Rule::Half || in <= choice.fullCost) &&
                    (choice.rule == Rule::Full || out <= choice.halfCost);
    if (!isWithin)
      return Error{"the flow through '" + choice.name + "' is out of bounds"};
    excess[i] = Sum(in) - out;
    value += in;
  }
  for (size_t i = 0; i < problem.penalties.size(); ++i) {
    const PrecisionPenalty &penalty = problem.penalties[i];
    int64_t flow = solution.alongPenalty[i];
    if (flow < 0 || (penalty.cost != kForbidden && flow > penalty.cost))
      return Error{"the flow along penalty " + std::to_string(i) +
                   " is out of bounds"};
    excess[penalty.half] -= flow;
    excess[penalty.full] += flow;
  }
  for (size_t i = 0; i < count; ++i)
    if (excess[i] != 0)
      return Error{"the flow through '" + problem.choices[i].name +
                   "' is not conserved"};
  if (value != solution.assignment.cost)
    return Error{"the flow does not carry the " +
                 std::to_string(solution.assignment.cost) +
                 " that the labelling costs"};
  return std::nullopt;
}
