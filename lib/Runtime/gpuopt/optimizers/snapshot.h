// Copies running statistics, which the forward changes, before the step, and
// restores them if the step is skipped.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

// Copies this block's part of n elements from one precision to another.
template <class To, class From>
DEVICE void copy_span(To *to, const From *from, int64_t n) {
  for_span(n, [&](int64_t i, int64_t left) {
    store(to + i, convert<Compute<To>>(load(from + i, left)), left);
  });
}

template <class T>
KERNEL void snapshot_kernel(const StepState *state, T *copy, const T *value,
                            int64_t n) {
  if (state->micro_step <= 1)
    copy_span(copy, value, n);
}
// copy = value, n elements, in the first micro step of a step; after
// begin_step.
template <class T>
void snapshot(Context &ctx, const StepState *state, T *copy, const T *value,
              int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, snapshot_kernel<T>, state, copy,
         value, n);
}

template <class T>
KERNEL void restore_kernel(const StepState *state, T *value, const T *copy,
                           int64_t n) {
  if (state->scaler.found_inf)
    copy_span(value, copy, n);
}
// value = copy, n elements, where the step is skipped; after finish_grad_norm.
template <class T>
void restore(Context &ctx, const StepState *state, T *value, const T *copy,
             int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, restore_kernel<T>, state, value,
         copy, n);
}

template <class H, class T>
KERNEL void refresh_kernel(H *copy, const T *value, int64_t n) {
  copy_span(copy, value, n);
}
// copy = value in another precision, n elements: once, when weights have been
// loaded; from then on the optimizer writes both.
template <class H, class T>
void refresh(Context &ctx, H *copy, const T *value, int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, refresh_kernel<H, T>, copy,
         value, n);
}

} // namespace gpuopt
