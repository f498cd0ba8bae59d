//===- TimeExpandedCut.cpp - The cut that prices memory at time points ----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Bound/TimeExpandedCut.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

static constexpr int source = 0, sink = 1;

IntegerScale::IntegerScale(double totalCost, int64_t peakInBytes) {
  int exponent = 0;
  std::frexp(totalCost, &exponent); // totalCost < 2^exponent
  costShift = totalCost > 0 ? 44 - exponent : 0;
  while (priceShift < 62 && (int64_t(2) << priceShift) <= peakInBytes)
    ++priceShift;
}

int64_t IntegerScale::scaleCost(double cost) const {
  return std::min(std::floor(std::ldexp(cost, costShift)), std::ldexp(1., 52));
}

int64_t IntegerScale::priceBytes(int64_t price, int64_t bytes) const {
  return std::min<__int128>((__int128(price) * bytes) >> priceShift,
                            infiniteCapacity / 1024);
}

TimeExpandedCut::TimeExpandedCut(const Graph &graph,
                                 std::vector<int> timePoints,
                                 int64_t budgetInBytes, IntegerScale scale)
    : graph(graph), timePointOps(std::move(timePoints)), budget(budgetInBytes),
      scale(scale) {
  numberNodes();
  network = std::make_unique<MaxFlow>(nodes);
  for (size_t k = 0; k < timePointOps.size(); ++k)
    for (int op = 0; op < timePointOps[k]; ++op)
      if (runNode(op, k) >= 0)
        addArcsOf(op, k);
  network->finish(source, sink);
}

/// Gives nodes only to outputs that something after the time point can lead
/// back to. An output that is read after the time point is needed for certain,
/// so it is the sink.
void TimeExpandedCut::numberNodes() {
  int n = graph.size();
  std::vector<int> lastNeed = graph.lastUser; // of the output or a sharer's
  for (int op = n; op-- > 0;)
    if (graph.holder[op] != op)
      lastNeed[graph.storage[op]] =
          std::max(lastNeed[graph.storage[op]], lastNeed[op]);
  for (int timePoint : timePointOps) {
    std::vector<char> isTouched(n, false);
    isTouched[graph.holder[timePoint]] = true;
    for (int input : graph.inputs(timePoint))
      isTouched[graph.holder[input]] = true;
    std::vector<int> run(n, -1), had(n, -1);
    for (int op = timePoint; op-- > 0;) {
      bool forced = lastNeed[op] > timePoint, needed = forced;
      auto leadsOn = [&](int other) {
        return other < timePoint && run[other] >= 0;
      };
      auto isNeededView = [&](int other) {
        return graph.holder[other] != other && leadsOn(other);
      };
      if (!needed)
        needed = std::any_of(graph.users(op).begin(), graph.users(op).end(),
                             leadsOn) ||
                 std::any_of(graph.sharers(op).begin(), graph.sharers(op).end(),
                             isNeededView);
      if (!needed)
        continue;
      run[op] = nodes++;
      had[op] = forced ? sink : nodes++;
    }
    isFree.push_back(std::move(isTouched));
    runNodes.push_back(std::move(run));
    hadNodes.push_back(std::move(had));
  }
}

void TimeExpandedCut::addArc(int from, int to, int64_t capacity, CutArc word) {
  network->addArc(from, to, capacity);
  words.push_back(word);
}

void TimeExpandedCut::addArcsOf(int op, int k) {
  int run = runNode(op, k), had = hadNode(op, k), before = k - 1;
  while (before >= 0 && (timePointOps[before] <= op || runNode(op, before) < 0))
    --before;
  if (before >= 0)
    addArc(runNode(op, before), run, infiniteCapacity,
           {CutArc::Monotone, op, before, k});
  else
    addArc(source, run,
           graph.recomputable[op] ? scale.scaleCost(graph.cost[op])
                                  : infiniteCapacity,
           {CutArc::Recompute, op, k, -1});
  if (graph.heldBytes[op] > 0 && !isFree[k][op])
    addArc(run, had, 0, {CutArc::Resident, op, k, -1});
  for (int input : graph.inputs(op))
    if (hadNode(input, k) != sink)
      addArc(hadNode(input, k), run, infiniteCapacity,
             {CutArc::Needs, op, k, input});
  int made = graph.holder[op] == op ? -1 : graph.storage[op];
  if (made >= 0 && hadNode(made, k) != sink)
    addArc(hadNode(made, k), had, infiniteCapacity,
           {CutArc::Shares, op, k, made});
}

