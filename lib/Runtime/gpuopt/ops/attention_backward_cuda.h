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

// How many blocks fit before values spill depends on the compiler's code for an
// architecture, and on its shared memory. It bounds registers alone. Five and
// three were the fastest on an H200 for products and for changed scores.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
constexpr int kProductQueryBlocks = 3, kMaskedQueryBlocks = 3,
              kChangedKeyBlocks = 2;
#else
constexpr int kProductQueryBlocks = 5, kMaskedQueryBlocks = 4,
              kChangedKeyBlocks = 3;
#endif

// Where scores are products, a warp has registers for two strips of keys, and
// each tile of queries that it loads serves both.
template <class T, int D, class Scores>
HOST_DEVICE constexpr TileSizes query_gradient_tiles() {
  if (std::is_same_v<T, tf32>)
    return D <= 64    ? TileSizes{128, 32, 1, 1, 2}
           : D <= 128 ? TileSizes{64, 32, 1, 1}
                      : TileSizes{32, 16, 1, 1};
  if (kHasMatrixUnits<T>)
    return D <= 64    ? TileSizes{64, 32, 2,
                                  Scores::kAreProducts  ? kProductQueryBlocks
                                  : Scores::kAreChanged ? 4
                                                        : kMaskedQueryBlocks}
           : D <= 128 ? TileSizes{64, 32, 2, 2}
                      : TileSizes{64, 32, 1, 1};
  return D <= 64    ? TileSizes{64, 32, 2, 2}
         : D <= 128 ? TileSizes{64, 32, 1, 1}
                    : TileSizes{32, 16, 1, 1};
}
template <class T, int D, class Scores>
HOST_DEVICE constexpr TileSizes key_gradient_tiles() {
  if (std::is_same_v<T, tf32>)
    return D <= 64    ? TileSizes{128, 16, 2, 1, 2}
           : D <= 128 ? TileSizes{64, 32, 1, 1}
                      : TileSizes{32, 16, 1, 1};
  if (kHasMatrixUnits<T>)
    return D <= 64    ? Scores::kAreProducts
                            ? TileSizes{128, 32, 2, 2, 2}
                            : TileSizes{64, 32, 2, kChangedKeyBlocks}
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
  float shift, delta, spread, unused;
};

// `top` is the largest score and `log_sum` the logarithm of the sum of the
// exponentials of the differences to it. If no score is finite, `shift` makes
// all probabilities 0 or NaN. If they are 0, delta must not be the NaN that Y
// may hold.
template <class Scores>
DEVICE RowStatistics row_statistics(float top, float log_sum, float delta,
                                    const Scores &scores) {
  const bool is_empty = top == -INFINITY;
  if (is_empty && (Scores::kAreProducts || scores.zeroes_empty))
    return {INFINITY, 0, 0, 0};
  if (Scores::kAreProducts)
    return {(top + log_sum) * kLog2E, delta, 0, 0};
  return {top, delta, is_empty ? 0 : log_sum * kLog2E, 0};
}

// Returns the sum of the products of 16 bytes of each row.
template <class T>
DEVICE float dot_of_vectors(const T *a, const T *b) {
  const uint4 left = *reinterpret_cast<const uint4 *>(a),
              right = *reinterpret_cast<const uint4 *>(b);
  const T *x = reinterpret_cast<const T *>(&left),
          *y = reinterpret_cast<const T *>(&right);
  float sum = 0;
  UNROLL
  for (int i = 0; i < kTileVector<T>; i++)
    sum = fmaf(load_scalar(x + i), load_scalar(y + i), sum);
  return sum;
}

