//===- CertificateCheck.cpp - Checks the proof of a lower bound -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks a certificate. Arithmetic is on 128 bits where sums could overflow.
// The network is not built: each arc's description gives its capacity, and
// conservation is summed up for each node.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/Certificate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace gpuopt::planning;

namespace {
class Checker {
public:
  Checker(const RecomputeProblem &problem, int64_t budget,
          const Certificate &certificate)
      : problem(problem), budget(budget), certificate(certificate) {}

  Result<double> run();

private:
  MaybeError checkHeader() const;
  MaybeError addFlow(const Certificate::Flow &flow);
  bool isArc(const Certificate::Flow &flow) const;
  /// Returns the capacity of an arc; negative for no limit.
  __int128 capacity(const Certificate::Flow &flow) const;
  bool isReadAfter(int op, int timePoint) const {
    return lastNeed[op] > certificate.timePoints[timePoint];
  }
  /// Whether the output lies in another one that stays as it is.
  bool isView(int op) const {
    return problem.ops[op].storage >= 0 && !problem.ops[op].overwrites;
  }
  int holderOf(int op) const {
    while (isView(op))
      op = problem.ops[op].storage;
    return op;
  }
  bool isRecomputable(int op) const {
    bool result = problem.ops[op].recomputable;
    for (; problem.ops[op].overwrites; result &= problem.ops[op].recomputable)
      op = problem.ops[op].storage;
    return result;
  }
  bool isTouched(int op, int timePoint) const {
    int at = certificate.timePoints[timePoint];
    const std::vector<int> &inputs = problem.ops[at].inputs;
    return holderOf(at) == op ||
           std::any_of(inputs.begin(), inputs.end(),
                       [&](int input) { return holderOf(input) == op; });
  }
  MaybeError checkOffloaded() const;
  void findLastNeeds();
  std::vector<int> touched(int op) const;

  using Node = std::tuple<bool, int, int>; ///< (is "had", op, time point).
  const RecomputeProblem &problem;
  int64_t budget;
  const Certificate &certificate;
  std::vector<int> lastNeed;
  /// The storages that are touched at each time point, sorted.
  std::vector<std::vector<int>> touchedAt;
  std::map<Node, __int128> balance;
  std::map<int, __int128> kept; ///< Flow of kind 2 by op.
  std::map<std::tuple<int, int, int, int>, bool> seen;
  __int128 total = 0;
};
} // namespace

/// Finds the last op that reads an output, or another output that lies in it.
void Checker::findLastNeeds() {
  int n = problem.ops.size();
  lastNeed.assign(n, 0);
  for (int op = n - 1; op >= 0; --op) {
    if (problem.ops[op].pinned)
      lastNeed[op] = n;
    for (int input : problem.ops[op].inputs)
      lastNeed[input] = std::max(lastNeed[input], op);
    if (isView(op)) {
      int &need = lastNeed[problem.ops[op].storage];
      need = std::max(need, lastNeed[op]);
    }
  }
}

std::vector<int> Checker::touched(int op) const {
  std::vector<int> storages{problem.storageOf(op)};
  for (int input : problem.ops[op].inputs)
    storages.push_back(problem.storageOf(input));
  std::sort(storages.begin(), storages.end());
  storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
  return storages;
}

MaybeError Checker::checkHeader() const {
  if (certificate.prices.size() != certificate.timePoints.size())
    return Error{"expects one price per time point"};
  for (size_t k = 0; k < certificate.timePoints.size(); ++k) {
    int timePoint = certificate.timePoints[k];
    if (timePoint < 0 || size_t(timePoint) >= problem.ops.size() ||
        (k > 0 && timePoint <= certificate.timePoints[k - 1]))
      return Error{"expects time points that are ops in increasing order"};
    if (certificate.prices[k] < 0)
      return Error{"expects prices of at least 0"};
  }
  if (std::abs(certificate.costShift) > 2000 || certificate.priceShift < 0 ||
      certificate.priceShift > 62 ||
      std::ldexp(problem.totalCost(), certificate.costShift) > 0x1p62)
    return Error{"expects shifts in their range"};
  return std::nullopt;
}

bool Checker::isArc(const Certificate::Flow &flow) const {
  int n = problem.ops.size(), timePoints = certificate.timePoints.size();
  if (flow.op < 0 || flow.op >= n || flow.timePoint < 0 ||
      flow.timePoint >= timePoints ||
      flow.op >= certificate.timePoints[flow.timePoint])
    return false;
  const RecomputeOp &op = problem.ops[flow.op];
  switch (flow.kind) { // each arc has one spelling, or it would carry twice
  case 0:
    return flow.other == -1 &&
           (flow.timePoint == 0 ||
            certificate.timePoints[flow.timePoint - 1] <= flow.op);
  case 1:
    return flow.other > flow.timePoint && flow.other < timePoints;
  case 2:
    return flow.other == -1;
  case 3:
    return std::count(op.inputs.begin(), op.inputs.end(), flow.other) > 0;
  case 4:
    return isView(flow.op) && op.storage == flow.other;
  default:
    return false;
  }
}

