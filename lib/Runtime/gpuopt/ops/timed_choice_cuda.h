// Measures how long a call takes, for choices that go into a record, and says
// when nothing can be timed and for which machine a choice holds.
#pragma once

#include "gpuopt/device/device.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace gpuopt::detail {

// Enqueues a call, and returns whether it can run.
using TimedRun = std::function<bool()>;

// The median of a few runs, in nanoseconds; infinite if it cannot run. Operands
// may lie in the cache, as they do in a step behind the kernel that made them.
inline double time_of(Context &ctx, const TimedRun &run) {
  constexpr int kRuns = 5;
  Timestamps timestamps;
  for (int i = 0; i <= kRuns; i++) { // the first warms up
    timestamps.add(ctx);
    if (!run())
      return std::numeric_limits<double>::infinity();
  }
  timestamps.add(ctx);
  std::vector<double> times = timestamps.take();
  times.erase(times.begin());
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

// Stands in for the result of calls that add to it while they are timed, since
// each run would add once more. It is the device's memory, beside what the plan
// has, and is given back at the end of the scope.
class TimedResult {
public:
  // Allocates `bytes` bytes that are zero, with the alignment of `like`.
  TimedResult(Context &ctx, const void *like, size_t bytes)
      : TimedResult(ctx, like) { // from here on, the destructor runs
    if (cudaMalloc(&memory, bytes + misaligned) != cudaSuccess) {
      cudaGetLastError(); // this failure is no later call's
      memory = nullptr;
      return;
    }
    set_zero(ctx, memory, bytes + misaligned);
  }
  ~TimedResult() {
    if (!memory)
      return;
    cudaStreamSynchronize(ctx.stream);
    cudaFree(memory);
  }
  TimedResult(const TimedResult &) = delete;
  TimedResult &operator=(const TimedResult &) = delete;

  // Null if the device has no room.
  void *data() const {
    return memory ? static_cast<char *>(memory) + misaligned : nullptr;
  }

private:
  TimedResult(Context &ctx, const void *like)
      : ctx(ctx), misaligned(reinterpret_cast<uintptr_t>(like) % 16) {}

  Context &ctx;
  size_t misaligned;
  void *memory = nullptr;
};

// Returns the candidate with the least `time_of_one(candidate)`, null if none
// can run. A single one is not timed.
template <class Candidate, class Time>
const Candidate *fastest_of(const std::vector<Candidate> &candidates,
                            const Time &time_of_one) {
  if (candidates.size() == 1)
    return &candidates.front();
  const Candidate *fastest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : candidates)
    if (const double time = time_of_one(candidate); time < least) {
      least = time;
      fastest = &candidate;
    }
  return fastest;
}

// Returns the error of a record whose choice for a call is none that the
// library makes now.
inline Error refused_choice(const AutotuneRecord &record,
                            const std::string &call,
                            const std::string &reason) {
  return Error("'" + record.path() +
               "' has a choice that cannot be kept for the " + call + ": " +
               reason + "; remove the file to have calls timed anew");
}

inline bool is_capturing(Context &ctx) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CHECK_CUDA(cudaStreamIsCapturing(ctx.stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

// Returns the device that is used and a library with its version, as a record
// has them.
inline std::string machine_name(const std::string &library) {
  int device = 0;
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  return std::string(properties.name) + ", " +
         std::to_string(properties.multiProcessorCount) + " multiprocessors, " +
         library;
}

} // namespace gpuopt::detail
