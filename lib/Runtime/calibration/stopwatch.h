// How long a piece of work takes on a device that may have other work to do.
#pragma once

#include "gpuopt/device/cpu_pressure.h"
#include "gpuopt/device/device.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace gpuopt::calibration {

// Times pieces of work, and counts how often something else wanted the device
// meanwhile.
class Stopwatch {
public:
  explicit Stopwatch(Context &ctx)
      : ctx(ctx), pressure(ctx.num_threads, CpuCounters::now().cores) {
    pressure.begin(CpuCounters::now());
  }

  // Returns the seconds of one execution: the median of five rounds, each of
  // which repeats the work until 10 ms have passed. An execution before them
  // is not timed, in which libraries choose their algorithms.
  template <class Work>
  double seconds_of(Work work) {
    work();
    synchronize(ctx);
    const int64_t repeats =
        int64_t(std::ceil(kRoundSeconds / std::max(round(work, 1), 1e-7)));
    std::array<double, 5> rounds;
    for (double &seconds : rounds)
      seconds = round(work, repeats) / double(repeats);
    std::sort(rounds.begin(), rounds.end());
    note(rounds);
    return rounds[rounds.size() / 2];
  }

  // Returns the smallest of `first`, 2 * first, 4 * first, ... up to `last` for
  // which work(size) takes at least 2 ms: less would measure caches and the
  // cost of a launch. Slow devices, emulated ones among them, stay with what is
  // small.
  template <class Work>
  int64_t size_for(int64_t first, int64_t last, Work work) {
    for (int64_t size = first; size < last; size *= 2) {
      work(size);
      synchronize(ctx);
      if (round([&] { work(size); }, 1) >= kLeastSeconds)
        return size;
    }
    return last;
  }

  int64_t measurements() const { return count; }
  // How many of them were disturbed.
  int64_t disturbed() const { return disturbed_count; }

private:
  static constexpr double kRoundSeconds = 0.01, kLeastSeconds = 0.002;

  template <class Work>
  double round(Work work, int64_t repeats) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < repeats; i++)
      work();
    synchronize(ctx);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         begin)
        .count();
  }

  // A measurement was disturbed if another program wanted the cores, or if most
  // of the rounds were much slower than the fastest one.
  void note(const std::array<double, 5> &sorted) {
    count++;
    const bool is_contended =
                   pressure.contended(/*spun=*/true, CpuCounters::now()),
               is_unsteady = sorted[2] > 1.5 * sorted[0];
    disturbed_count += is_contended || is_unsteady;
  }

  Context &ctx;
  CpuPressure pressure;
  int64_t count = 0, disturbed_count = 0;
};

} // namespace gpuopt::calibration
