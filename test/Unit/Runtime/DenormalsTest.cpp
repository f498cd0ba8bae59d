// Denormal numbers are zero for a whole team of threads, and for those that it
// starts, or for none.

#include "gpuopt/device/denormals.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace gpuopt {
namespace {

// Whether this thread's arithmetic has zero in place of a denormal result, and
// of a denormal operand.
bool flushes() {
  volatile float smallest = 1.2e-38f, half = 0.5f, large = 1e10f;
  const volatile float result = smallest * half;
  volatile float denormal = 1e-40f;
  const volatile float product = denormal * large;
  EXPECT_EQ(result == 0, product == 0);
  return result == 0;
}

int threads_that_flush() {
  std::atomic<int> count = 0;
#pragma omp parallel num_threads(3)
  count += flushes();
  std::thread([&] { count += flushes(); }).join();
  return count;
}

TEST(Denormals, AreZeroInAllThreadsOrNone) {
#ifdef _OPENMP
  constexpr int kTeam = 3;
#else
  constexpr int kTeam = 1;
#endif
  EXPECT_EQ(threads_that_flush(), 0);
  flush_denormals(3, true);
  EXPECT_EQ(threads_that_flush(), kTeam + 1);
  flush_denormals(3, false);
  EXPECT_EQ(threads_that_flush(), 0);
}

} // namespace
} // namespace gpuopt
