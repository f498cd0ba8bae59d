//===- PriceSearch.cpp - The prices that give the best bound --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PriceSearch.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

std::vector<int>
gpuopt::planning::chooseMoments(const Graph &graph,
                                const std::vector<int64_t> &profile,
                                int64_t budgetInBytes, int count) {
  std::vector<int> above, chosen;
  for (int op = 0; op < graph.size(); ++op)
    if (profile[op] > budgetInBytes && graph.workingSet[op] <= budgetInBytes)
      above.push_back(op);
  size_t groups = std::min<size_t>(count, above.size());
  for (size_t group = 0; group < groups; ++group) {
    auto from = above.begin() + above.size() * group / groups;
    auto to = above.begin() + above.size() * (group + 1) / groups;
    chosen.push_back(*std::max_element(
        from, to, [&](int a, int b) { return profile[a] < profile[b]; }));
  }
  return chosen;
}

namespace {
/// One maximisation; prices are in doubles here, rounded for every cut.
class Ascent {
public:
  Ascent(const Graph &graph, TimeExpandedCut &cut, const IntegerScale &scale,
         const PriceSearchOptions &options)
      : graph(graph), cut(cut), scale(scale), options(options) {
    best.moments = cut.moments();
    best.bound = INT64_MIN;
  }

  Prices run(std::vector<int64_t> start) {
    std::vector<double> point(start.begin(), start.end());
    std::vector<double> bestPoint = point, slope, bestSlope;
    double reach = 1; // of Polyak's step
    int failures = 0;
    for (int i = 0; i < options.cuts && reach > 1e-3; ++i) {
      bool improved = evaluate(point, slope);
      if (improved) {
        bestPoint = point;
        bestSlope = slope;
        failures = 0;
      } else if (++failures >= 8) {
        reach /= 2;
        failures = 0;
        point = bestPoint;
        slope = bestSlope;
      }
      if (!step(point, slope, reach) || (options.isOver && options.isOver()))
        break;
    }
    return best;
  }

private:
  /// True where the bound is the best so far.
  bool evaluate(const std::vector<double> &point, std::vector<double> &slope) {
    std::vector<int64_t> rounded;
    for (double price : point)
      rounded.push_back(int64_t(std::min(price, 0x1p60)));
    bound = cut.solve(rounded);
    bool improved = bound > best.bound;
    if (improved) {
      best.bound = bound;
      best.prices = rounded;
    }
    cut.readCut(false);
    if (options.onCut)
      options.onCut(cut);
    cut.readCut(true);
    if (options.onCut)
      options.onCut(cut);
    slope.clear();
    for (int64_t excess : cut.excessBytes())
      slope.push_back(std::ldexp(double(excess), -scale.priceShift));
    return improved;
  }

  bool step(std::vector<double> &point, const std::vector<double> &slope,
            double reach) {
    double length = 0;
    for (size_t k = 0; k < point.size(); ++k)
      if (point[k] > 0 || slope[k] > 0)
        length += slope[k] * slope[k];
    if (length == 0)
      return false;
    double planCost = options.bestPlanCost ? options.bestPlanCost() : -1;
    double target =
        planCost >= 0
            ? std::ldexp(planCost, scale.costShift)
            : std::max(1.3 * double(bound),
                       double(bound) +
                           0.02 * std::ldexp(graph.totalCost, scale.costShift));
    double size = reach * (target - double(bound)) / length;
    if (size <= 0)
      return false; // the plan is optimal
    for (size_t k = 0; k < point.size(); ++k)
      point[k] = std::max(0., point[k] + size * slope[k]);
    return true;
  }

  const Graph &graph;
  TimeExpandedCut &cut;
  const IntegerScale &scale;
  const PriceSearchOptions &options;
  Prices best;
  int64_t bound = 0;
};
} // namespace

Prices gpuopt::planning::searchPrices(const Graph &graph, TimeExpandedCut &cut,
                                      const IntegerScale &scale,
                                      std::vector<int64_t> start,
                                      const PriceSearchOptions &options) {
  return Ascent(graph, cut, scale, options).run(std::move(start));
}
