// The backward of attention. Probabilities P are computed again from Q, K and
// the statistics of the forward. With dP = dY V^T and delta = the
// sum over a row of dY * Y,
//
//   dV = P^T dY               dS = P * (dP - delta)
//   dQ = scale dS K           dK = scale dS^T Q
//
// Dropout drops elements of the P of dV, and of dP. Under a cap, the dS of dQ
// and dK is multiplied by the slopes of the cap.
//
// One kernel writes dQ by tiles of queries, another one dK and dV by tiles of
// keys. Both compute P and dP; in exchange no block adds to what another block
// writes, so the order of blocks does not change the result.
#pragma once

#include "gpuopt/ops/attention_forward_cuda.h"

namespace gpuopt::detail {

// ---- Tiles -----------------------------------------------------------------

template <class T, int D>
HOST_DEVICE constexpr TileSizes query_gradient_tiles() {
  if (kHasMatrixUnits<T>)
    return D <= 64    ? TileSizes{64, 32, 2, 4}
           : D <= 128 ? TileSizes{64, 32, 2, 2}
                      : TileSizes{64, 32, 1, 1};
  return D <= 64    ? TileSizes{64, 32, 2, 2}
         : D <= 128 ? TileSizes{64, 32, 1, 1}
                    : TileSizes{32, 16, 1, 1};
}
template <class T, int D>
HOST_DEVICE constexpr TileSizes key_gradient_tiles() {
  if (kHasMatrixUnits<T>)
    return D <= 64    ? TileSizes{64, 32, 2, 3}
           : D <= 128 ? TileSizes{64, 32, 2, 2}
                      : TileSizes{64, 32, 1, 1};
  return D <= 64    ? TileSizes{64, 32, 2, 2}
         : D <= 128 ? TileSizes{64, 16, 2, 1}
                    : TileSizes{32, 16, 1, 1};
}

template <class T, int D>
constexpr size_t gradient_bytes(TileSizes sizes) {
  return tile_bytes<T, D>(2 * sizes.own + 2 * sizes.buffers * sizes.other);
}

// dK and dV of 256 columns do not both fit into the registers of a block.
template <int D>
constexpr bool kHasBothKeyGradients = D <= 128;

// ---- What is known of each query -------------------------------------------

// The probability of a key is 2 to the power of
//   factor * score - shift                if scores are products, and
//   factor * (score - shift) - spread     if they are not.
// The struct has 16 bytes, as many as one copy to shared memory.
struct alignas(16) RowStatistics {
  float shift, spread, delta, unused;
};

// `top` is the largest score and `log_sum` the logarithm of the sum of the
// exponentials of the differences to it. If no score is finite, `shift` makes
// all probabilities 0 or NaN. If they are 0, delta must not be the NaN that Y
// may hold.
DEVICE RowStatistics row_statistics(float top, float log_sum, float delta,
                                    const AttentionScores &scores) {
  const bool is_empty = top == -INFINITY;
  if (is_empty && (scores.are_products || scores.zeroes_empty))
    return {INFINITY, 0, 0, 0};
  if (scores.are_products)
    return {(top + log_sum) * kLog2E, 0, delta, 0};
  return {top, is_empty ? 0 : log_sum * kLog2E, delta, 0};
}

// Returns the delta of a row to all lanes of the warp.
template <class T>
DEVICE float row_dot(const Matrix<const T> &dy, const Matrix<const T> &y,
                     int64_t row) {
  float sum = 0;
  for (int64_t c = lane_of_warp(); c < y.columns; c += 32)
    sum = fmaf(load_scalar(dy.data + row * dy.stride + c),
               load_scalar(y.data + row * y.stride + c), sum);
  UNROLL
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

constexpr int kRowsOfBlock = 64;
constexpr int kRowThreads = 256;

// Each of the eight warps takes every eighth row.
template <class T>
KERNEL void __launch_bounds__(kRowThreads)
    attention_row_statistics(AttentionShape s, AttentionGradientShape g,
                             AttentionScores scores, const T *y, const T *dy,
                             const float *statistics, RowStatistics *rows) {
  const AttentionBlock at(s, s.queries, kRowsOfBlock, false);
  const Matrix<const T> of_y(y + at.offset(s.y_batch), s.queries, s.value_size,
                             s.y_row);
  const Matrix<const T> of_dy(dy + at.offset(g.dy_batch), s.queries,
                              s.value_size, g.dy_row);
  const float *log_sums = statistics + batch_elements(s) * s.queries;
  UNROLL
  for (int i = 0; i < kRowsOfBlock; i += kRowThreads / 32) {
    const int64_t row = at.tile * kRowsOfBlock + i + threadIdx.x / 32;
    if (row >= s.queries)
      break;
    const float delta = row_dot(of_dy, of_y, row);
    const int64_t place = at.number(s) * s.queries + row;
    if (lane_of_warp() == 0)
      rows[place] =
          row_statistics(statistics[place], log_sums[place], delta, scores);
  }
}

// ---- Gradients of scores ---------------------------------------------------

// Turns the scores p into probabilities, and the gradients dp of probabilities
// into gradients of the products of queries and keys. statistics_of(n, i)
// returns the statistics of the query of p[n][i]. Afterwards p has the
// probabilities that dropout keeps, for dV.
template <int N, class StatisticsOf>
DEVICE void to_gradients(float (&p)[N][4], float (&dp)[N][4],
                         const ScoreBits &bits, const AttentionScores &scores,
                         const StatisticsOf &statistics_of) {
  const float factor = scores.factor();
  if (scores.are_products)
    for_each_element<N>([&](int n, int i) {
      const RowStatistics row = statistics_of(n, i);
      p[n][i] = ptx::exp2(fmaf(p[n][i], factor, -row.shift));
      dp[n][i] = p[n][i] * (dp[n][i] - row.delta);
    });
  else
    for_each_element<N>([&](int n, int i) {
      const RowStatistics row = statistics_of(n, i);
      const bool is_kept = bits.has(bits.kept, n, i);
      const float dp_kept = is_kept ? dp[n][i] * scores.kept_factor : 0;
      // A row of NaNs has no NaN for the keys that it does not see.
      const float of_key =
          bits.has(bits.hidden, n, i)
              ? 0
              : ptx::exp2(fmaf(p[n][i] - row.shift, factor, -row.spread));
      dp[n][i] = bits.has(bits.hidden | bits.replaced, n, i)
                     ? 0
                     : of_key * (dp_kept - row.delta);
      p[n][i] = is_kept ? of_key * scores.kept_factor : 0;
    });
}

// Turns the gradients of capped scores into those of scaled products.
template <int N>
DEVICE void multiply_by_slopes(float (&ds)[N][4], const CapSlopes<N> &slopes,
                               const AttentionScores &scores) {
  if (scores.changes.softcap > 0)
    for_each_element<N>([&](int n, int i) { ds[n][i] *= slopes.of[n][i]; });
}

// The shared memory of a block: its own tiles of two operands, and one or two
// pairs of tiles of the other two.
template <class T, int D>
struct GradientTiles {
  TileSizes sizes;

  DEVICE T *own(int which) const {
    return reinterpret_cast<T *>(ptx::dynamic_memory()) +
           which * sizes.own * kTileStride<T, D>;
  }
  DEVICE T *other(int which, int buffer) const {
    return own(2) + (2 * buffer + which) * sizes.other * kTileStride<T, D>;
  }
};

// ---- Sums of columns -------------------------------------------------------

// Adds up the columns of a block's tile, whose strips are x times a factor: the
// rows of a strip by exchanges over growing distances, then the strips in their
// order. Rows from `rows` on do not exist. All threads of the block call it.
template <int D, int Warps>
DEVICE void store_column_sums(float *to, int64_t columns, int64_t first_row,
                              int64_t rows, const float (&x)[D / 8][4],
                              float factor) {
  float *of_warps = reinterpret_cast<float *>(ptx::dynamic_memory());
  ptx::cp_async_wait<0>();
  __syncthreads(); // no warp uses the tiles any more
  float *of_warp = of_warps + threadIdx.x / 32 * D;
  UNROLL
  for (int n = 0; n < D / 8; n++) {
    UNROLL
    for (int i = 0; i < 2; i++) {
      float sum = 0;
      UNROLL
      for (int half = 0; half < 2; half++)
        if (first_row + strip_row(2 * half) < rows)
          sum += x[n][2 * half + i] * factor;
      UNROLL
      for (int distance = 4; distance < 32; distance *= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      if (lane_of_warp() < 4)
        of_warp[strip_column(n, i)] = sum;
    }
  }
  __syncthreads();
  for (int column = int(threadIdx.x); column < columns; column += 32 * Warps) {
    float sum = of_warps[column];
    UNROLL
    for (int warp = 1; warp < Warps; warp++)
      sum += of_warps[warp * D + column];
    to[column] = sum;
  }
}

// Writes the sums of tensor `which` of AttentionColumns, if they are wanted.
template <int D>
DEVICE void store_sums_of_tile(float *column_sums, const AttentionShape &s,
                               const AttentionBlock &at, int which,
                               int64_t size, int64_t first_row, int64_t rows,
                               const float (&x)[D / 8][4], float factor) {
  if constexpr (D <= kLargestSummedHead) {
    if (column_sums)
      store_column_sums<D, int(kAttentionSumRows) / kStripRows>(
          column_sums + AttentionColumns(s).place(which, at.batch[0],
                                                  at.batch[1], at.tile, size),
          size, first_row, rows, x, factor);
  }
}

// ---- dQ --------------------------------------------------------------------

template <class T, int D>
KERNEL void __launch_bounds__(query_gradient_tiles<T, D>().threads(),
                              query_gradient_tiles<T, D>().blocks)
    attention_query_gradients(AttentionShape s, AttentionGradientShape g,
                              AttentionScores scores, const T *q, const T *k,
                              const T *v, const T *dy,
                              const RowStatistics *statistics, T *dq,
                              float *column_sums) {
  constexpr TileSizes kSizes = query_gradient_tiles<T, D>();
  static_assert(D > kLargestSummedHead || kSizes.own == kAttentionSumRows);
  constexpr int kThreads = kSizes.threads(), kKeys = kSizes.other;
  const AttentionBlock at(s, s.queries, kSizes.own, true);
  const GradientTiles<T, D> tiles{kSizes};
  const int64_t first_query = at.tile * kSizes.own;
  const int64_t first_row = first_query + first_row_of_warp();
  const TileRange range = tiles_of_keys(s, first_query, kSizes.own, kKeys);
  const Matrix<const T> keys(k + at.offset(s.k_batch), s.keys, s.key_size,
                             s.k_row);
  const Matrix<const T> values(v + at.offset(s.v_batch), s.keys, s.value_size,
                               s.v_row);
  const auto copy = [&](int64_t tile, int buffer) {
    copy_tile<kKeys, D, kThreads>(tiles.other(0, buffer), keys, tile * kKeys);
    copy_tile<kKeys, D, kThreads>(tiles.other(1, buffer), values, tile * kKeys);
  };
  copy_tile<kSizes.own, D, kThreads>(
      tiles.own(0),
      Matrix<const T>(q + at.offset(s.q_batch), s.queries, s.key_size, s.q_row),
      first_query);
  copy_tile<kSizes.own, D, kThreads>(tiles.own(1),
                                     Matrix<const T>(dy + at.offset(g.dy_batch),
                                                     s.queries, s.value_size,
                                                     g.dy_row),
                                     first_query);
  if (range.begin < range.end)
    copy(range.begin, 0);
  ptx::cp_async_commit();

  RowStatistics of_row[2] = {};
  UNROLL
  for (int half = 0; half < 2; half++) {
    const int64_t row = first_row + strip_row(2 * half);
    if (row < s.queries)
      of_row[half] = statistics[at.number(s) * s.queries + row];
  }
  ptx::cp_async_wait<0>();
  __syncthreads();
  const int own_row = first_row_of_warp() * kTileStride<T, D>;
  const SharedRows<T, D> queries(tiles.own(0) + own_row);
  const SharedRows<T, D> gradients(tiles.own(1) + own_row);
  float sum[D / 8][4];
  set_zero(sum);
  for_each_tile<kSizes.buffers>(
      range.begin, range.end, copy, [&](int64_t tile, int buffer) {
        const BiasedScoreTile place(s, at, first_row, kStripRows, tile * kKeys,
                                    kKeys);
        if (place.is_hidden)
          return;
        float p[kKeys / 8][4], dp[kKeys / 8][4];
        CapSlopes<kKeys / 8> slopes;
        multiply_transposed<D>(p, queries, tiles.other(0, buffer));
        multiply_transposed<D>(dp, gradients, tiles.other(1, buffer));
        const ScoreBits bits = to_scores<true>(p, place, s, scores, &slopes);
        to_gradients(p, dp, bits, scores,
                     [&](int, int i) { return of_row[i / 2]; });
        multiply_by_slopes(dp, slopes, scores);
        add_product<D>(sum, dp, tiles.other(0, buffer));
      });
  store_strip<D>(
      Matrix<T>(dq + at.offset(g.dq_batch), s.queries, s.key_size, g.dq_row),
      first_row, sum, scores.scale, scores.scale);
  store_sums_of_tile<D>(column_sums, s, at, 0, s.key_size, first_row, s.queries,
                        sum, scores.scale);
}

// ---- dK and dV -------------------------------------------------------------

// The statistics of a query lie in the padding after its row of dY.
template <class T, int D>
DEVICE RowStatistics *statistics_of_row(T *tile, int row) {
  return reinterpret_cast<RowStatistics *>(tile + row * kTileStride<T, D> + D);
}

// Begins to bring the keys of a block and, for dK, its values.
template <class T, int D, bool Keys>
DEVICE void copy_own_keys(const GradientTiles<T, D> &tiles,
                          const AttentionShape &s, const BatchElement &at,
                          int64_t first_key, const T *k, const T *v) {
  constexpr TileSizes kSizes = key_gradient_tiles<T, D>();
  copy_tile<kSizes.own, D, kSizes.threads()>(
      tiles.own(0),
      Matrix<const T>(k + at.offset(s.k_batch), s.keys, s.key_size, s.k_row),
      first_key);
  if constexpr (Keys)
    copy_tile<kSizes.own, D, kSizes.threads()>(
        tiles.own(1),
        Matrix<const T>(v + at.offset(s.v_batch), s.keys, s.value_size,
                        s.v_row),
        first_key);
}

// One block writes dK, dV, or both: Keys and Values say which. It adds up the
// gradients of all `heads` that share its keys, in their order.
template <class T, int D, bool Keys, bool Values>
KERNEL void __launch_bounds__(key_gradient_tiles<T, D>().threads(),
                              key_gradient_tiles<T, D>().blocks)
    attention_key_gradients(AttentionShape s, AttentionGradientShape g,
                            AttentionScores scores, int64_t heads, const T *q,
                            const T *k, const T *v, const T *dy,
                            const RowStatistics *statistics, T *dk, T *dv,
                            float *column_sums) {
  constexpr TileSizes kSizes = key_gradient_tiles<T, D>();
  static_assert(D > kLargestSummedHead || kSizes.own == kAttentionSumRows);
  constexpr int kThreads = kSizes.threads(), kQueries = kSizes.other;
  AttentionBlock at(s, s.batch[2] / heads, s.keys, kSizes.own, false);
  const GradientTiles<T, D> tiles{kSizes};
  const int64_t first_key = at.tile * kSizes.own;
  const int64_t first_row = first_key + first_row_of_warp();
  const TileRange range = tiles_of_queries(s, first_key, kSizes.own, kQueries);
  const auto copy = [&](int64_t tile, int buffer) {
    const Matrix<const T> queries(q + at.offset(s.q_batch), s.queries,
                                  s.key_size, s.q_row);
    const Matrix<const T> gradients(dy + at.offset(g.dy_batch), s.queries,
                                    s.value_size, g.dy_row);
    const RowStatistics *of_queries = statistics + at.number(s) * s.queries;
    const int64_t first = tile * kQueries;
    T *to = tiles.other(1, buffer);
    copy_tile<kQueries, D, kThreads>(tiles.other(0, buffer), queries, first);
    copy_tile<kQueries, D, kThreads>(to, gradients, first);
    if (const int i = int(threadIdx.x); i < kQueries) {
      const bool exists = first + i < s.queries;
      ptx::cp_async(statistics_of_row<T, D>(to, i),
                    of_queries + (exists ? first + i : 0), exists ? 16 : 0);
    }
  };
  copy_own_keys<T, D, Keys>(tiles, s, at, first_key, k, v);

  const int own_row = first_row_of_warp() * kTileStride<T, D>;
  const SharedRows<T, D> keys(tiles.own(0) + own_row);
  const SharedRows<T, D> values(tiles.own(1) + own_row);
  float sum_k[D / 8][4], sum_v[D / 8][4];
  set_zero(sum_k);
  set_zero(sum_v);
  const auto use = [&](int64_t tile, int buffer) {
    const BiasedScoreTile place(s, at, tile * kQueries, kQueries, first_row,
                                kStripRows);
    if (place.is_hidden)
      return;
    T *of_dy = tiles.other(1, buffer);
    float p[kQueries / 8][4], dp[kQueries / 8][4];
    CapSlopes<kQueries / 8> slopes;
    multiply_transposed<D>(p, keys, tiles.other(0, buffer));
    if constexpr (Keys)
      multiply_transposed<D>(dp, values, of_dy);
    else
      set_zero(dp);
    const ScoreBits bits =
        to_scores<false>(p, place, s, scores, Keys ? &slopes : nullptr);
    to_gradients(p, dp, bits, scores, [&](int n, int i) {
      return *statistics_of_row<T, D>(of_dy, strip_column(n, i));
    });
    if constexpr (Values)
      add_product<D>(sum_v, p, of_dy);
    if constexpr (Keys) {
      multiply_by_slopes(dp, slopes, scores);
      add_product<D>(sum_k, dp, tiles.other(0, buffer));
    }
  };
  const int64_t first_head = at.batch[2];
  for (int64_t head = 0; head < heads; head++) {
    if (head > 0)
      __syncthreads(); // no warp uses the tiles of the head before any more
    at.batch[2] = first_head + head;
    if (range.begin < range.end)
      copy(range.begin, 0);
    ptx::cp_async_commit();
    for_each_tile<kSizes.buffers>(range.begin, range.end, copy, use);
  }
  if constexpr (Keys) {
    store_strip<D>(
        Matrix<T>(dk + at.offset(g.dk_batch), s.keys, s.key_size, g.dk_row),
        first_row, sum_k, scores.scale, scores.scale);
    store_sums_of_tile<D>(column_sums, s, at, 1, s.key_size, first_row, s.keys,
                          sum_k, scores.scale);
  }
  if constexpr (Values) {
    store_strip<D>(
        Matrix<T>(dv + at.offset(g.dv_batch), s.keys, s.value_size, g.dv_row),
        first_row, sum_v, 1, 1);
    store_sums_of_tile<D>(column_sums, s, at, 2, s.value_size, first_row,
                          s.keys, sum_v, 1);
  }
}

} // namespace gpuopt::detail
