//===- SolverBenchmarks.cpp - How fast the solvers are --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Synthetic chains of blocks, forward and backward, so that nothing is read.
//
//===----------------------------------------------------------------------===//

#include "Arena/FirstFit.h"
#include "ChainOfBlocks.h"
#include "Recompute/Bound/PriceSearch.h"
#include "Recompute/Search/LocalSearch.h"
#include "gpuopt/Planning/Arena/PackArena.h"
#include "gpuopt/Planning/Recompute/SolveRecompute.h"

#include <benchmark/benchmark.h>

using namespace gpuopt::planning;

/// One price at one time point, network construction included.
static void singlePriceCut(benchmark::State &state) {
  RecomputeProblem problem = chainOfBlocks(state.range(0));
  Graph graph(problem);
  int64_t budget = plainPeak(problem) / 2;
  IntegerScale scale(graph.totalCost, 2 * budget);
  for (auto _ : state) {
    TimeExpandedCut cut(graph, {graph.size() / 2 - 1}, budget, scale);
    int64_t price = std::ldexp(0.3, 44);
    benchmark::DoNotOptimize(cut.solve({price}));
  }
}
BENCHMARK(singlePriceCut)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Unit(benchmark::kMillisecond);

/// The whole price search over 24 time points.
static void priceSearch(benchmark::State &state) {
  RecomputeProblem problem = chainOfBlocks(state.range(0));
  Graph graph(problem);
  int64_t plain = plainPeak(problem), budget = plain / 2;
  IntegerScale scale(graph.totalCost, plain);
  for (auto _ : state) {
    std::vector<int> timePoints =
        chooseTimePoints(graph, graph.plainProfile(), budget, 24);
    TimeExpandedCut cut(graph, timePoints, budget, scale);
    Prices prices = searchPrices(
        graph, cut, scale, std::vector<int64_t>(timePoints.size(), 0), {});
    benchmark::DoNotOptimize(prices.bound);
  }
}
BENCHMARK(priceSearch)->Arg(400)->Arg(1600)->Unit(benchmark::kMillisecond);

/// Moves of the local search per second.
static void localSearch(benchmark::State &state) {
  RecomputeProblem problem = chainOfBlocks(state.range(0));
  SearchSpace space(problem, 1);
  LocalSearch search(space, plainPeak(problem) / 2, 1);
  BestSchedule best;
  for (auto _ : state)
    search.anneal({}, 20000, 0.2, best, [] { return false; });
  state.SetItemsProcessed(20000 * state.iterations());
}
BENCHMARK(localSearch)->Arg(400)->Arg(10000)->Unit(benchmark::kMillisecond);

static ArenaProblem trainingStep(int buffers) {
  ArenaProblem problem;
  Random random(1);
  int n = buffers / 2;
  for (int i = 0; i < n; ++i) {
    int64_t size = 256 * (1 + random.below(64));
    problem.buffers.push_back({i, 2 * n - i, size, 256});
    problem.buffers.push_back({2 * n - i - 1, 2 * n - i + 1, size, 256});
  }
  return problem;
}

/// Effort 0: the first-fits alone.
static void firstFits(benchmark::State &state) {
  ArenaProblem problem = trainingStep(state.range(0));
  PackOptions options;
  options.effort = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(packArena(problem, options)->solution.height);
}
BENCHMARK(firstFits)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);
