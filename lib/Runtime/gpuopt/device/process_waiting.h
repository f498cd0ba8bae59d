// How OpenMP's threads wait between parallel regions. That is one thing for the
// whole process. The programs of one library share what is here; libraries of
// programs hide their symbols, so each library has its own.
#pragma once

#include "gpuopt/device/launch_sharing.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#ifdef _OPENMP
#include <omp.h>
// LLVM's OpenMP has it, GNU's has not.
extern "C" void kmp_set_blocktime(int milliseconds) __attribute__((weak));
#endif

namespace gpuopt::detail {

// A sleeping team of OpenMP threads, beside the one that computes. GNU's OpenMP
// lets threads spin for milliseconds while it has no more of them than there
// are cores, and for well under a microsecond otherwise; nothing else changes
// that in a program that runs. The threads of the other team cost no time.
class SleepingTeam {
public:
  explicit SleepingTeam(int size) : threads(size) {
    std::unique_lock lock(mutex);
    owner = std::thread([this] { hold(); });
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

  int size() const { return threads; }

private:
  void hold() {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    {
      asm volatile("" ::: "memory");
    }
#endif
    std::unique_lock lock(mutex);
    is_there = true;
    changed.notify_all();
    changed.wait(lock, [this] { return is_over; });
  }

  const int threads;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_there = false, is_over = false;
  std::thread owner;
};

// What the programs of this library have chosen. Its functions may be called by
// any thread.
class ProcessWaiting {
public:
  static ProcessWaiting &instance() {
    // It stays when the process ends: OpenMP may be gone then.
    static auto *const waiting = new ProcessWaiting;
    return *waiting;
  }
  ProcessWaiting(const ProcessWaiting &) = delete;
  ProcessWaiting &operator=(const ProcessWaiting &) = delete;

  // Programs join before they choose. When the last one has left, threads spin
  // again as OpenMP's do by default, if a program had chosen.
  void join() {
    std::lock_guard lock(mutex);
    programs++;
  }
  void leave(const void *program) {
    std::lock_guard lock(mutex);
    if (tuning == program)
      tuning = nullptr;
    if (--programs == 0 && has_chosen) {
      set(true, 0);
      has_chosen = false;
    }
  }

  // What was set last holds, for all programs. A team of `team_size` threads
  // makes those of a program sleep.
  void set_spinning(bool spins, int team_size) {
    std::lock_guard lock(mutex);
    has_chosen = true;
    set(spins, team_size);
  }

  // Whether this program may tune how threads wait, which is asked after each
  // of its steps. Only one may, since steps of two programs cannot be compared:
  // the first that has asked, until the others together have made kTakeover
  // steps while it has made none; the one that makes the last of them is next.
  bool may_tune(const void *program) {
    std::lock_guard lock(mutex);
    if (tuning && tuning != program && ++steps_of_others < kTakeover)
      return false;
    tuning = program;
    steps_of_others = 0;
    return true;
  }
  static constexpr int64_t kTakeover = 16;

private:
  ProcessWaiting() = default;

  void set(bool spins, [[maybe_unused]] int team_size) {
    threads_spin = spins;
#ifdef _OPENMP
    if (kmp_set_blocktime)
      return kmp_set_blocktime(spins ? 200 : 0);
#endif
    if (spins || (team && team->size() < team_size))
      team.reset();
    if (!spins && !team)
      team.emplace(team_size);
  }

  std::mutex mutex;
  std::optional<SleepingTeam> team;
  int programs = 0;
  bool has_chosen = false; // whether a program has since the first joined
  const void *tuning = nullptr;
  int64_t steps_of_others = 0; // since the last of the one that tunes
};

} // namespace gpuopt::detail
