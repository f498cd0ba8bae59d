// WorkerTuner finds how many workers a step needs, from simulated times.

#include "gpuopt/data/worker_tuner.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace gpuopt {
namespace {

// The times of a batch with a number of workers, in milliseconds.
struct Times {
  double waited, step;
};
using Machine = std::function<Times(int workers)>;

// A worker takes `prepare` for a batch, and the step takes `step`, whatever
// runs beside it.
Machine ideal(double prepare, double step) {
  return [=](int workers) {
    return Times{std::max(0.0, prepare / workers - step), step};
  };
}

// Returns the number that it has settled on, and counts the batches.
int settled(WorkerTuner &tuner, const Machine &machine, int64_t &batches) {
  std::set<int> used{1};
  for (batches = 0; !tuner.has_settled(); batches++) {
    const Times times = machine(tuner.workers());
    used.insert(tuner.workers());
    // Each tenth batch is followed by a validation.
    tuner.batch(times.waited, times.step + (batches % 10 == 5 ? 1000 : 0));
    if (batches > 10000)
      break;
  }
  EXPECT_TRUE(used.count(tuner.workers())) << "a number that was measured";
  return tuner.workers();
}

int settled(int most, int64_t ahead, const Machine &machine) {
  WorkerTuner tuner(most, ahead);
  int64_t batches = 0;
  const int workers = settled(tuner, machine, batches);
  EXPECT_LE(batches, WorkerTuner::kMostBatches);
  return workers;
}

TEST(WorkerTuner, TakesAsManyWorkersAsKeepTheStepFromWaiting) {
  EXPECT_EQ(settled(64, 2, ideal(/*prepare=*/5, /*step=*/10)), 1);
  EXPECT_EQ(settled(64, 2, ideal(15, 10)), 2);
  EXPECT_EQ(settled(64, 2, ideal(39, 10)), 4);
  EXPECT_EQ(settled(64, 2, ideal(79, 10)), 8);
  EXPECT_EQ(settled(64, 2, ideal(10000, 10)), 16);
}

TEST(WorkerTuner, TakesNoMoreThanThereAreCores) {
  EXPECT_EQ(settled(1, 2, ideal(100, 10)), 1);
  EXPECT_EQ(settled(3, 2, ideal(100, 10)), 3);
  EXPECT_EQ(settled(6, 1000, ideal(1000, 10)), 6);
}

// The data comes from a disk that gives no more to several readers.
TEST(WorkerTuner, LeavesOutWorkersThatGainNothing) {
  auto disk = [](int) { return Times{30, 10}; };
  EXPECT_EQ(settled(16, 2, disk), 1);
  auto two = [](int workers) { return Times{workers >= 2 ? 20.0 : 50.0, 10}; };
  EXPECT_EQ(settled(16, 2, two), 2);
}

// On the host, workers take the cores from the step.
TEST(WorkerTuner, GoesBackWhereTheStepGetsSlower) {
  auto shared = [](int workers) {
    return Times{std::max(0.0, 60.0 / workers - 10),
                 10.0 * (workers > 2 ? 3 : 1)};
  };
  EXPECT_EQ(settled(16, 2, shared), 2);
}

TEST(WorkerTuner, TellsTheShareOfWaiting) {
  WorkerTuner tuner(2, 2);
  int64_t batches = 0;
  EXPECT_EQ(settled(
                tuner, [](int workers) { return Times{60.0 / workers, 10}; },
                batches),
            2);
  EXPECT_NEAR(tuner.waiting_share(), 0.75, 1e-9);
  EXPECT_FALSE(tuner.batch(100, 1)) << "it has settled";
}

TEST(WorkerTuner, HasSettledWithoutWorkers) {
  EXPECT_TRUE(WorkerTuner().has_settled());
  EXPECT_EQ(WorkerTuner().workers(), 0);
}

} // namespace
} // namespace gpuopt