// Returns the delta of a row to all of the kRowLanes lanes that share it.
constexpr int kRowLanes = 8;
template <class T>
DEVICE float row_dot(const Matrix<const T> &dy, const Matrix<const T> &y,
                     int64_t row) {
  const T *of_dy = dy.data + row * dy.stride, *of_y = y.data + row * y.stride;
  const int lane = lane_of_warp() % kRowLanes;
  const int columns = int(y.columns);
  float sum = 0;
  if (dy.has_vectors && y.has_vectors)
    for (int c = lane * kTileVector<T>; c < columns;
         c += kRowLanes * kTileVector<T>)
      sum += dot_of_vectors(of_dy + c, of_y + c);
  else
    for (int c = lane; c < columns; c += kRowLanes)
      sum = fmaf(load_scalar(of_dy + c), load_scalar(of_y + c), sum);
  UNROLL
  for (int distance = kRowLanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

constexpr int kRowsOfBlock = 64;
constexpr int kRowThreads = 256;

template <class T, class Scores>
KERNEL void __launch_bounds__(kRowThreads)
    attention_row_statistics(AttentionShape s, AttentionGradientShape g,
                             Scores scores, const T *y, const T *dy,
                             const float *statistics, RowStatistics *rows) {
  const AttentionBlock at(s, s.queries, kRowsOfBlock, false);
  const Matrix<const T> of_y(y + at.offset(s.y_batch), s.queries, s.value_size,
                             s.y_row);
  const Matrix<const T> of_dy(dy + at.offset(g.dy_batch), s.queries,
                              s.value_size, g.dy_row);
  const int64_t first = at.number(s) * s.queries;
  const float *log_sums = statistics + batch_elements(s) * s.queries;
  UNROLL
  for (int i = 0; i < kRowsOfBlock; i += kRowThreads / kRowLanes) {
    const int64_t row =
        at.tile * kRowsOfBlock + i + int(threadIdx.x) / kRowLanes;
    // The lanes of a row that does not exist take part in the exchanges.
    const bool exists = row < s.queries;
    const float delta = row_dot(of_dy, of_y, exists ? row : 0);
    const int64_t place = first + row;
    if (exists && lane_of_warp() % kRowLanes == 0)
      rows[place] =
          row_statistics(statistics[place], log_sums[place], delta, scores);
  }
}

// Reads the statistics of a warp's queries, the first of which is `first_row`.
template <int S>
DEVICE void load_statistics(RowStatistics (&of_row)[S][2],
                            const RowStatistics *statistics,
                            const AttentionShape &s, const BatchElement &at,
                            int first_row) {
  UNROLL
  for (int i = 0; i < 2 * S; i++) {
    const int row = first_row + i / 2 * kStripRows + strip_row(i % 2 * 2);
    if (row < s.queries)
      of_row[i / 2][i % 2] = statistics[at.number(s) * s.queries + row];
  }
}

// ---- Gradients of scores ---------------------------------------------------

// Turns the scores p into probabilities, and the gradients dp of probabilities
// into gradients of the products of queries and keys. statistics_of(n, i)
// returns the statistics of the query of p[n][i]. Afterwards p has the
// probabilities that dropout keeps, for dV.
template <int N, class Scores, class StatisticsOf>
DEVICE void to_gradients(float (&p)[N][4], float (&dp)[N][4],
                         const ScoreBits &bits, const Scores &scores,
                         const StatisticsOf &statistics_of) {
  const float factor = scores.factor();
  if constexpr (Scores::kAreProducts) {
    for_each_element<N>([&](int n, int i) {
      const RowStatistics row = statistics_of(n, i);
      p[n][i] = ptx::exp2(fmaf(p[n][i], factor, -row.shift));
      dp[n][i] = p[n][i] * (dp[n][i] - row.delta);
    });
  } else if constexpr (!Scores::kAreChanged) {
    for_each_element<N>([&](int n, int i) {
      const RowStatistics row = statistics_of(n, i);
      p[n][i] = ptx::exp2(fmaf(p[n][i] - row.shift, factor, -row.spread));
      dp[n][i] = p[n][i] * (dp[n][i] - row.delta);
    });
    if (bits.hidden) // also of a row of NaNs
      for_each_element<N>([&](int n, int i) {
        if (bits.has(bits.hidden, n, i))
          p[n][i] = dp[n][i] = 0;
      });
  } else
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
template <int N, class Scores>
DEVICE void multiply_by_slopes(float (&ds)[N][4], const CapSlopes<N> &slopes,
                               const Scores &scores) {
  if constexpr (Scores::kAreChanged)
    if (scores.changes.softcap > 0)
      for_each_element<N>([&](int n, int i) { ds[n][i] *= slopes.of[n][i]; });
}

template <class T, int D, class Scores>
struct QueryGradientSizes {
  static constexpr TileSizes kSizes = query_gradient_tiles<T, D, Scores>();
};
template <class T, int D, class Scores>
struct KeyGradientSizes {
  static constexpr TileSizes kSizes = key_gradient_tiles<T, D, Scores>();
};

// The shared memory of a block: its own tiles of two operands, and one or two
// pairs of tiles of the other two.
template <class T, int D, class Sizes>
struct GradientTiles {
  static constexpr TileSizes kSizes = Sizes::kSizes;
  static_assert(D > kLargestSummedHead || kSizes.own % kAttentionSumRows == 0);

  DEVICE T *own(int which) const {
    return reinterpret_cast<T *>(ptx::dynamic_memory()) +
           which * kSizes.own * kTileStride<T, D>;
  }
  DEVICE T *other(int which, int buffer) const {
    return own(2) + (2 * buffer + which) * kSizes.other * kTileStride<T, D>;
  }
};

// ---- Sums of columns -------------------------------------------------------

// Adds up the columns of a block's tile, whose strips are x times a factor: the
// rows of a strip by exchanges over growing distances, then the strips of
// kAttentionSumRows rows in their order. Rows from `rows` on do not exist.
// place_of(i) is where the sums of the block's i-th such rows begin. All
// threads of the block call it.
template <int D, class Tiles, int S, class PlaceOf>
DEVICE void store_column_sums(Tiles, int64_t columns, int64_t first_row,
                              int64_t rows, const float (&x)[S][D / 8][4],
                              float factor, const PlaceOf &place_of) {
  constexpr TileSizes kSizes = Tiles::kSizes;
  constexpr int kStrips = int(kAttentionSumRows) / kStripRows;
  float *of_strips = reinterpret_cast<float *>(ptx::dynamic_memory());
  ptx::cp_async_wait<0>();
  __syncthreads(); // no warp uses the tiles any more
  UNROLL
  for (int strip = 0; strip < S; strip++) {
    float *of_strip = of_strips + (int(threadIdx.x) / 32 * S + strip) * D;
    const int64_t first = first_row + strip * kStripRows;
    UNROLL
    for (int n = 0; n < D / 8; n++) {
      UNROLL
      for (int i = 0; i < 2; i++) {
        float sum = 0;
        UNROLL
        for (int half = 0; half < 2; half++)
          if (first + strip_row(2 * half) < rows)
            sum += x[strip][n][2 * half + i] * factor;
        UNROLL
        for (int distance = 4; distance < 32; distance *= 2)
          sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (lane_of_warp() < 4)
          of_strip[strip_column(n, i)] = sum;
      }
    }
  }
  __syncthreads();
  UNROLL
  for (int part = 0; part < kSizes.own / int(kAttentionSumRows); part++) {
    float *to = place_of(part);
    if (!to)
      break;
    const float *of_part = of_strips + part * kStrips * D;
    for (int column = int(threadIdx.x); column < columns;
         column += kSizes.threads()) {
      float sum = of_part[column];
      UNROLL
      for (int strip = 1; strip < kStrips; strip++)
        sum += of_part[strip * D + column];
      to[column] = sum;
    }
  }
}

// Writes the sums of tensor `which` of AttentionColumns, if they are wanted.
template <int D, class Tiles, int S>
DEVICE void store_sums_of_tile(Tiles tiles, float *column_sums,
                               const AttentionShape &s,
                               const AttentionBlock &at, int which,
                               int64_t size, int64_t first_row, int64_t rows,
                               const float (&x)[S][D / 8][4], float factor) {
  if constexpr (D <= kLargestSummedHead) {
    if (!column_sums)
      return;
    constexpr int kParts = Tiles::kSizes.own / int(kAttentionSumRows);
    const AttentionColumns sums(s);
    store_column_sums<D>(tiles, size, first_row, rows, x, factor, [&](int i) {
      const int64_t part = at.tile * kParts + i;
      return part < sums.tiles
                 ? column_sums +
                       sums.place(which, at.batch[0], at.batch[1], part, size)
                 : nullptr;
    });
  }
}

// Writes the rows of a block's tile, which are x times a factor, and the sums
// of their columns as tensor `which` of AttentionColumns.
template <int D, class Tiles, class T, int S>
DEVICE void store_gradients(Tiles tiles, float *column_sums,
                            const AttentionShape &s, const AttentionBlock &at,
                            int which, const Matrix<T> &to, int64_t first_row,
                            const float (&x)[S][D / 8][4], float factor) {
  UNROLL
  for (int strip = 0; strip < S; strip++)
    store_strip<D>(to, first_row + strip * kStripRows, x[strip], factor,
                   factor);
  store_sums_of_tile<D>(tiles, column_sums, s, at, which, to.columns, first_row,
                        to.rows, x, factor);
}

// ---- dQ --------------------------------------------------------------------

template <class T, int D, class Scores>
KERNEL void __launch_bounds__(query_gradient_tiles<T, D, Scores>().threads(),
                              query_gradient_tiles<T, D, Scores>().blocks)
    attention_query_gradients(AttentionShape s, AttentionGradientShape g,
                              Scores scores, const T *q, const T *k, const T *v,
                              const T *dy, const RowStatistics *statistics,
                              T *dq, float *column_sums) {
  constexpr TileSizes kSizes = query_gradient_tiles<T, D, Scores>();
  constexpr int kThreads = kSizes.threads(), kKeys = kSizes.other;
  constexpr int S = kSizes.strips;
  const AttentionBlock at(s, s.queries, kSizes.own, true);
  const GradientTiles<T, D, QueryGradientSizes<T, D, Scores>> tiles;
  const int first_query = int(at.tile) * kSizes.own;
  const int first_row = first_query + first_row_of_warp(S);
  const TileRange range = tiles_of_keys(s, first_query, kSizes.own, kKeys);
  const Matrix<const T> keys(k + at.offset(s.k_batch), s.keys, s.key_size,
                             s.k_row);
  const Matrix<const T> values(v + at.offset(s.v_batch), s.keys, s.value_size,
                               s.v_row);
  using Copies = TileCopies<kKeys, D, kThreads, Scores::kAreAligned, T>;
  Copies key_copies(keys, range.begin * kKeys),
      value_copies(values, range.begin * kKeys);
  const auto copy = [&](int tile, int buffer) {
    key_copies.copy(tiles.other(0, buffer), keys, tile * kKeys);
    value_copies.copy(tiles.other(1, buffer), values, tile * kKeys);
  };
  copy_tile<kSizes.own, D, kThreads, Scores::kAreAligned>(
      tiles.own(0),
      Matrix<const T>(q + at.offset(s.q_batch), s.queries, s.key_size, s.q_row),
      first_query);
  copy_tile<kSizes.own, D, kThreads, Scores::kAreAligned>(
      tiles.own(1),
      Matrix<const T>(dy + at.offset(g.dy_batch), s.queries, s.value_size,
                      g.dy_row),
      first_query);
  if (range.begin < range.end)
    copy(range.begin, 0);
  ptx::cp_async_commit();

  RowStatistics of_row[S][2] = {};
  load_statistics(of_row, statistics, s, at, first_row);
  ptx::cp_async_wait<0>();
  round_tile<kSizes.own, D, kThreads>(tiles.own(0));
  round_tile<kSizes.own, D, kThreads>(tiles.own(1));
  __syncthreads();
  const int own_row = first_row_of_warp(S) * kTileStride<T, D>;
  SharedRows<T, D> queries[S], gradients[S];
  find_strips<S, T, D>(queries, tiles.own(0) + own_row);
  find_strips<S, T, D>(gradients, tiles.own(1) + own_row);
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
        float p[S][kKeys / 8][4], dp[S][kKeys / 8][4];
        multiply_transposed<D>(p, queries, tiles.other(0, buffer));
        multiply_transposed<D>(dp, gradients, tiles.other(1, buffer));
        UNROLL
        for (int strip = 0; strip < S; strip++) {
          const ScoreTile place(band, row + strip * kStripRows, kStripRows, key,
                                kKeys);
          CapSlopes<kKeys / 8> slopes;
          const ScoreBits bits =
              to_scores<true>(p[strip], place, s, at, scores, &slopes);
          to_gradients(p[strip], dp[strip], bits, scores,
                       [&](int, int i) { return of_row[strip][i / 2]; });
          multiply_by_slopes(dp[strip], slopes, scores);
        }
        add_product<D>(sum, dp, tiles.other(0, buffer));
      },
      [&](int buffer) {
        Copies::round(tiles.other(0, buffer));
        Copies::round(tiles.other(1, buffer));
      });
  store_gradients<D>(
      tiles, column_sums, s, at, 0,
      Matrix<T>(dq + at.offset(g.dq_batch), s.queries, s.key_size, g.dq_row),
      first_row, sum, scores.scale);
}

// ---- dK and dV -------------------------------------------------------------

// The statistics of a query lie in the padding after its row of dY.
template <class T, int D>
DEVICE RowStatistics *statistics_of_row(T *tile, int row) {
  return reinterpret_cast<RowStatistics *>(tile + row * kTileStride<T, D> + D);
}

// Begins to bring the keys of a block and, for dK, its values.
template <bool Keys, bool AreAligned, class T, int D, class Sizes>
DEVICE void copy_own_keys(const GradientTiles<T, D, Sizes> &tiles,
                          const AttentionShape &s, const BatchElement &at,
                          int first_key, const T *k, const T *v) {
  constexpr TileSizes kSizes = Sizes::kSizes;
  copy_tile<kSizes.own, D, kSizes.threads(), AreAligned>(
      tiles.own(0),
      Matrix<const T>(k + at.offset(s.k_batch), s.keys, s.key_size, s.k_row),
      first_key);
  if constexpr (Keys)
    copy_tile<kSizes.own, D, kSizes.threads(), AreAligned>(
        tiles.own(1),
        Matrix<const T>(v + at.offset(s.v_batch), s.keys, s.value_size,
                        s.v_row),
        first_key);
}

// Adds what a tile of queries, the first of which is `query`, gives to the sums
// of dK and dV of a warp's keys, the first of which is `row`. `of_q` and
// `of_dy` are the tile's rows of Q and of dY.
template <class T, int D, int N, bool Keys, bool Values, int S, class Scores>
DEVICE void add_key_gradients(float (&sum_k)[S][D / 8][4],
                              float (&sum_v)[S][D / 8][4],
                              const SharedRows<T, D> (&keys)[S],
                              const SharedRows<T, D> (&values)[S],
                              const T *of_q, T *of_dy, const ScoreBand &band,
                              int query, int row, const AttentionShape &s,
                              const AttentionBlock &at, const Scores &scores) {
  float p[S][N / 8][4], dp[S][N / 8][4];
  multiply_transposed<D>(p, keys, of_q);
  if constexpr (Keys) {
    multiply_transposed<D>(dp, values, of_dy);
  } else {
    UNROLL
    for (int strip = 0; strip < S; strip++)
      set_zero(dp[strip]);
  }
  UNROLL
  for (int strip = 0; strip < S; strip++) {
    const ScoreTile place(band, query, N, row + strip * kStripRows, kStripRows);
    CapSlopes<N / 8> slopes;
    const ScoreBits bits = to_scores<false>(p[strip], place, s, at, scores,
                                            Keys ? &slopes : nullptr);
    to_gradients(p[strip], dp[strip], bits, scores, [&](int n, int i) {
      return *statistics_of_row<T, D>(of_dy, strip_column(n, i));
    });
    if constexpr (Keys)
      multiply_by_slopes(dp[strip], slopes, scores);
  }
  if constexpr (Values)
    add_product<D>(sum_v, p, of_dy);
  if constexpr (Keys)
    add_product<D>(sum_k, dp, of_q);
}

// One block writes dK, dV, or both: Keys and Values say which. It adds up the
// gradients of all `heads` that share its keys, in their order.
template <class T, int D, class Scores, bool Keys, bool Values>
KERNEL void __launch_bounds__(key_gradient_tiles<T, D, Scores>().threads(),
                              key_gradient_tiles<T, D, Scores>().blocks)
    attention_key_gradients(AttentionShape s, AttentionGradientShape g,
                            Scores scores, int64_t heads, const T *q,
                            const T *k, const T *v, const T *dy,
                            const RowStatistics *statistics, T *dk, T *dv,
                            float *column_sums) {
  constexpr TileSizes kSizes = key_gradient_tiles<T, D, Scores>();
  constexpr int kThreads = kSizes.threads(), kQueries = kSizes.other;
  constexpr int S = kSizes.strips;
  AttentionBlock at(s, s.batch[2] / heads, s.keys, kSizes.own, false);
  const GradientTiles<T, D, KeyGradientSizes<T, D, Scores>> tiles;
  const int first_key = int(at.tile) * kSizes.own;
  const int first_row = first_key + first_row_of_warp(S);
  const TileRange range = tiles_of_queries(s, first_key, kSizes.own, kQueries);
  const auto copy = [&](int tile, int buffer) {
    const Matrix<const T> queries(q + at.offset(s.q_batch), s.queries,
                                  s.key_size, s.q_row);
    const Matrix<const T> gradients(dy + at.offset(g.dy_batch), s.queries,
                                    s.value_size, g.dy_row);
    const RowStatistics *of_queries = statistics + at.number(s) * s.queries;
    const int first = tile * kQueries;
    T *to = tiles.other(1, buffer);
    copy_tile<kQueries, D, kThreads, Scores::kAreAligned>(
        tiles.other(0, buffer), queries, first);
    copy_tile<kQueries, D, kThreads, Scores::kAreAligned>(to, gradients, first);
    if (const int i = int(threadIdx.x); i < kQueries) {
      const bool exists = first + i < s.queries;
      ptx::cp_async(statistics_of_row<T, D>(to, i),
                    of_queries + (exists ? first + i : 0), exists ? 16 : 0);
    }
  };
  copy_own_keys<Keys, Scores::kAreAligned>(tiles, s, at, first_key, k, v);
  if constexpr (std::is_same_v<T, tf32>) {
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    round_tile<kSizes.own, D, kThreads>(tiles.own(0));
    if constexpr (Keys)
      round_tile<kSizes.own, D, kThreads>(tiles.own(1));
  }

  const int own_row = first_row_of_warp(S) * kTileStride<T, D>;
  SharedRows<T, D> keys[S], values[S];
  find_strips<S, T, D>(keys, tiles.own(0) + own_row);
  find_strips<S, T, D>(values, tiles.own(1) + own_row);
  float sum_k[S][D / 8][4], sum_v[S][D / 8][4];
  UNROLL
  for (int strip = 0; strip < S; strip++) {
    set_zero(sum_k[strip]);
    set_zero(sum_v[strip]);
  }
  const ScoreBand band(s);
  const auto use = [&](int tile, int buffer) {
    const int query = tile * kQueries;
    if (!ScoreTile(band, query, kQueries, first_row, S * kStripRows).is_hidden)
      add_key_gradients<T, D, kQueries, Keys, Values>(
          sum_k, sum_v, keys, values, tiles.other(0, buffer),
          tiles.other(1, buffer), band, query, first_row, s, at, scores);
  };
  const auto round = [&](int buffer) {
    round_tile<kQueries, D, kThreads>(tiles.other(0, buffer));
    round_tile<kQueries, D, kThreads>(tiles.other(1, buffer));
  };
  // A group has fewer heads than a grid has blocks, so 32 bits hold their
  // numbers; with 64, sm_80 would spill.
  const auto first_head = uint32_t(at.batch[2]);
  for (uint32_t head = 0; head < uint32_t(heads); head++) {
    if (head > 0)
      __syncthreads(); // no warp uses the tiles of the head before any more
    at.batch[2] = first_head + head;
    if (range.begin < range.end)
      copy(range.begin, 0);
    ptx::cp_async_commit();
    for_each_tile<kSizes.buffers>(range.begin, range.end, copy, use, round);
  }
  if constexpr (Keys)
    store_gradients<D>(
        tiles, column_sums, s, at, 1,
        Matrix<T>(dk + at.offset(g.dk_batch), s.keys, s.key_size, g.dk_row),
        first_row, sum_k, scores.scale);
  if constexpr (Values)
    store_gradients<D>(
        tiles, column_sums, s, at, 2,
        Matrix<T>(dv + at.offset(g.dv_batch), s.keys, s.value_size, g.dv_row),
        first_row, sum_v, 1);
}

} // namespace gpuopt::detail
