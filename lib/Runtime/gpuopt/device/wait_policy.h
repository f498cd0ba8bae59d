// How threads of the host wait for the next kernel: they spin, they sleep, or
// whichever is faster just now. On CUDA there is nothing to choose.
#pragma once

#include "gpuopt/device/cpu_pressure.h"
#include "gpuopt/device/device.h"
#include "gpuopt/device/launch_sharing.h"
#include "gpuopt/device/wait_policy_names.h"
#include "gpuopt/device/wait_tuner.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#ifdef _OPENMP
#include <omp.h>
// LLVM's OpenMP has it, GNU's has not.
extern "C" void kmp_set_blocktime(int milliseconds) __attribute__((weak));
#endif

namespace gpuopt {

inline WaitPolicy parse_wait_policy(const std::string &text) {
  if (const std::optional<WaitPolicy> policy = find_wait_policy(text))
    return *policy;
  throw Error("'--wait-policy' must be " + wrong_wait_policy(text));
}

namespace detail {

// A sleeping team of OpenMP threads, beside the one that computes. GNU's OpenMP
// lets threads spin for milliseconds while it has no more of them than there
// are cores, and for well under a microsecond otherwise; nothing else changes
// that in a program that runs. The threads of the other team cost no time.
class SleepingTeam {
public:
  explicit SleepingTeam(int size) {
    std::unique_lock lock(mutex);
    owner = std::thread([this, size] { hold(size); });
    changed.wait(lock, [this] { return is_there; });
  }
  ~SleepingTeam() {
    {
      std::lock_guard lock(mutex);
      is_over = true;
    }
    changed.notify_all();
    owner.join();
  }
  SleepingTeam(const SleepingTeam &) = delete;
  SleepingTeam &operator=(const SleepingTeam &) = delete;

private:
  void hold([[maybe_unused]] int size) {
#ifdef _OPENMP
#pragma omp parallel num_threads(size)
    {
      asm volatile("" ::: "memory");
    }
#endif
    std::unique_lock lock(mutex);
    is_there = true;
    changed.notify_all();
    changed.wait(lock, [this] { return is_over; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool is_there = false, is_over = false;
  std::thread owner;
};

} // namespace detail

// Makes OpenMP's threads spin or sleep between parallel regions, those of the
// libraries that use the same OpenMP included.
class ThreadWaiting {
public:
  // For a program that computes with `threads` threads. It can choose if there
  // is more than one thread, each has a core of its own, and at most
  // kMostSleepers threads are needed to fill the other cores.
  explicit ThreadWaiting([[maybe_unused]] int threads) {
#ifdef _OPENMP
    cores = omp_get_num_procs();
    if (threads > 1 && threads <= cores &&
        (kmp_set_blocktime || cores - threads < kMostSleepers))
      team_size = cores - threads + 2;
#endif
  }
  static constexpr int kMostSleepers = 64;
  bool can_choose() const { return team_size > 0; }
  int num_cores() const { return cores; }

  void set_spinning(bool spins) {
    if (!can_choose())
      return;
    threads_spin = spins;
#ifdef _OPENMP
    if (kmp_set_blocktime)
      return kmp_set_blocktime(spins ? 200 : 0);
#endif
    if (spins)
      team.reset();
    else if (!team)
      team.emplace(team_size);
  }

private:
  int cores = 1, team_size = 0;
  std::optional<detail::SleepingTeam> team;
};

// Follows a policy from step to step.
class StepWaiting {
public:
  StepWaiting(WaitPolicy policy, int threads)
      : policy(policy), waiting(threads),
        pressure(threads, waiting.num_cores()) {
    // A user who has told OpenMP how to wait has made the choice.
    tunes = policy == WaitPolicy::Auto && waiting.can_choose() &&
            !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT");
    if (tunes || policy == WaitPolicy::Passive)
      waiting.set_spinning(false);
    else if (policy == WaitPolicy::Active)
      waiting.set_spinning(true);
  }

  // Takes the milliseconds of a step, without its wait for data. Returns a text
  // for the user if a comparison has ended.
  std::string step(double ms) {
    if (!tunes)
      return "";
    if (!has_begun)
      pressure.begin(last = CpuCounters::now());
    has_begun = true;
    const bool spun = tuner.spins();
    (spun ? spinning_steps : sleeping_steps)++;
    tuner.step(ms, [&](double window_ms) {
      const CpuCounters now = CpuCounters::now();
      const double own_ms = 1000 * (now.own_seconds - last.own_seconds);
      last = now;
      return WindowReport(pressure.contended(spun, now),
                          /*was_stopped=*/own_ms < kLeastShare * window_ms);
    });
    if (tuner.spins() != spun)
      waiting.set_spinning(tuner.spins());
    return tuner.settled_anew() ? tuner.describe() : "";
  }

  // Returns how the threads waited in most steps so far: active or passive, or
  // auto if nobody has chosen here.
  WaitPolicy mostly() const {
    if (spinning_steps + sleeping_steps == 0)
      return policy;
    return spinning_steps > sleeping_steps ? WaitPolicy::Active
                                           : WaitPolicy::Passive;
  }

private:
  // A process that was not stopped computes for at least this share of the time
  // of its steps, even on cores that many others use.
  static constexpr double kLeastShare = 0.2;

  const WaitPolicy policy;
  ThreadWaiting waiting;
  CpuPressure pressure;
  CpuCounters last; // at the end of the last window
  WaitTuner tuner;
  int64_t spinning_steps = 0, sleeping_steps = 0;
  bool tunes = false, has_begun = false;
};

} // namespace gpuopt
