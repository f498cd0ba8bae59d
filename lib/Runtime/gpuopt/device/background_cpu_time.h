// Counts the processor time of background threads, which compute beside the
// step: those that prepare data. They need cores as other processes do.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace gpuopt {

class BackgroundCpuTime {
public:
  // The calling thread is a background thread from now on.
  static void begin() { counted_ns = thread_ns(); }

  // Adds what the calling thread has computed since it was last counted; 0 if
  // it is no background thread. A call takes some 200 ns.
  static void count() {
    if (counted_ns < 0)
      return;
    const int64_t now = thread_ns();
    sum_ns.fetch_add(now - counted_ns, std::memory_order_relaxed);
    counted_ns = now;
  }

  // Returns the processor time of all background threads, as far as it has been
  // counted.
  static double seconds() {
    return 1e-9 * double(sum_ns.load(std::memory_order_relaxed));
  }

private:
  static int64_t thread_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  }

  static inline std::atomic<int64_t> sum_ns = 0;
  static inline thread_local int64_t counted_ns =
      -1; // not below 0 in a background thread
};

} // namespace gpuopt
