// Whether others want the cores that this process computes on.
#pragma once

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <sys/resource.h>

namespace gpuopt {

// What the system counts, at one moment.
struct CpuCounters {
  double seconds = 0;       // of a clock that only goes forward
  double preemptions = 0;   // of this process's threads, which had to make way
  double stolen_ticks = 0;  // that a hypervisor gave to other machines
  double all_ticks = 0;     // of all cores
  double other_runnable = 0; // threads that run or could, beside the caller

  static CpuCounters now() {
    CpuCounters counters;
    counters.seconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now().time_since_epoch())
                           .count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    counters.preemptions = double(usage.ru_nivcsw);
    std::ifstream stat("/proc/stat");
    std::string label;
    stat >> label;
    for (int column = 0; column < 8; column++) {
      double ticks = 0;
      stat >> ticks;
      counters.all_ticks += ticks;
      if (column == 7)
        counters.stolen_ticks = ticks;
    }
    std::ifstream load("/proc/loadavg");
    double average, running = 1;
    load >> average >> average >> average >> running;
    counters.other_runnable = std::max(0.0, running - 1);
    return counters;
  }
};

// Averages the counters over the time between two questions.
class CpuPressure {
public:
  // `threads` of this process compute, on `cores` cores.
  CpuPressure(int threads, int cores) : threads(threads), cores(cores) {}

  // Takes in the counters of a moment at which the computing threads but the
  // caller are idle, or spin.
  void sample(const CpuCounters &counters) {
    if (!samples++)
      first = counters;
    last = counters;
    runnable_sum += counters.other_runnable;
  }

  // Whether spinning threads would take time from threads that have work, or
  // have their own time taken away. Begins a new stretch of time.
  // `spins` says whether the threads of this process were spinning.
  bool contended(bool spins) {
    const double seconds = last.seconds - first.seconds;
    const double others =
        samples ? runnable_sum / double(samples) - (spins ? threads - 1 : 0)
                : 0;
    const double preemptions = last.preemptions - first.preemptions;
    const double ticks = last.all_ticks - first.all_ticks;
    const bool is_crowded = others > double(cores - threads) + 0.5;
    const bool is_preempted =
        preemptions > 4 && preemptions > 50.0 * threads * seconds;
    const bool is_stolen =
        ticks >= 20 && last.stolen_ticks - first.stolen_ticks > 0.1 * ticks;
    samples = 0;
    runnable_sum = 0;
    return is_crowded || is_preempted || is_stolen;
  }

private:
  int threads, cores;
  CpuCounters first, last;
  int64_t samples = 0;
  double runnable_sum = 0;
};

} // namespace gpuopt
