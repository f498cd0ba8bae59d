// Adds a gradient to the sum over the micro steps of a step.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

template <class T, class X>
DEVICE void accumulate_span(int64_t span, const StepState *state, T *sum,
                            const X *x, int64_t n) {
  const bool is_first = state->micro_step <= 1;
  for_span(span, n, [&](int64_t i, int64_t left) {
    const auto value = convert<Compute<T>>(load(x + i, left));
    store(sum + i, is_first ? value : load(sum + i, left) + value, left);
  });
}
template <class T, class X>
KERNEL void accumulate_kernel(const StepState *state, T *sum, const X *x,
                              int64_t n) {
  accumulate_span(block(), state, sum, x, n);
}

// Adds x to sum, n elements, x of any precision. The first micro step sets sum
// to x.
template <class T, class X>
void accumulate(Context &ctx, const StepState *state, T *sum, const X *x,
                int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, accumulate_kernel<T, X>, state,
         sum, x, n);
}

struct AccumulateRows {
  const StepState *state;
  template <class T, class H>
  DEVICE void operator()(Memory m, const CopyRow<T, T, H> &row,
                         int64_t span) const {
    row.from.visit(m, [&](const auto *x) {
      accumulate_span(span, state, m[row.to], x, row.elements);
    });
  }
};
// All sums of a table, in one launch.
template <class T, class H, size_t kRows>
void accumulate(Context &ctx, const StepState *state, Memory m,
                const CopyRow<T, T, H> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, AccumulateRows{state});
}

} // namespace gpuopt
