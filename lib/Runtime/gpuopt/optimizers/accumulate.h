// Adds a gradient to the sum over the micro steps of a step.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

template <class T, class X>
KERNEL void accumulate_kernel(const StepState *state, T *sum, const X *x,
                              int64_t n) {
  const bool is_first = state->micro_step <= 1;
  for_span(n, [&](int64_t i, int64_t left) {
    const auto value = convert<Compute<T>>(load(x + i, left));
    store(sum + i, is_first ? value : load(sum + i, left) + value, left);
  });
}

// Adds x to sum, n elements, x of any precision. The first micro step sets sum
// to x.
template <class T, class X>
void accumulate(Context &ctx, const StepState *state, T *sum, const X *x,
                int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, accumulate_kernel<T, X>, state,
         sum, x, n);
}

} // namespace gpuopt
