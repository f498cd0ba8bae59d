//===- FlowBenchmarks.cpp - How fast maximum flows are --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The planners' networks, one flow each from no flow, the network itself not
// included: by Dinic's algorithm, which is ours, and by LEMON's push-relabel
// (highest label, with gaps).
//
//===----------------------------------------------------------------------===//

#include "ChainOfBlocks.h"
#include "Recompute/Bound/PriceSearch.h"
#include "gpuopt/Planning/Recompute/Schedule.h"

#include <benchmark/benchmark.h>
#ifdef GPUOPT_HAVE_LEMON
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>
#endif

using namespace gpuopt::planning;

namespace {
/// A chain's cut: at one time point and a price that saves some of the ops, or
/// at several with the prices of the best bound.
struct Example {
  Example(int ops, int timePoints)
      : problem(chainOfBlocks(ops)), graph(problem),
        budget(plainPeak(problem) / 2), scale(graph.totalCost, 2 * budget),
        cut(graph,
            timePoints == 1 ? std::vector<int>{graph.size() / 2 - 1}
                            : chooseTimePoints(graph, graph.plainProfile(),
                                               budget, timePoints),
            budget, scale) {
    std::vector<int64_t> prices{int64_t(1) << 42};
    if (timePoints > 1)
      prices =
          searchPrices(graph, cut, scale,
                       std::vector<int64_t>(cut.timePoints().size(), 0), {})
              .prices;
    cut.solve(prices);
  }

  RecomputeProblem problem;
  Graph graph;
  int64_t budget;
  IntegerScale scale;
  TimeExpandedCut cut;
};
} // namespace

static void sizes(benchmark::internal::Benchmark *benchmark) {
  benchmark->Args({10000, 1})->Args({100000, 1})->Args({1600, 24});
  benchmark->Args({10000, 6})->Unit(benchmark::kMillisecond);
}

static void flowByDinic(benchmark::State &state) {
  Example example(state.range(0), state.range(1));
  for (auto _ : state)
    benchmark::DoNotOptimize(example.cut.maxFlow().solve());
}
BENCHMARK(flowByDinic)->Apply(sizes);

#ifdef GPUOPT_HAVE_LEMON
static void flowByLemon(benchmark::State &state) {
  Example example(state.range(0), state.range(1));
  MaxFlow &flow = example.cut.maxFlow();
  lemon::SmartDigraph graph;
  graph.reserveNode(flow.nodeCount());
  for (int node = 0; node < flow.nodeCount(); ++node)
    graph.addNode();
  lemon::SmartDigraph::ArcMap<int64_t> capacities(graph);
  for (int arc = 0; arc < flow.arcCount(); ++arc)
    capacities[graph.addArc(graph.nodeFromId(flow.from(arc)),
                            graph.nodeFromId(flow.to(arc)))] =
        flow.capacity(arc);
  lemon::Preflow<lemon::SmartDigraph, lemon::SmartDigraph::ArcMap<int64_t>>
      preflow(graph, capacities, graph.nodeFromId(flow.sourceNode()),
              graph.nodeFromId(flow.sinkNode()));
  for (auto _ : state)
    preflow.run();
  if (preflow.flowValue() != flow.solve())
    state.SkipWithError("the flows differ");
}
BENCHMARK(flowByLemon)->Apply(sizes);
#endif