void TimeExpandedCut::sumPrices(const std::vector<int64_t> &prices) {
  lastPrices = prices;
  isCheaperOffloaded.assign(graph.size(), false);
  priceSums.assign(graph.size(), 0);
  if (!graph.hasOffload)
    return;
  for (const CutArc &word : words)
    if (word.kind == CutArc::Resident)
      priceSums[word.op] += prices[word.timePoint];
  for (int op = 0; op < graph.size(); ++op)
    if (graph.mayReload(op))
      isCheaperOffloaded[op] =
          double(scale.scaleCost(graph.offloadCost[op])) <
          std::ldexp(double(priceSums[op]) * double(graph.heldBytes[op]),
                     -scale.priceShift) *
              (1 + 1e-9); // where rounding could decide, shares are safe
}

int64_t TimeExpandedCut::solve(const std::vector<int64_t> &prices) {
  sumPrices(prices);
  for (size_t i = 0; i < words.size(); ++i) {
    auto [kind, op, timePoint, other] = words[i];
    if (kind != CutArc::Resident)
      continue;
    int64_t capacity = scale.priceBytes(prices[timePoint], graph.heldBytes[op]);
    if (isCheaperOffloaded[op]) // rounded down, so that the sum is not above
      capacity = std::min<__int128>(
          capacity, __int128(scale.scaleCost(graph.offloadCost[op])) *
                        prices[timePoint] / priceSums[op]);
    network->setCapacity(i, capacity);
  }
  __int128 bound = network->solve();
  for (size_t k = 0; k < timePointOps.size(); ++k) {
    __int128 room = budget - graph.workingSet[timePointOps[k]];
    __int128 one = 1;
    bound -= (prices[k] * room + (one << scale.priceShift) - 1) >>
             scale.priceShift; // rounded up
  }
  return std::max<__int128>(bound, INT64_MIN / 2);
}

void TimeExpandedCut::readCut(bool preferResident) {
  sinkSide = network->sinkSide(preferResident);
}

bool TimeExpandedCut::isRecomputed(int op, int k) const {
  return op < timePointOps[k] && runNodes[k][op] >= 0 &&
         sinkSide[runNodes[k][op]];
}

/// Whether an output is resident or reloaded.
bool TimeExpandedCut::isKept(int op, int k) const {
  return op < timePointOps[k] && runNodes[k][op] >= 0 &&
         sinkSide[hadNodes[k][op]] && !sinkSide[runNodes[k][op]];
}

bool TimeExpandedCut::isResident(int op, int k) const {
  return isKept(op, k) && !isCheaperOffloaded[op];
}

bool TimeExpandedCut::isReloaded(int op, int k) const {
  return isKept(op, k) && isCheaperOffloaded[op];
}

/// A higher price at one time point reduces the shares of the others.
void TimeExpandedCut::addReloadSlopes(std::vector<int64_t> &excess) const {
  // The sum of the prices of the time points at which each output is kept.
  std::vector<double> kept(graph.size(), 0);
  auto forEach = [&](auto act) {
    for (const CutArc &word : words)
      if (word.kind == CutArc::Resident && isCheaperOffloaded[word.op])
        act(word.op, word.timePoint, isReloaded(word.op, word.timePoint));
  };
  forEach([&](int op, int k, bool isHere) {
    kept[op] += isHere ? double(lastPrices[k]) : 0;
  });
  forEach([&](int op, int k, bool isHere) {
    double sum = double(priceSums[op]);
    double bytes = std::ldexp(double(scale.scaleCost(graph.offloadCost[op])),
                              scale.priceShift) /
                   sum * ((isHere ? 1 : 0) - kept[op] / sum);
    double most = double(graph.heldBytes[op]);
    excess[k] += int64_t(std::clamp(bytes, -most, most));
  });
}

std::vector<int64_t> TimeExpandedCut::excessBytes() const {
  std::vector<int64_t> excess;
  for (size_t k = 0; k < timePointOps.size(); ++k) {
    int64_t bytes = graph.workingSet[timePointOps[k]] - budget;
    for (int op = 0; op < timePointOps[k]; ++op)
      if (!isFree[k][op] && isResident(op, k))
        bytes += graph.heldBytes[op];
    excess.push_back(bytes);
  }
  if (graph.hasOffload)
    addReloadSlopes(excess);
  return excess;
}
