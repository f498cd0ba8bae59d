//===- PriceSearch.h - The prices that give the best bound ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_PRICESEARCH_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_PRICESEARCH_H

#include "Recompute/Bound/TimeExpandedCut.h"

#include <functional>

namespace gpuopt::planning {

struct PriceSearchOptions {
  int cuts = 1000; ///< The most minimum cuts to solve.
  /// Returns the added cost of the best plan so far, which no bound exceeds, in
  /// the problem's unit; negative if there is no plan.
  std::function<double()> bestPlanCost;
  /// Is called with every cut on the way.
  std::function<void(TimeExpandedCut &)> onCut;
  std::function<bool()> isOver;
};

struct Prices {
  std::vector<int> timePoints;
  std::vector<int64_t> prices; ///< As `IntegerScale` reads them.
  int64_t bound = 0;           ///< In units of 2^-costShift.
};

/// Finds prices with a high bound, which is concave in the prices, by a bundle
/// method. `start` has one price for each time point.
Prices searchPrices(const Graph &graph, TimeExpandedCut &cut,
                    const IntegerScale &scale, std::vector<int64_t> start,
                    const PriceSearchOptions &options);

/// Returns at most `count` time points at which the profile is above the
/// budget: the highest of each of as many equal groups. Time points whose
/// working set alone exceeds the budget are left out.
std::vector<int> chooseTimePoints(const Graph &graph,
                                  const std::vector<int64_t> &profile,
                                  int64_t budgetInBytes, int count);

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_PRICESEARCH_H
