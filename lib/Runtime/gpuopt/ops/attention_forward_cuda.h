// The forward of attention: a block has a tile of queries, walks over the keys
// that they see, and keeps the sum of the values in registers.
#pragma once

#include "gpuopt/ops/attention_tiles_cuda.h"

namespace gpuopt::detail {

// The sizes depend on the type, D and the kind of scores, which are the same
// where a result is computed again, so that it has the same bits. All tiles of
// a block fit into 99 KiB, which is what the smaller GPUs from sm_86 on have.
// Tiles of 32 keys leave a masked strip the registers for its mask.
template <class T, int D, class Scores>
HOST_DEVICE constexpr TileSizes forward_tiles() {
  constexpr bool kAreMasked = !Scores::kAreProducts && !Scores::kAreChanged;
  if (std::is_same_v<T, tf32>)
    return D <= 64    ? TileSizes{128, 32, 2, 1, 2}
           : D <= 128 ? Scores::kAreChanged ? TileSizes{64, 32, 2, 1}
                                            : TileSizes{128, 32, 1, 1, 2}
                      : TileSizes{64, 16, 1, 1};
  if (kHasMatrixUnits<T>)
    return D <= 64    ? TileSizes{128, kAreMasked ? 32 : 64, 2, 2}
           : D <= 128 ? TileSizes{128, 32, 2, 1}
                      : TileSizes{64, 32, 2, 1};
  return D <= 64    ? TileSizes{64, 32, 2, 2}
         : D <= 128 ? TileSizes{64, 32, 2, 1}
                    : TileSizes{32, 16, 2, 1};
}

template <class T, int D, class Scores>
constexpr size_t forward_bytes() {
  constexpr TileSizes kSizes = forward_tiles<T, D, Scores>();
  return tile_bytes<T, D>(kSizes.own + 2 * kSizes.buffers * kSizes.other);
}

// The queries of a warp stay in registers if there is room for them. For heads
// of 64 there is none, because two blocks share a multiprocessor.
template <class T, int D>
using ForwardRows = std::conditional_t<sizeof(T) == 2 && D == 128,
                                       HeldRows<T, D>, SharedRows<T, D>>;

// Ends the softmax of a strip, whose first query is `first_row`: writes the
// statistics for the backward, and returns what the sums of both halves of its
// rows have to be multiplied by.
template <class Scores>
DEVICE void finish_softmax(float (&inverse)[2], OnlineSoftmax &softmax,
                           const AttentionShape &s, const AttentionBlock &at,
                           const Scores &scores, int first_row,
                           float *statistics) {
  softmax.finish();
  UNROLL
  for (int half = 0; half < 2; half++) {
    const bool is_empty = softmax.sum[half] == 0;
    inverse[half] = is_empty && scores.zeroes_empty ? 0 : 1 / softmax.sum[half];
    const int row = first_row + strip_row(2 * half);
    if (row < s.queries && lane_of_warp() % 4 == 0) {
      float *of_row = statistics + at.number(s) * s.queries + row;
      of_row[0] = softmax.top[half] * scores.unit();
      of_row[batch_elements(s) * s.queries] = logf(softmax.sum[half]);
    }
  }
}

// Divides the sums of a warp's queries, the first of which is `first_row`, by
// those of their exponentials, and writes Y and the statistics.
template <int D, int S, class Scores, class T>
DEVICE void
store_forward(const AttentionShape &s, const AttentionBlock &at,
              const Scores &scores, int first_row, OnlineSoftmax (&softmax)[S],
              const float (&sum)[S][D / 8][4], T *y, float *statistics) {
  UNROLL
  for (int strip = 0; strip < S; strip++) {
    const int first = first_row + strip * kStripRows;
    float inverse[2];
    finish_softmax(inverse, softmax[strip], s, at, scores, first, statistics);
    store_strip<D>(
        Matrix<T>(y + at.offset(s.y_batch), s.queries, s.value_size, s.y_row),
        first, sum[strip], inverse[0], inverse[1]);
  }
}

template <class T, int D, class Scores>
KERNEL void __launch_bounds__(forward_tiles<T, D, Scores>().threads(),
                              forward_tiles<T, D, Scores>().blocks)
    attention_forward(AttentionShape s, Scores scores, const T *q, const T *k,
                      const T *v, T *y, float *statistics) {
  constexpr TileSizes kSizes = forward_tiles<T, D, Scores>();
  constexpr int kThreads = kSizes.threads(), kKeys = kSizes.other;
  constexpr int S = kSizes.strips;
  const AttentionBlock at(s, s.queries, kSizes.own, true);
  const int first_query = int(at.tile) * kSizes.own;
  const int first_row = first_query + first_row_of_warp(S);
  const TileRange range = tiles_of_keys(s, first_query, kSizes.own, kKeys);
  T *const queries = reinterpret_cast<T *>(ptx::dynamic_memory());
  const auto tile_in = [&](int buffer, int which) {
    return queries +
           (kSizes.own + (2 * buffer + which) * kKeys) * kTileStride<T, D>;
  };
  const Matrix<const T> keys(k + at.offset(s.k_batch), s.keys, s.key_size,
                             s.k_row);
  const Matrix<const T> values(v + at.offset(s.v_batch), s.keys, s.value_size,
                               s.v_row);
  // Changed scores leave no registers for the addresses of copies.
  constexpr bool kKnowsPlaces = Scores::kAreAligned && !Scores::kAreChanged;
  using Copies = TileCopies<kKeys, D, kThreads, kKnowsPlaces, T>;
  Copies key_copies(keys, range.begin * kKeys),
      value_copies(values, range.begin * kKeys);
  const auto copy = [&](int tile, int buffer) {
    key_copies.copy(tile_in(buffer, 0), keys, tile * kKeys);
    value_copies.copy(tile_in(buffer, 1), values, tile * kKeys);
  };
  copy_tile<kSizes.own, D, kThreads, kKnowsPlaces>(
      queries,
      Matrix<const T>(q + at.offset(s.q_batch), s.queries, s.key_size, s.q_row),
      first_query);
  if (range.begin < range.end)
    copy(range.begin, 0);
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  round_tile<kSizes.own, D, kThreads>(queries);
  __syncthreads();

  ForwardRows<T, D> rows[S];
  find_strips(rows, static_cast<const T *>(queries) +
                        first_row_of_warp(S) * kTileStride<T, D>);
  OnlineSoftmax softmax[S];
  float sum[S][D / 8][4];
  UNROLL
  for (int strip = 0; strip < S; strip++)
    set_zero(sum[strip]);
  const ScoreBand band(s);
  for_each_tile<kSizes.buffers>(
      range.begin, range.end, copy,
      [&](int tile, int buffer) {
        const int row = first_row, key = tile * kKeys;
        if (ScoreTile(band, row, S * kStripRows, key, kKeys).is_hidden)
          return;
        float x[S][kKeys / 8][4], shrink[2];
        multiply_transposed<D>(x, rows, tile_in(buffer, 0));
        UNROLL
        for (int strip = 0; strip < S; strip++) {
          const ScoreTile place(band, row + strip * kStripRows, kStripRows, key,
                                kKeys);
          const ScoreBits bits =
              to_scores<true>(x[strip], place, s, at, scores);
          softmax[strip].add(x[strip], shrink, scores);
          for_each_element<D / 8>(
              [&](int n, int i) { sum[strip][n][i] *= shrink[i / 2]; });
          drop(x[strip], bits, scores);
        }
        add_product<D>(sum, x, tile_in(buffer, 1));
      },
      [&](int buffer) {
        Copies::round(tile_in(buffer, 0));
        Copies::round(tile_in(buffer, 1));
      });

  store_forward<D>(s, at, scores, first_row, softmax, sum, y, statistics);
}

} // namespace gpuopt::detail
