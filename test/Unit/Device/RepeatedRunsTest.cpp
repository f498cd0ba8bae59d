// Where a sequence repeats itself, against a search that is obvious.

#include "RepeatedRuns.h"

#include "gtest/gtest.h"
#include <random>

using namespace gpuopt::device;

namespace {

std::vector<unsigned> itemsOf(const std::string &text) {
  return {text.begin(), text.end()};
}

unsigned none(const RepeatedRun &) { return 0; }

TEST(RepeatedRuns, FindsLayersBetweenOtherCalls) {
  RepeatedRun run = findLongestRun(itemsOf("xyabcabcabcabz"), 3);
  EXPECT_EQ(run.first, 2u);
  EXPECT_EQ(run.period, 3u);
  EXPECT_EQ(run.iterations, 3u);
  EXPECT_EQ(run.slack, 2u); // from "b" and from "c" on it occurs as often
}

TEST(RepeatedRuns, PrefersTheShortestPeriod) {
  RepeatedRun run = findLongestRun(itemsOf("aaaaaa"), 3);
  EXPECT_EQ(run.period, 1u);
  EXPECT_EQ(run.iterations, 6u);
}

TEST(RepeatedRuns, FindsNothingInWhatDoesNotRepeat) {
  EXPECT_EQ(findLongestRun(itemsOf("abcdef"), 2).iterations, 0u);
  EXPECT_EQ(findLongestRun(itemsOf("abab"), 3).iterations, 0u);
  EXPECT_EQ(findLongestRun({}, 2).iterations, 0u);
}

TEST(RepeatedRuns, FindsWhatIsLeftOnBothSides) {
  auto runs =
      findRepeatedRuns(itemsOf("ababab.cdecdecdecde.fgfgfg"), 3, 4, none);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].first, 0u);
  EXPECT_EQ(runs[1].period, 3u);
  EXPECT_EQ(runs[2].first, 20u);
}

TEST(RepeatedRuns, MovesARunAsItIsTold) {
  auto runs =
      findRepeatedRuns(itemsOf("cabcabcabc"), 3, 4,
                       [](const RepeatedRun &run) { return run.slack; });
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].first, 1u);
}

/// How much the best loop saves, by looking at all of them.
unsigned mostSaved(const std::vector<unsigned> &items,
                   unsigned leastIterations) {
  unsigned best = 0;
  for (size_t first = 0; first < items.size(); ++first)
    for (size_t period = 1; first + period <= items.size(); ++period) {
      unsigned iterations = 1;
      while (first + (iterations + 1) * period <= items.size() &&
             std::equal(items.begin() + first, items.begin() + first + period,
                        items.begin() + first + iterations * period))
        ++iterations;
      if (iterations >= leastIterations)
        best = std::max<unsigned>(best, period * (iterations - 1));
    }
  return best;
}

TEST(RepeatedRuns, SavesMostOfAllRunsAndDoesRepeat) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<unsigned> items(random() % 40);
    for (unsigned &item : items)
      item = random() % 3;
    RepeatedRun run = findLongestRun(items, 2);
    EXPECT_EQ(run.iterations ? run.saved() : 0, mostSaved(items, 2));
    unsigned end = run.first + run.size() + run.slack;
    ASSERT_LE(end, items.size());
    for (unsigned i = run.first; i + run.period < end; ++i)
      EXPECT_EQ(items[i], items[i + run.period]);
  }
}

} // namespace
