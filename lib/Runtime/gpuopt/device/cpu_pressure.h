// Whether others want the cores that this process computes on.
#pragma once

#include "gpuopt/device/background_cpu_time.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <locale>
#include <sched.h>
#include <string>
#include <sys/resource.h>

namespace gpuopt {

// The system's counters, read once. Ticks are 10 ms of one core, and of the
// cores that the calling thread may use.
struct CpuCounters {
  double seconds = 0;            // of a clock that only goes forward
  double own_seconds = 0;        // of this process without background threads
  double background_seconds = 0; // of these
  double preemptions = 0;        // of its threads, which had to make way
  double busy_ticks = 0;         // in which a core computed
  double stolen_ticks = 0;       // that a hypervisor gave to other machines
  double all_ticks = 0;
  int cores = 0; // whose ticks they are

  static CpuCounters now(const char *stat_file = "/proc/stat") {
    CpuCounters counters;
    counters.seconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now().time_since_epoch())
                           .count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    counters.preemptions = double(usage.ru_nivcsw);
    for (const timeval &time : {usage.ru_utime, usage.ru_stime})
      counters.own_seconds += double(time.tv_sec) + 1e-6 * double(time.tv_usec);
    counters.background_seconds = BackgroundCpuTime::seconds();
    counters.own_seconds -= counters.background_seconds;
    counters.read_ticks(stat_file);
    return counters;
  }

private:
  // A line is "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...". Before
  // those of the cores stands one of all of them, "cpu", which counts if none
  // of them is ours: a container may see its cores by other numbers.
  void read_ticks(const char *stat_file) {
    cpu_set_t own_cores;
    CPU_ZERO(&own_cores);
    sched_getaffinity(0, sizeof own_cores, &own_cores);
    double of_all[8] = {};
    int lines = 0;
    std::ifstream stat(stat_file);
    stat.imbue(std::locale::classic());
    std::string label, rest;
    while (stat >> label && label.rfind("cpu", 0) == 0) {
      double columns[8] = {};
      for (double &column : columns)
        stat >> column;
      std::getline(stat, rest);
      if (label == "cpu") {
        std::copy_n(columns, 8, of_all);
        continue;
      }
      lines++;
      const size_t core = size_t(atoi(label.c_str() + 3));
      if (core < CPU_SETSIZE && CPU_ISSET(core, &own_cores))
        add_ticks(columns, 1);
    }
    if (cores == 0)
      add_ticks(of_all, lines);
  }
  void add_ticks(const double (&columns)[8], int of_cores) {
    cores += of_cores;
    for (double column : columns)
      all_ticks += column;
    stolen_ticks += columns[7];
    busy_ticks +=
        columns[0] + columns[1] + columns[2] + columns[5] + columns[6];
  }
};

// What this process and others did with its cores between two readings.
struct CoreUse {
  int cores = 0;          // 0: the time was too short to tell
  double other_cores = 0; // on which others computed, on average
  double preemptions = 0;

  static CoreUse between(const CpuCounters &first, const CpuCounters &last) {
    constexpr double kLeastTicks = 10; // of each core
    const double ticks = last.all_ticks - first.all_ticks;
    const double seconds = last.seconds - first.seconds;
    if (last.cores != first.cores || seconds <= 0 ||
        ticks < kLeastTicks * last.cores || ticks <= 0)
      return {};
    const double taken = last.busy_ticks - first.busy_ticks +
                         last.stolen_ticks - first.stolen_ticks;
    const double own = last.own_seconds - first.own_seconds +
                       last.background_seconds - first.background_seconds;
    return {last.cores,
            std::max(0.0, last.cores * taken / ticks - own / seconds),
            last.preemptions - first.preemptions};
  }
};

// Compares the counters between two questions. Times are compared, not which
// threads can run just now: whoever asks at the end of a step meets the threads
// that the step's end has woken.
class CpuPressure {
public:
  // `threads` of this process compute, and may use `cores` cores. The counters
  // may be of fewer, if the thread that reads them is bound to some; then they
  // do not tell what others compute.
  CpuPressure(int threads, int cores) : threads(threads), cores(cores) {}

  // What was before does not count.
  void begin(const CpuCounters &now) { last = last_of_ticks = now; }

  // Whether, since the last question, others or background threads have
  // computed on cores that our threads need, or our threads have had time taken
  // away. `spun` says whether our threads were spinning: then each has a core,
  // and one that is preempted made way for another process. Threads that sleep
  // and wake preempt each other.
  bool contended(bool spun, const CpuCounters &now) {
    const double seconds = now.seconds - last.seconds;
    const double preemptions = now.preemptions - last.preemptions;
    last = now;
    const bool is_preempted =
        spun && preemptions > 4 && preemptions > 50.0 * threads * seconds;
    return is_crowded_or_stolen(now) || is_preempted;
  }

private:
  // Few ticks would be chance: the period goes on until there are enough.
  static constexpr double kLeastTicks = 4; // of each core
  // Ticks are samples, so the more threads compute, the less is certain.
  static constexpr double kMargin = 0.4, kMarginPerThread = 0.05; // cores

  bool is_crowded_or_stolen(const CpuCounters &now) {
    const CpuCounters first = last_of_ticks;
    const double ticks = now.all_ticks - first.all_ticks;
    if (ticks <= 0 || ticks < kLeastTicks * now.cores)
      return false;
    last_of_ticks = now;
    const double busy_cores =
        now.cores * (now.busy_ticks - first.busy_ticks) / ticks;
    const double own_cores = (now.own_seconds - first.own_seconds) /
                             std::max(1e-9, now.seconds - first.seconds);
    const double spare_cores = std::max(0, now.cores - threads);
    const bool is_crowded =
        now.cores == cores &&
        busy_cores - own_cores >
            spare_cores + kMargin + kMarginPerThread * threads;
    const bool is_stolen = now.stolen_ticks - first.stolen_ticks > 0.1 * ticks;
    return is_crowded || is_stolen;
  }

  int threads, cores;
  CpuCounters last, last_of_ticks;
};

} // namespace gpuopt
