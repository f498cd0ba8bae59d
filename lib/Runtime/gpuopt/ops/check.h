// --debug-overflow: which result of a step is the first that is infinite or
// NaN.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

// Several blocks of one launch may write; they write the same number.
DEVICE void note_first(int64_t *first, int64_t index) {
#ifdef __CUDACC__
  if (*first < 0)
    *first = index;
#else
  if (__atomic_load_n(first, __ATOMIC_RELAXED) < 0)
    __atomic_store_n(first, index, __ATOMIC_RELAXED);
#endif
}

template <class T>
KERNEL void check_finite_kernel(StepState *state, const T *x, int64_t n,
                                int64_t index) {
  using C = Compute<T>;
  const int64_t begin = block() * kSpan;
  const int64_t end = begin + kSpan < n ? begin + kSpan : n;
  // x - x is 0 for finite numbers, NaN for all others, and NaN stays in sums.
  Lanes<C> sum(C(0));
  for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
    const auto v = load(x + i, end - i);
    sum += v - v;
  }
  const C total = block_sum(sum);
  if (first_thread() && total != C(0))
    note_first(&state->first_not_finite, index);
}
// Notes `index`, unless an earlier result of this step has been noted, where
// one of the n elements is infinite or NaN.
template <class T>
void check_finite(Context &ctx, StepState *state, const T *x, int64_t n,
                  int64_t index) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, check_finite_kernel<T>, state,
         x, n, index);
}

// The same for rows of `columns` elements that begin `pitch` elements apart: a
// block looks at one row, and not at what lies behind it.
template <class T>
KERNEL void check_finite_rows_kernel(StepState *state, const T *x,
                                     int64_t columns, int64_t pitch,
                                     int64_t index) {
  using C = Compute<T>;
  x += block() * pitch;
  Lanes<C> sum(C(0));
  for (int64_t i = first_lane(); i < columns; i += lane_step()) {
    const auto v = load(x + i, columns - i);
    sum += v - v;
  }
  const C total = block_sum(sum);
  if (first_thread() && total != C(0))
    note_first(&state->first_not_finite, index);
}
template <class T>
void check_finite_rows(Context &ctx, StepState *state, const T *x, int64_t rows,
                       int64_t columns, int64_t pitch, int64_t index) {
  launch(ctx, rows, kSpanThreads, check_finite_rows_kernel<T>, state, x,
         columns, pitch, index);
}

} // namespace gpuopt
