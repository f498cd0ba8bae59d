//===- PriceSearch.cpp - The prices that give the best bound --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Bound/PriceSearch.h"
#include "Recompute/Bound/Bundle.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

std::vector<int>
gpuopt::planning::chooseTimePoints(const Graph &graph,
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
/// One maximisation. In here, bounds are in units of the cost of all ops, and
/// prices in that unit per 2^priceShift bytes.
class Ascent {
public:
  Ascent(TimeExpandedCut &cut, const IntegerScale &scale, double totalCost,
         const PriceSearchOptions &options)
      : cut(cut), scale(scale), options(options),
        unit(std::max(1., std::ldexp(totalCost, scale.costShift))),
        cutsLeft(options.cuts) {
    best.timePoints = cut.timePoints();
    best.bound = INT64_MIN;
  }

  /// A bundle can end early if its master problem can no longer tell planes
  /// apart. Then another one continues from the best prices.
  Prices run(const std::vector<int64_t> &start) {
    std::vector<double> point;
    for (int64_t price : start)
      point.push_back(double(price) / unit);
    double before = -1, value = 0;
    while (!point.empty() && value > before + 1e-7 && cutsLeft > 0 &&
           !isOver()) {
      before = value;
      ascend(point);
      value = double(best.bound) / unit;
      for (size_t k = 0; k < point.size(); ++k)
        point[k] = double(best.prices[k]) / unit;
    }
    return best;
  }

private:
  void ascend(std::vector<double> point) {
    double target = options.bestPlanCost ? options.bestPlanCost() : -1;
    target = target > 0 ? std::ldexp(target, scale.costShift) / unit : 0.05;
    if (best.bound > 0)
      target = std::max(1e-5, 0.1 * (target - double(best.bound) / unit));
    Bundle bundle(point, target);
    while (cutsLeft-- > 0 && !point.empty() && !isOver()) {
      std::vector<std::vector<double>> slopes;
      double value = evaluate(point, slopes);
      bundle.add(point, value, slopes);
      point = bundle.next(1e-8);
    }
  }

  bool isOver() const { return options.isOver && options.isOver(); }

  double evaluate(const std::vector<double> &point,
                  std::vector<std::vector<double>> &slopes) {
    std::vector<int64_t> rounded;
    for (double price : point)
      rounded.push_back(int64_t(std::min(price * unit, 0x1p60)));
    int64_t bound = cut.solve(rounded);
    if (bound > best.bound) {
      best.bound = bound;
      best.prices = rounded;
    }
    for (bool preferResident : {false, true}) {
      cut.readCut(preferResident);
      if (options.onCut)
        options.onCut(cut);
      slopes.emplace_back();
      for (int64_t excess : cut.excessBytes())
        slopes.back().push_back(std::ldexp(double(excess), -scale.priceShift));
    }
    return double(bound) / unit;
  }

  TimeExpandedCut &cut;
  const IntegerScale &scale;
  const PriceSearchOptions &options;
  double unit;
  int cutsLeft;
  Prices best;
};
} // namespace

Prices gpuopt::planning::searchPrices(const Graph &graph, TimeExpandedCut &cut,
                                      const IntegerScale &scale,
                                      std::vector<int64_t> start,
                                      const PriceSearchOptions &options) {
  return Ascent(cut, scale, graph.totalCost, options).run(std::move(start));
}
