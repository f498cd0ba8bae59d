// Decides by measurement which launches of the host several threads share.
//
// To start the other threads takes a microsecond or two where they spin, and
// tens of microseconds where they must be woken. A small kernel is done before
// that, and one thread alone computes it sooner. How small it must be depends
// on the machine and on what else runs on it, so both ways are tried: a launch
// does the same work in each step. Which thread computes a block does not
// change a bit of the results, as long as all threads treat denormal numbers
// alike.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt {

// Whether the threads of OpenMP spin between kernels. It is one for the
// process, as OpenMP's threads are. What sharing costs depends on it.
inline std::atomic<bool> threads_spin{true};

// Returns a number that differs where one of two does, but for rare chances.
constexpr uint64_t mixed(uint64_t a, uint64_t b) {
  const uint64_t bits = (a ^ b * 0xC2B2AE3D27D4EB4Fu) * 0x9E3779B97F4A7C15u;
  return bits ^ bits >> 32;
}

// Chooses how to compute one launch while the threads wait in one way.
class SharedLaunch {
public:
  // Whether the next call is to be timed, so that took() can be told.
  bool is_trial() const {
    return calls >= kUntimed && calls < kUntimed + kTrials;
  }
  // Whether the calling thread computes all blocks of the next call.
  bool is_alone() const {
    return is_trial() ? (calls - kUntimed) % 2 == 1 : chose_alone;
  }
  // The next call is over. It was no trial.
  void passed() {
    if (++calls >= kUntimed + kTrials + kPeriod)
      calls = kUntimed; // the machine may have become busy, or quiet
  }
  // The next call is over. It was a trial and took so long.
  void took(double microseconds) {
    const int trial = calls++ - kUntimed;
    if (trial == 0 && microseconds > kSharedMicroseconds) {
      chose_alone = false;
      calls = kUntimed + kTrials;
      return;
    }
    times[size_t(trial % 2)][size_t(trial / 2)] = float(microseconds);
    if (trial + 1 == kTrials)
      chose_alone = median(times[1]) <= kTie * median(times[0]);
  }

private:
  // In the first calls, threads and memory are not what they are later.
  static constexpr int kUntimed = 4;
  static constexpr int kTrials = 10; // shared and alone by turns
  static constexpr int kPeriod = 500;
  // A launch that takes longer when it is first timed is always shared: to wake
  // a thread does not take half as long.
  static constexpr double kSharedMicroseconds = 200;
  // Sharing must be faster by a tenth: it takes the time of other cores, too.
  static constexpr double kTie = 1.1;

  using Times = std::array<float, kTrials / 2>;
  static float median(Times of) {
    std::nth_element(of.begin(), of.begin() + of.size() / 2, of.end());
    return of[of.size() / 2];
  }

  int calls = 0;
  bool chose_alone = false;
  std::array<Times, 2> times{}; // shared, alone
};

// The launches of a program, which are told apart by their kernels and by
// numbers that stand for how much work they have. One thread at a time computes
// them, between begin() and end().
template <class Clock = std::chrono::steady_clock>
class LaunchSharing {
public:
  // Returns whether the calling thread computes all blocks of a launch.
  bool begin(const void *kernel, uint64_t work) {
    launch = &find(kernel, work)
                  .by_waiting[threads_spin.load(std::memory_order_relaxed)];
    if (launch->is_trial())
      began = Clock::now();
    return launch->is_alone();
  }
  void end() {
    if (!launch->is_trial())
      return launch->passed();
    launch->took(std::chrono::duration<double, std::micro>(Clock::now() - began)
                     .count());
  }

private:
  struct Site {
    const void *kernel = nullptr; // none: the place is free
    uint64_t work = 0;
    SharedLaunch by_waiting[2]; // of threads that sleep, that spin
  };

  // Returns the place at which a search begins.
  static size_t hash(const void *kernel, uint64_t work) {
    const uint64_t bits =
        uint64_t(reinterpret_cast<uintptr_t>(kernel)) + mixed(work, 0);
    return size_t(mixed(bits, 0) >> 32);
  }

  static Site &place_of(std::vector<Site> &sites, const void *kernel,
                        uint64_t work) {
    size_t at = hash(kernel, work);
    for (;; at++) {
      Site &site = sites[at & (sites.size() - 1)];
      if (!site.kernel || (site.kernel == kernel && site.work == work))
        return site;
    }
  }

  Site &find(const void *kernel, uint64_t work) {
    Site &site = place_of(sites, kernel, work);
    if (site.kernel)
      return site;
    if (2 * ++count > sites.size()) {
      std::vector<Site> larger(2 * sites.size());
      for (const Site &known : sites)
        if (known.kernel)
          place_of(larger, known.kernel, known.work) = known;
      sites.swap(larger);
    }
    Site &added = place_of(sites, kernel, work);
    added.kernel = kernel;
    added.work = work;
    return added;
  }

  std::vector<Site> sites = std::vector<Site>(64);
  size_t count = 0;
  SharedLaunch *launch = nullptr; // that has begun
  typename Clock::time_point began;
};

} // namespace gpuopt
