// Whether others want the cores that this process computes on.
#pragma once

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <sys/resource.h>

namespace gpuopt {

// The system's counters, read once.
struct CpuCounters {
  double seconds = 0;        // of a clock that only goes forward
  double preemptions = 0;    // of this process's threads, which had to make way
  double stolen_ticks = 0;   // that a hypervisor gave to other machines
  double all_ticks = 0;      // of all cores
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

// Averages the counters between two questions.
class CpuPressure {
public:
  // `threads` of this process compute, on `cores` cores of a machine that has
  // `machine_cores`. If the machine has more, threads that run elsewhere on it
  // need not compete for our cores.
  CpuPressure(int threads, int cores, int machine_cores)
      : threads(threads), cores(cores), sees_others(cores == machine_cores) {}

  // Adds counters that were read while the other computing threads are idle, or
  // spin.
  void sample(const CpuCounters &counters) {
    if (!has_begun)
      first = first_of_steal = counters;
    has_begun = true;
    samples++;
    last = counters;
    runnable_sum += counters.other_runnable;
  }

  // Whether, since the last question, spinning threads would have taken time
  // from threads with work, or would have had time taken away. `spins` says
  // whether the threads of this process were spinning.
  bool contended(bool spins) {
    const double seconds = last.seconds - first.seconds;
    const double others =
        samples ? runnable_sum / double(samples) - (spins ? threads - 1 : 0)
                : 0;
    const double preemptions = last.preemptions - first.preemptions;
    const bool is_crowded =
        sees_others && others > double(cores - threads) + 0.5;
    const bool is_preempted =
        preemptions > 4 && preemptions > 50.0 * threads * seconds;
    const bool is_stolen = steal_share() > 0.1;
    first = last;
    samples = 0;
    runnable_sum = 0;
    return is_crowded || is_preempted || is_stolen;
  }

private:
  // The share of the machine's time that a hypervisor has given to others since
  // the last answer. Ticks are 10 ms: with fewer than 20 of them, over all
  // cores, the share would be chance, so the period continues.
  double steal_share() {
    const double ticks = last.all_ticks - first_of_steal.all_ticks;
    if (ticks < 20)
      return 0;
    const double share =
        (last.stolen_ticks - first_of_steal.stolen_ticks) / ticks;
    first_of_steal = last;
    return share;
  }

  int threads, cores;
  bool sees_others, has_begun = false;
  CpuCounters first, last, first_of_steal;
  int64_t samples = 0;
  double runnable_sum = 0;
};

} // namespace gpuopt
