// Attention on the GPU by the runtime's own kernels, which are chosen by the
// size of the heads. docs/rationale/attention.md explains them.
#pragma once

#include "gpuopt/ops/attention_backward_cuda.h"

namespace gpuopt {

namespace detail {

// Calls f with the smallest D that has kernels and is at least the size of the
// heads; the missing columns are zero.
template <class F>
void with_head_size(const AttentionShape &s, const F &f) {
  const int64_t size = s.key_size > s.value_size ? s.key_size : s.value_size;
  if (size <= 64)
    f(std::integral_constant<int, 64>());
  else if (size <= 128)
    f(std::integral_constant<int, 128>());
  else if (size <= 256)
    f(std::integral_constant<int, 256>());
  else
    throw Error("attention with heads of " + std::to_string(size) +
                " elements; the GPU's kernels take up to 256");
}

inline int64_t batch_elements(const AttentionShape &s) {
  return s.batch[0] * s.batch[1];
}

} // namespace detail

template <class T>
void attention(Context &ctx, const AttentionShape &s, const T *q, const T *k,
               const T *v, T *y, float *statistics,
               const AttentionOptions &o = {}) {
  detail::with_head_size(s, [&](auto head_size) {
    constexpr int D = decltype(head_size)::value;
    constexpr detail::TileSizes kSizes = detail::forward_tiles<T, D>();
    launch_with_memory(
        ctx, detail::batch_elements(s) * ceil_div(s.queries, kSizes.own),
        kSizes.threads(), detail::forward_bytes<T, D>(),
        detail::attention_forward<T, D>, s, detail::AttentionScores(o), q, k, v,
        y, statistics);
  });
}

namespace detail {

template <class T, int D, bool Keys, bool Values>
void launch_key_gradients(Context &ctx, const AttentionShape &s,
                          const AttentionGradientShape &g,
                          const AttentionScores &scores, const T *q, const T *k,
                          const T *v, const T *dy,
                          const RowStatistics *statistics, T *dk, T *dv) {
  constexpr TileSizes kSizes = key_gradient_tiles<T, D>();
  launch_with_memory(ctx, batch_elements(s) * ceil_div(s.keys, kSizes.own),
                     kSizes.threads(), gradient_bytes<T, D>(kSizes),
                     attention_key_gradients<T, D, Keys, Values>, s, g, scores,
                     q, k, v, dy, statistics, dk, dv);
}

} // namespace detail

template <class T>
void attention_backward(Context &ctx, const AttentionShape &s,
                        const AttentionGradientShape &g, const T *q, const T *k,
                        const T *v, const T *y, const float *statistics,
                        const T *dy, T *dq, T *dk, T *dv,
                        const AttentionOptions &o = {}) {
  const detail::AttentionScores scores(o);
  auto *rows = reinterpret_cast<detail::RowStatistics *>(
      ctx.workspace(size_t(attention_workspace(s))));
  const detail::RowStatistics *of_rows = rows;
  launch(ctx,
         detail::batch_elements(s) * ceil_div(s.queries, detail::kRowsOfBlock),
         detail::kRowThreads, detail::attention_row_statistics<T>, s, g, scores,
         y, dy, statistics, rows);
  detail::with_head_size(s, [&](auto head_size) {
    constexpr int D = decltype(head_size)::value;
    constexpr detail::TileSizes kSizes = detail::query_gradient_tiles<T, D>();
    launch_with_memory(
        ctx, detail::batch_elements(s) * ceil_div(s.queries, kSizes.own),
        kSizes.threads(), detail::gradient_bytes<T, D>(kSizes),
        detail::attention_query_gradients<T, D>, s, g, scores, q, k, v, dy,
        of_rows, dq);
    if constexpr (detail::kHasBothKeyGradients<D>) {
      detail::launch_key_gradients<T, D, true, true>(ctx, s, g, scores, q, k, v,
                                                     dy, of_rows, dk, dv);
    } else {
      detail::launch_key_gradients<T, D, true, false>(ctx, s, g, scores, q, k,
                                                      v, dy, of_rows, dk, dv);
      detail::launch_key_gradients<T, D, false, true>(ctx, s, g, scores, q, k,
                                                      v, dy, of_rows, dk, dv);
    }
  });
}

} // namespace gpuopt
