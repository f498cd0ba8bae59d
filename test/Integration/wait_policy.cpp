// Prints the number of threads that a context begins with, then the
// milliseconds of processor time that OpenMP's threads take while the program
// sleeps for 50 ms: with those that spin, that sleep, that spin again.
#include "gpuopt/device.h"
#include "gpuopt/wait_policy.h"

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
  for (bool spins : {true, false, true}) {
    waiting.set_spinning(spins);
    printf("%.2f\n", idle_ms());
  }
}
