//===- RepeatedRuns.cpp - Where a sequence repeats itself -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RepeatedRuns.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace gpuopt::device;

static constexpr unsigned kLongestPeriod = 1024;

RepeatedRun gpuopt::device::findLongestRun(ArrayRef<unsigned> items,
                                           unsigned leastIterations) {
  RepeatedRun best;
  unsigned size = items.size();
  for (unsigned period = 1; period <= std::min(size / 2, kLongestPeriod);
       ++period) {
    unsigned equal = 0; // items up to here that equal the one a period later
    for (unsigned i = 0; i + period <= size; ++i) {
      if (i + period < size && items[i] == items[i + period]) {
        ++equal;
        continue;
      }
      RepeatedRun run{i - equal, period, equal / period + 1, equal % period};
      if (run.iterations >= leastIterations &&
          (best.iterations == 0 || run.saved() > best.saved()))
        best = run;
      equal = 0;
    }
  }
  return best;
}

std::vector<RepeatedRun> gpuopt::device::findRepeatedRuns(
    ArrayRef<unsigned> items, unsigned leastIterations, unsigned leastSaved,
    function_ref<unsigned(const RepeatedRun &)> align) {
  std::vector<RepeatedRun> runs;
  std::vector<std::pair<unsigned, unsigned>> open{{0, items.size()}};
  while (!open.empty()) {
    auto [begin, end] = open.back();
    open.pop_back();
    RepeatedRun run =
        findLongestRun(items.slice(begin, end - begin), leastIterations);
    if (run.iterations == 0 || run.saved() < leastSaved)
      continue;
    run.first += begin;
    run.first += align(run);
    runs.push_back(run);
    open.push_back({begin, run.first});
    open.push_back({run.first + run.size(), end});
  }
  llvm::sort(runs, [](const RepeatedRun &a, const RepeatedRun &b) {
    return a.first < b.first;
  });
  return runs;
}
