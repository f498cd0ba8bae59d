// Copies running statistics, which the forward changes, before the step,
// restores them if the step is skipped, and writes new ones; and makes the
// copies of parameters in half precision. Each function takes one tensor, or
// all of a table in one launch.
#pragma once

#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

// Copies a span of n elements from one precision to another.
template <class To, class From>
DEVICE void copy_span(int64_t span, To *to, const From *from, int64_t n) {
  for_span(span, n, [&](int64_t i, int64_t left) {
    store(to + i, convert<Compute<To>>(load(from + i, left)), left);
  });
}
template <class To, class T, class H>
DEVICE void copy_span(int64_t span, Memory m, const CopyRow<To, T, H> &row) {
  row.from.visit(m, [&](const auto *from) {
    copy_span(span, m[row.to], from, row.elements);
  });
}

template <class T>
KERNEL void snapshot_kernel(const StepState *state, T *copy, const T *value,
                            int64_t n) {
  if (state->micro_step <= 1)
    copy_span(block(), copy, value, n);
}
// copy = value, n elements, in the first micro step of a step; after
// begin_step.
template <class T>
void snapshot(Context &ctx, const StepState *state, T *copy, const T *value,
              int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, snapshot_kernel<T>, state, copy,
         value, n);
}
struct SnapshotRows {
  const StepState *state;
  template <class Row>
  DEVICE void operator()(Memory m, const Row &row, int64_t span) const {
    if (state->micro_step <= 1)
      copy_span(span, m, row);
  }
};
template <class T, size_t kRows>
void snapshot(Context &ctx, const StepState *state, Memory m,
              const CopyRow<T, T, T> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, SnapshotRows{state});
}

template <class T>
KERNEL void restore_kernel(const StepState *state, T *value, const T *copy,
                           int64_t n) {
  if (state->scaler.found_inf)
    copy_span(block(), value, copy, n);
}
// value = copy, n elements, where the step is skipped; after finish_grad_norm.
template <class T>
void restore(Context &ctx, const StepState *state, T *value, const T *copy,
             int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, restore_kernel<T>, state, value,
         copy, n);
}
struct RestoreRows {
  const StepState *state;
  template <class Row>
  DEVICE void operator()(Memory m, const Row &row, int64_t span) const {
    if (state->scaler.found_inf)
      copy_span(span, m, row);
  }
};
template <class T, size_t kRows>
void restore(Context &ctx, const StepState *state, Memory m,
             const CopyRow<T, T, T> (&table)[kRows], int64_t spans) {
  for_rows(ctx, m, table, spans, RestoreRows{state});
}

template <class H, class T>
KERNEL void refresh_kernel(H *copy, const T *value, int64_t n) {
  copy_span(block(), copy, value, n);
}
// copy = value, n elements: in the same precision, new running statistics; in
// another one, parameters when weights have been loaded, after which the
// optimizer writes both.
template <class H, class T>
void refresh(Context &ctx, H *copy, const T *value, int64_t n) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, refresh_kernel<H, T>, copy,
         value, n);
}
struct RefreshRows {
  template <class Row>
  DEVICE void operator()(Memory m, const Row &row, int64_t span) const {
    copy_span(span, m, row);
  }
};
template <class H, class T, size_t kRows>
void refresh(Context &ctx, Memory m, const CopyRow<H, T, T> (&table)[kRows],
             int64_t spans) {
  for_rows(ctx, m, table, spans, RefreshRows{});
}

} // namespace gpuopt