__int128 Checker::capacity(const Certificate::Flow &flow) const {
  const RecomputeOp &op = problem.ops[flow.op];
  if (flow.kind == 0)
    return isRecomputable(flow.op)
               ? __int128(
                     std::floor(std::ldexp(op.cost, certificate.costShift)))
               : -1;
  if (flow.kind != 2)
    return -1;
  if (isView(flow.op) || isTouched(flow.op, flow.timePoint))
    return 0;
  int64_t bytes = problem.ops[problem.storageOf(flow.op)].sizeInBytes;
  return (__int128(certificate.prices[flow.timePoint]) * bytes) >>
         certificate.priceShift;
}

MaybeError Checker::addFlow(const Certificate::Flow &flow) {
  auto error = [&](const std::string &what) {
    return Error{"the flow of kind " + std::to_string(flow.kind) + " at op " +
                 std::to_string(flow.op) + " " + what};
  };
  if (!isArc(flow))
    return error("is on no arc");
  if (!seen.emplace(std::tuple(flow.kind, flow.op, flow.timePoint, flow.other),
                    true)
           .second)
    return error("is listed twice");
  __int128 limit = capacity(flow);
  if (flow.amount < 0 || (limit >= 0 && flow.amount > limit))
    return error("is not within its capacity");
  Node run{false, flow.op, flow.timePoint}, had{true, flow.op, flow.timePoint};
  Node otherHad{true, flow.other, flow.timePoint};
  Node laterRun{false, flow.op, flow.other};
  Node from = flow.kind == 1 || flow.kind == 2 ? run : otherHad;
  Node to = flow.kind == 1                     ? laterRun
            : flow.kind == 2 || flow.kind == 4 ? had
                                               : run;
  if (flow.kind == 2)
    kept[flow.op] += flow.amount;
  if (flow.kind != 0)
    balance[from] -= flow.amount;
  balance[to] += flow.amount;
  return std::nullopt;
}

/// Checks the shares of offload costs. A schedule that reloads an output pays
/// for it once, and may then have it at every time point without holding it.
MaybeError Checker::checkOffloaded() const {
  for (auto [op, amount] : kept) {
    std::optional<double> cost = problem.ops[op].offloadCost;
    if (!cost)
      continue;
    double limit = std::ldexp(*cost, certificate.costShift);
    if (limit < 0x1p120 && amount > __int128(std::floor(limit)))
      return Error{"the flows of kind 2 at op " + std::to_string(op) +
                   " exceed its offload cost"};
  }
  return std::nullopt;
}

Result<double> Checker::run() {
  if (MaybeError error = checkHeader())
    return *error;
  findLastNeeds();
  for (int timePoint : certificate.timePoints)
    touchedAt.push_back(touched(timePoint));
  for (const Certificate::Flow &flow : certificate.flows)
    if (MaybeError error = addFlow(flow))
      return *error;
  if (MaybeError error = checkOffloaded())
    return *error;
  for (auto [node, amount] : balance) {
    auto [isHad, op, timePoint] = node;
    if (isHad && isReadAfter(op, timePoint)) // the sink
      total += amount;
    else if (amount != 0)
      return Error{"flow is not conserved at op " + std::to_string(op)};
  }
  for (size_t k = 0; k < certificate.timePoints.size(); ++k) {
    __int128 room = __int128(budget) -
                    problem.ops[certificate.timePoints[k]].workspaceInBytes;
    for (int made : touchedAt[k])
      room -= problem.ops[made].sizeInBytes;
    if (room < 0)
      return Error{"a time point's working set exceeds the budget"};
    // A bound below 0 is 0, however much else is subtracted; many large prices
    // would overflow.
    __int128 unit = __int128(1) << certificate.priceShift;
    __int128 price = (certificate.prices[k] * room + unit - 1) / unit;
    total = std::max<__int128>(total - price, 0);
  }
  return std::ldexp(double(total), -certificate.costShift);
}

Result<double>
gpuopt::planning::checkCertificate(const RecomputeProblem &problem,
                                   int64_t budgetInBytes,
                                   const Certificate &certificate) {
  if (MaybeError error = problem.check())
    return *error;
  return Checker(problem, budgetInBytes, certificate).run();
}
