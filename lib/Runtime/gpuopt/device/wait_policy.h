// How threads of the host wait for the next kernel: they spin, they sleep, or
// whichever is faster just now. On CUDA there is nothing to choose.
#pragma once

#include "gpuopt/device/cpu_pressure.h"
#include "gpuopt/device/device.h"
#include "gpuopt/device/process_waiting.h"
#include "gpuopt/device/wait_policy_names.h"
#include "gpuopt/device/wait_tuner.h"

#include <cstdlib>
#include <optional>

namespace gpuopt {

inline WaitPolicy parse_wait_policy(const std::string &text) {
  if (const std::optional<WaitPolicy> policy = find_wait_policy(text))
    return *policy;
  throw Error("'--wait-policy' must be " + wrong_wait_policy(text));
}

// Makes OpenMP's threads spin or sleep between parallel regions, those of the
// libraries and of other programs in the process that use the same OpenMP
// included.
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
    process.join();
  }
  ~ThreadWaiting() { process.leave(this); }
  ThreadWaiting(const ThreadWaiting &) = delete;
  ThreadWaiting &operator=(const ThreadWaiting &) = delete;

  static constexpr int kMostSleepers = 64;
  bool can_choose() const { return team_size > 0; }
  int num_cores() const { return cores; }

  void set_spinning(bool spins) {
    if (can_choose())
      process.set_spinning(spins, team_size);
  }
  // Whether this program, of those in its library, is the one that may try both
  // ways; it asks after each step.
  bool may_tune() { return process.may_tune(this); }

private:
  detail::ProcessWaiting &process = detail::ProcessWaiting::instance();
  int cores = 1, team_size = 0;
};

// Follows a policy from step to step.
class StepWaiting {
public:
  StepWaiting(WaitPolicy policy, int threads)
      : policy(policy), waiting(threads),
        pressure(threads, waiting.num_cores()) {
    // A user who has told OpenMP how to wait has made the choice.
    chooses = policy == WaitPolicy::Auto && waiting.can_choose() &&
              !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT");
    if (policy != WaitPolicy::Auto)
      waiting.set_spinning(policy == WaitPolicy::Active);
    else if (chooses && waiting.may_tune())
      begin_tuning();
  }

  // Takes the milliseconds of a step, without its wait for data. Returns a text
  // for the user if a comparison has ended.
  std::string step(double ms) {
    if (!chooses)
      return "";
    (threads_spin ? spinning_steps : sleeping_steps)++;
    if (!waiting.may_tune()) {
      tuner.reset();
      return "";
    }
    if (!tuner) {
      begin_tuning();
      return ""; // this step was computed as others chose
    }
    if (!has_begun)
      pressure.begin(last = CpuCounters::now());
    has_begun = true;
    const bool spun = tuner->spins();
    tuner->step(ms, [&](double window_ms) {
      const CpuCounters now = CpuCounters::now();
      const double own_ms = 1000 * (now.own_seconds - last.own_seconds);
      last = now;
      return WindowReport(pressure.contended(spun, now),
                          /*was_stopped=*/own_ms < kLeastShare * window_ms);
    });
    if (tuner->spins() != spun)
      waiting.set_spinning(tuner->spins());
    return tuner->settled_anew() ? tuner->describe() : "";
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
  void begin_tuning() {
    tuner.emplace();
    has_begun = false;
    waiting.set_spinning(tuner->spins());
  }

  // A process that was not stopped computes for at least this share of the time
  // of its steps, even on cores that many others use.
  static constexpr double kLeastShare = 0.2;

  const WaitPolicy policy;
  ThreadWaiting waiting;
  CpuPressure pressure;
  CpuCounters last;               // at the end of the last window
  std::optional<WaitTuner> tuner; // while it may tune
  int64_t spinning_steps = 0, sleeping_steps = 0;
  bool chooses = false, has_begun = false;
};

} // namespace gpuopt
