// Prints the number of threads that a context begins with, then the
// milliseconds of processor time that OpenMP's threads take while the program
// sleeps for 50 ms: with threads that spin, and with threads that sleep. Both
// are measured alternately, `rounds` times. The first number is the greatest of
// its rounds, because a busy machine may stop the program until a spin is over,
// but nothing makes threads that sleep take milliseconds. The second is the
// median of its rounds.
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

// A program that may not tune goes by the way that holds, and begins to compare
// when it may.
static bool is_followed_by_other_programs() {
  StepWaiting first(WaitPolicy::Auto, 2), second(WaitPolicy::Auto, 2);
  first.step(1);
  ThreadWaiting(2).set_spinning(true); // as if the first had chosen so
  for (int i = 0; i < 15; i++)
    second.step(1);
  const bool has_followed =
      threads_spin && second.mostly() == WaitPolicy::Active;
  second.step(1); // and takes over: the threads sleep at first
  return has_followed && !threads_spin;
}

int main() {
  printf("%d\n", Context().num_threads);
  Context ctx(2);
  ThreadWaiting waiting(2), other(2);
  if (!waiting.can_choose())
    return 2;
  other.set_spinning(false); // a program of the process, which computes nothing
  if (!is_followed_by_other_programs())
    return 3;
  constexpr int rounds = 15;
  double spinning[rounds], sleeping[rounds];
  for (int round = 0; round < rounds; round++) {
    waiting.set_spinning(true);
    spinning[round] = idle_ms();
    waiting.set_spinning(false);
    sleeping[round] = idle_ms();
  }
  std::sort(sleeping, sleeping + rounds);
  printf("%.2f\n", *std::max_element(spinning, spinning + rounds));
  printf("%.2f\n", sleeping[rounds / 2]);
}
