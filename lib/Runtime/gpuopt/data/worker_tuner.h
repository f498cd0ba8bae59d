// How many threads prepare batches under --num-workers auto: the number doubles
// while the step waits for its data and more threads make it wait less. What it
// measures is the time of a batch as a whole, because threads that prepare
// batches may take the cores from a step that runs on the processor.
//
// It has settled after at most kMostBatches batches: there are
//   kMostRungs numbers, each with kMeasured batches that count and, before
//   them, those that were prepared ahead by the number before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpuopt {

// The number of workers that stands for `auto`.
constexpr int kAutoWorkers = -1;

class WorkerTuner {
public:
  static constexpr int64_t kMostBatches = 200;

  // `most` workers may run, of which each prepares `ahead` batches. A tuner of
  // none has settled from the beginning.
  WorkerTuner() = default;
  WorkerTuner(int most, int64_t ahead)
      : most(std::clamp(most, 1, kMostWorkers)), ahead(ahead), count(1),
        left(skipped()), is_done(this->most == 1) {}

  int workers() const { return count; }
  bool has_settled() const { return is_done; }
  // The largest number that it may come to.
  int most_workers() const { return most; }
  // The share of a batch's time for which the step waited, when it settled.
  double waiting_share() const { return best.waited; }

  // Takes a batch into account: how long the step has waited for it, and how
  // long it took until it wanted the next one. Returns whether the number of
  // workers has changed, or is settled now.
  bool batch(double waited_ms, double step_ms) {
    if (is_done || left-- > 0)
      return false;
    measured.push_back({waited_ms, step_ms});
    return int64_t(measured.size()) == kMeasured && decide();
  }

private:
  static constexpr int kMostWorkers = 16;
  static constexpr int64_t kMeasured = 16, kMostSkipped = 20;
  static constexpr int64_t kMostRungs = 5; // 1, 2, 4, 8, 16
  static_assert(kMostRungs * (kMeasured + kMostSkipped) <= kMostBatches);
  // A step that waits for less is not worth another thread, and neither is a
  // gain of less.
  static constexpr double kLittleWaiting = 0.02, kLittleGain = 0.05;

  struct Batch {
    double waited = 0, step = 0;
    double all() const { return waited + step; }
  };
  struct Rung {
    int workers = 0;
    double time = 0, waited = 0; // of a batch; a share of it
  };

  // The batches after a change that say nothing about it.
  int64_t skipped() const {
    return std::min(count * std::max<int64_t>(ahead, 1) + 2, kMostSkipped);
  }

  bool decide() {
    // A batch after which something else was done, as a validation, is not like
    // the others: the longest are left out.
    std::sort(measured.begin(), measured.end(),
              [](const Batch &a, const Batch &b) { return a.all() < b.all(); });
    measured.resize(kMeasured - kMeasured / 8);
    Batch sum;
    for (const Batch &batch : measured)
      sum.waited += batch.waited, sum.step += batch.step;
    measured.clear();
    const Rung now{count, sum.all() / double(kMeasured),
                   sum.all() > 0 ? sum.waited / sum.all() : 0};
    if (best.workers > 0 && now.time > best.time * (1 - kLittleGain))
      return settle();
    best = now;
    if (now.waited <= kLittleWaiting || count == most)
      return settle();
    count = std::min(2 * count, most);
    left = skipped();
    return true;
  }
  bool settle() {
    count = best.workers;
    return is_done = true;
  }

  int most = 0;
  int64_t ahead = 0;
  int count = 0;
  int64_t left = 0; // batches that do not count yet
  bool is_done = true;
  std::vector<Batch> measured;
  Rung best;
};

} // namespace gpuopt
