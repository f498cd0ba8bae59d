// The kernels that are timed: as emitted programs have them, a block for each
// span.
#pragma once

#include "gpuopt/kernels/block.h"
#include "gpuopt/kernels/elementary.h"
#include "gpuopt/kernels/random.h"
#include "gpuopt/settings/limits.h"
#include "gpuopt/settings/operation_counts.h"

namespace gpuopt::calibration {

constexpr int kThreads = 256;

// x[i] = a number from -0.5 to 0.5. The time and the power that products take
// can depend on how many bits change, so they are not timed on zeros.
template <class T>
KERNEL LAUNCH_BOUNDS(256) void fill(T *RESTRICT x, int64_t size) {
  const int64_t begin = block() * kSpan;
  const int64_t end = min(begin + kSpan, size);
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    store(x + i, convert<Compute<T>>(random_uniform_vector(1, 2, 3, i) - 0.5f),
          end - i);
}

// z[i] = x[i] + y[i]: nothing but memory.
KERNEL LAUNCH_BOUNDS(256) void add(const float *RESTRICT x,
                                   const float *RESTRICT y, float *RESTRICT z) {
  const int64_t begin = block() * kSpan;
  const int64_t end = begin + kSpan;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    store_vector(z + i, load_vector(x + i) + load_vector(y + i));
}

// Arithmetic on a tensor that fits into caches, as activation functions mix
// it: two elementary functions, and as many products and sums again.
KERNEL LAUNCH_BOUNDS(256) void activate(const float *RESTRICT x,
                                        float *RESTRICT y) {
  const int64_t begin = block() * kSpan;
  const int64_t end = begin + kSpan;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
    const Lanes<float> a = load_vector(x + i);
    Lanes<float> sum = tanh(a) + exp(a);
    for (int k = 0; k < 16; k++)
      sum = sum * a + 0.5f;
    store_vector(y + i, sum);
  }
}
constexpr double kOperationsOfActivate =
    2 * kOperationsOfElementaryFunction + 1 + 2 * 16;

// Does nothing, as a launch costs time without any work.
KERNEL LAUNCH_BOUNDS(32) void idle(float *) {}

} // namespace gpuopt::calibration
