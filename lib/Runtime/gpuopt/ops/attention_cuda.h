// Attention on the GPU by the runtime's own kernels, or, where it is faster,
// its forward by cuDNN. docs/rationale/attention.md explains both.
#pragma once

#include "gpuopt/ops/attention_bias_cuda.h"
#include "gpuopt/ops/attention_library_cuda.h"
#include "gpuopt/ops/attention_warpgroups_cuda.h"

namespace gpuopt {

namespace detail {

// The most shared memory of a block of the smaller GPUs from sm_86 on.
constexpr size_t kMostTileBytes = 99 * 1024;

// Returns the pointer by which kernels see a tensor.
template <class To, class T>
const To *as(const T *p) {
  return reinterpret_cast<const To *>(p);
}
template <class To, class T>
To *as(T *p) {
  return reinterpret_cast<To *>(p);
}

template <int HeadSize, AttentionScores Scores, class T>
void launch_forward(Context &ctx, const AttentionShape &s, const T *q,
                    const T *k, const T *v, T *y, float *statistics,
                    const AttentionOptions &o) {
  using Own = ScoresOf<Scores>;
  if constexpr (kHasWarpgroupKernels<T, HeadSize, Own>)
    if (ctx.multiplies_by_warpgroups) {
      using Tiles = SwizzledTiles<T, WarpgroupForwardSizes>;
      return launch_with_memory(
          ctx, batch_elements(s) * ceil_div(s.queries, Tiles::kSizes.own),
          Tiles::kSizes.threads(), Tiles::kBytes,
          attention_forward_by_warpgroups<T, Own>, s, Own(o), q, k, v, y,
          statistics);
    }
  constexpr TileSizes kSizes = forward_tiles<T, HeadSize, Own>();
  static_assert(forward_bytes<T, HeadSize, Own>() <= kMostTileBytes);
  launch_with_memory(ctx, batch_elements(s) * ceil_div(s.queries, kSizes.own),
                     kSizes.threads(), forward_bytes<T, HeadSize, Own>(),
                     attention_forward<T, HeadSize, Own>, s, Own(o), q, k, v, y,
                     statistics);
}

} // namespace detail

template <int HeadSize, AttentionScores Scores, class Factor = void, class T>
void attention(Context &ctx, const AttentionShape &s, const T *q, const T *k,
               const T *v, T *y, float *statistics,
               const AttentionOptions &o = {}) {
  using Element = FactorOf<Factor, T>;
  using detail::as;
  check_attention_kernels<HeadSize, Scores, Element>(
      s, o, has_aligned_rows(s, q, k, v));
  const auto run_own = [&] {
    detail::launch_forward<HeadSize, Scores>(ctx, s, as<Element>(q),
                                             as<Element>(k), as<Element>(v),
                                             as<Element>(y), statistics, o);
  };
  if (!detail::attention_by_cudnn(ctx, s, q, k, v, y, statistics, o, run_own))
    run_own();
}

namespace detail {

template <class T, int D, bool Keys, bool Values, class Scores>
void launch_key_gradients(Context &ctx, const AttentionShape &s,
                          const AttentionGradientShape &g, const Scores &scores,
                          const T *q, const T *k, const T *v, const T *dy,
                          const RowStatistics *statistics, T *dk, T *dv,
                          float *column_sums) {
  constexpr TileSizes kSizes = key_gradient_tiles<T, D, Scores>();
  static_assert(gradient_bytes<T, D>(kSizes) <= kMostTileBytes);
  const int64_t heads = heads_of_group(s, g);
  launch_with_memory(
      ctx, batch_elements(s) / heads * ceil_div(s.keys, kSizes.own),
      kSizes.threads(), gradient_bytes<T, D>(kSizes),
      attention_key_gradients<T, D, Scores, Keys, Values>, s, g, scores, heads,
      q, k, v, dy, statistics, dk, dv, column_sums);
}

// Launches the sums of the bias' gradient, with their parts in `workspace`.
template <class T, int D, class Scores>
void launch_bias_gradient(Context &ctx, const AttentionShape &s,
                          const AttentionGradientShape &g, const Scores &scores,
                          const T *q, const T *k, const T *v, const T *dy,
                          const RowStatistics *statistics, float *workspace,
                          float *to) {
  constexpr TileSizes kSizes = bias_gradient_tiles<T, D>();
  static_assert(gradient_bytes<T, D>(kSizes) <= kMostTileBytes);
  const BiasSums sums(s, g);
  const BiasTiles query_tiles(sums.rows, s.queries, kSizes.own),
      key_tiles(sums.keys, s.keys, kSizes.other);
  float *parts = sums.parts == 1 ? to : workspace;
  launch_with_memory(ctx,
                     sums.parts * sums.count * query_tiles.own * key_tiles.own,
                     kSizes.threads(), gradient_bytes<T, D>(kSizes),
                     attention_bias_gradient<T, D, Scores>, s, g, scores, sums,
                     q, k, v, dy, statistics, parts);
  if (sums.parts > 1)
    launch(ctx, ceil_div(sums.elements(), kRowThreads), kRowThreads,
           add_bias_parts, sums, static_cast<const float *>(parts), to);
}

template <class T, class Scores>
void launch_gradients_by_warpgroups(Context &ctx, const AttentionShape &s,
                                    const AttentionGradientShape &g,
                                    const Scores &scores, const T *q,
                                    const T *k, const T *v, const T *dy,
                                    const RowStatistics *rows, T *dq, T *dk,
                                    T *dv, float *column_sums) {
  using QueryTiles = SwizzledTiles<T, WarpgroupQuerySizes<Scores>>;
  using KeyTiles = SwizzledTiles<T, WarpgroupKeySizes<Scores>>;
  const int64_t heads = heads_of_group(s, g);
  launch_with_memory(
      ctx, batch_elements(s) * ceil_div(s.queries, QueryTiles::kSizes.own),
      QueryTiles::kSizes.threads(), QueryTiles::kBytes,
      attention_query_gradients_by_warpgroups<T, Scores>, s, g, scores, q, k, v,
      dy, rows, dq, column_sums);
  launch_with_memory(
      ctx, batch_elements(s) / heads * ceil_div(s.keys, KeyTiles::kSizes.own),
      KeyTiles::kSizes.threads(), KeyTiles::kBytes,
      attention_key_gradients_by_warpgroups<T, Scores>, s, g, scores, heads, q,
      k, v, dy, rows, dk, dv, column_sums);
}

template <class T, int D, class Scores>
void launch_gradients(Context &ctx, const AttentionShape &s,
                      const AttentionGradientShape &g, const Scores &scores,
                      const T *q, const T *k, const T *v, const T *dy,
                      const RowStatistics *rows, T *dq, T *dk, T *dv,
                      float *column_sums) {
  if constexpr (kHasWarpgroupKernels<T, D, Scores>)
    if (ctx.multiplies_by_warpgroups)
      return launch_gradients_by_warpgroups(ctx, s, g, scores, q, k, v, dy,
                                            rows, dq, dk, dv, column_sums);
  constexpr TileSizes kSizes = query_gradient_tiles<T, D, Scores>();
  static_assert(gradient_bytes<T, D>(kSizes) <= kMostTileBytes);
  launch_with_memory(ctx, batch_elements(s) * ceil_div(s.queries, kSizes.own),
                     kSizes.threads(), gradient_bytes<T, D>(kSizes),
                     attention_query_gradients<T, D, Scores>, s, g, scores, q,
                     k, v, dy, rows, dq, column_sums);
  if constexpr (kHasBothKeyGradients<D>) {
    launch_key_gradients<T, D, true, true>(ctx, s, g, scores, q, k, v, dy, rows,
                                           dk, dv, column_sums);
  } else {
    launch_key_gradients<T, D, true, false>(ctx, s, g, scores, q, k, v, dy,
                                            rows, dk, dv, column_sums);
    launch_key_gradients<T, D, false, true>(ctx, s, g, scores, q, k, v, dy,
                                            rows, dk, dv, column_sums);
  }
}

} // namespace detail

template <int HeadSize, AttentionScores Scores, class Factor = void, class T>
void attention_backward(Context &ctx, const AttentionShape &s,
                        const AttentionGradientShape &g, const T *q, const T *k,
                        const T *v, const T *y, const float *statistics,
                        const T *dy, T *dq, T *dk, T *dv,
                        const AttentionOptions &o = {}) {
  using Element = FactorOf<Factor, T>;
  using detail::as;
  check_attention_kernels<HeadSize, Scores, Element>(
      s, o, has_aligned_rows(s, g, q, k, v, dy));
  const int64_t of_rows_in_bytes = attention_workspace(s);
  char *workspace = static_cast<char *>(ctx.workspace(
      size_t(of_rows_in_bytes +
             (o.bias_gradient ? bias_gradient_workspace(s, g) : 0))));
  auto *rows = reinterpret_cast<detail::RowStatistics *>(workspace);
  const detail::RowStatistics *of_rows = rows;
  using Own = detail::ScoresOf<Scores>;
  const Own scores(o);
  launch(ctx, batch_elements(s) * ceil_div(s.queries, detail::kRowsOfBlock),
         detail::kRowThreads, detail::attention_row_statistics<Element, Own>, s,
         g, scores, as<Element>(y), as<Element>(dy), statistics, rows);
  detail::launch_gradients<Element, HeadSize>(
      ctx, s, g, scores, as<Element>(q), as<Element>(k), as<Element>(v),
      as<Element>(dy), of_rows, as<Element>(dq), as<Element>(dk),
      as<Element>(dv), o.column_sums);
  if constexpr (Scores >= AttentionScores::Changed)
    if (o.bias_gradient)
      detail::launch_bias_gradient<Element, HeadSize>(
          ctx, s, g, scores, as<Element>(q), as<Element>(k), as<Element>(v),
          as<Element>(dy), of_rows,
          reinterpret_cast<float *>(workspace + of_rows_in_bytes),
          o.bias_gradient);
}

} // namespace gpuopt
