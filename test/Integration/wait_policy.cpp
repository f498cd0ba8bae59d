// Prints the number of threads that a context begins with, then the
// milliseconds of processor time that OpenMP's threads take while the program
// sleeps for 50 ms: with threads that spin, and with threads that sleep. The
// two kinds take turns, and each number is the median of its turns, for a busy
// machine may stop the program between a spin and its measurement.
#include "gpuopt/device/wait_policy.h"
#include "gpuopt/device/device.h"

using namespace gpuopt;

static double processor_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1e3 * double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-3 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double idle_ms() {
#pragma omp parallel
  {
    asm volatile("" ::: "memory");
  }
  const double before = processor_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return processor_ms() - before;
}

int main() {
  printf("%d\n", Context().num_threads);
  Context ctx(2);
  ThreadWaiting waiting(2);
  if (!waiting.can_choose())
    return 2;
  constexpr int turns = 9;
  double spinning[turns], sleeping[turns];
  for (int turn = 0; turn < turns; turn++) {
    waiting.set_spinning(true);
    spinning[turn] = idle_ms();
    waiting.set_spinning(false);
    sleeping[turn] = idle_ms();
  }
  for (double *values : {spinning, sleeping}) {
    std::sort(values, values + turns);
    printf("%.2f\n", values[turns / 2]);
  }
}
