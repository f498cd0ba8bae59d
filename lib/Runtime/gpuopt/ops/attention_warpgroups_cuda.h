// Attention on GPUs of compute capability 9.0, whose matrix units work for
// warpgroups (kernels/warpgroup_cuda.h): for heads of up to 64 elements of half
// precision whose scores are products, or have an added mask that is read in
// pairs. attention_forward_cuda.h and attention_backward_cuda.h have the
// kernels for all others, and the formulas.
#pragma once

#include "gpuopt/kernels/warpgroup_cuda.h"
#include "gpuopt/ops/attention_backward_cuda.h"

namespace gpuopt::detail {

template <class T, int D, class Scores>
constexpr bool kHasWarpgroupKernels =
    kIsBuiltForWarpgroups && sizeof(T) == 2 && D == kSwizzledColumns &&
    !Scores::kAreChanged && Scores::kAreAligned;

// A block is a warpgroup, and several share a multiprocessor: while one
// computes exponentials, the matrix units multiply for another.
//
// The forward adds up as many keys at a time as the kernel for warps does, so
// that both have the same bits.
template <class T, class Scores>
constexpr int kForwardKeys = forward_tiles<T, kSwizzledColumns, Scores>().other;
struct WarpgroupForwardSizes {
  static constexpr TileSizes kSizes{64, 64, 2, 4};
  static constexpr int kOwnOperands = 1;
  static constexpr bool kHasStatistics = false;
};
// The sizes of the backward were the fastest on an H200 of those whose values
// fit into the registers. Masked scores need more of these: for them fewer
// blocks share a multiprocessor, and dK and dV, which are two sums, have
// smaller tiles of queries.
template <class Scores>
struct WarpgroupQuerySizes {
  static constexpr TileSizes kSizes{64, 64, 2, Scores::kAreProducts ? 4 : 3};
  static constexpr int kOwnOperands = 2;
  static constexpr bool kHasStatistics = false;
};
template <class Scores>
struct WarpgroupKeySizes {
  static constexpr TileSizes kSizes{64, Scores::kAreProducts ? 64 : 32, 2, 3};
  static constexpr int kOwnOperands = 2;
  static constexpr bool kHasStatistics = true;
};

// The shared memory of a block: its own tiles of one or two operands, and for
// each buffer the tiles of two others. For dK and dV, what is known of the
// queries of each buffer comes last.
template <class T, class Sizes>
struct SwizzledTiles {
  static constexpr TileSizes kSizes = Sizes::kSizes;
  static constexpr int kOwnRows = Sizes::kOwnOperands * kSizes.own;
  static constexpr int kRows = kOwnRows + 2 * kSizes.buffers * kSizes.other;
  static constexpr size_t kBytes =
      size_t(kRows) * kSwizzledColumns * sizeof(T) +
      (Sizes::kHasStatistics
           ? size_t(kSizes.buffers) * kSizes.other * sizeof(RowStatistics)
           : 0);
  static_assert(kSizes.own % kWarpgroupRows == 0 && kSizes.other % 8 == 0);
  static_assert(kSizes.own % kAttentionSumRows == 0);
  // The threads that copy a tile have whole groups of eight rows among them.
  static_assert(kSizes.threads() % (8 * SwizzledRows::kPiece) == 0);

  DEVICE T *row(int number) const {
    return reinterpret_cast<T *>(ptx::dynamic_memory()) +
           number * kSwizzledColumns;
  }
  DEVICE T *own(int which) const { return row(which * kSizes.own); }
  DEVICE T *other(int which, int buffer) const {
    return row(kOwnRows + (2 * buffer + which) * kSizes.other);
  }
  DEVICE RowStatistics *statistics(int buffer) const {
    static_assert(Sizes::kHasStatistics);
    return reinterpret_cast<RowStatistics *>(row(kRows)) +
           buffer * kSizes.other;
  }
  // Describes the rows of the running warpgroup.
  DEVICE uint32_t own_descriptor(int which) const {
    return matrix_descriptor(own(which) +
                             first_row_of_warpgroup<kSizes.threads()>() *
                                 kSwizzledColumns);
  }
};

// Begins to bring the rows of a block from `first` on.
template <class Tiles, class T>
DEVICE void copy_own_rows(const Tiles &tiles, int which,
                          const Matrix<const T> &from, int first) {
  copy_tile<Tiles::kSizes.own, kSwizzledColumns, Tiles::kSizes.threads(), true,
            SwizzledRows>(tiles.own(which), from, first);
}

// The elements of an added mask for a strip of scores, which are loaded while
// products compute the scores.
template <int N>
struct MaskStrip {
  float2 pairs[N][2];

  // `mask` is this lane's first element in the strip.
  DEVICE void load(const float *mask, int64_t mask_row) {
    for_each_pair([&](int n, int half) {
      pairs[n][half] =
          *reinterpret_cast<const float2 *>(mask + half * 8 * mask_row + 8 * n);
    });
  }
  DEVICE void add_to(float (&x)[N][4], float scale) const {
    for_each_pair([&](int n, int half) {
      float *two = x[n] + 2 * half;
      two[0] = two[0] * scale + pairs[n][half].x;
      two[1] = two[1] * scale + pairs[n][half].y;
    });
  }

private:
  template <class F>
  static DEVICE void for_each_pair(const F &f) {
    UNROLL
    for (int n = 0; n < N; n++) {
      f(n, 0);
      f(n, 1);
    }
  }
};

// Hides from the queries of a strip the keys that they do not see. The keys
// that a query sees lie side by side, so two comparisons tell whether a key is
// one.
template <int N>
DEVICE void hide_keys(float (&x)[N][4], const ScoreTile &tile) {
  UNROLL
  for (int half = 0; half < 2; half++) {
    const int row = strip_row(2 * half), lane_key = strip_column(0, 0);
    const int first = tile.first + row - lane_key,
              last = min(min(tile.last, 8 * N) + row, tile.keys - 1) - lane_key;
    UNROLL
    for (int n = 0; n < N; n++) {
      UNROLL
      for (int i = 0; i < 2; i++)
        if (8 * n + i < first || 8 * n + i > last)
          x[n][2 * half + i] = -INFINITY;
    }
  }
}

// What a warp has of the forward of its queries, the first of which is `row`.
// Those of its warpgroup begin with `of_group`.
template <class Tiles, class Scores>
struct WarpgroupForward {
  using T = std::remove_pointer_t<decltype(Tiles().row(0))>;
  static constexpr bool kAreMasked = !Scores::kAreProducts;
  static constexpr int kKeys = kForwardKeys<T, Scores>;
  static constexpr int kParts = Tiles::kSizes.other / kKeys;
  static_assert(kKeys * kParts == Tiles::kSizes.other);
  // A block has no tile of keys that all of its queries do not see.
  static constexpr bool kMayBeHidden =
      kParts > 1 || Tiles::kSizes.own > kWarpgroupRows;

  const Tiles &tiles;
  const AttentionShape &s;
  const AttentionBlock &at;
  const Scores &scores;
  ScoreBand band;
  int row, of_group;
  bool has_queries;
  const float *mask = nullptr; // this lane's element for the first key
  OnlineSoftmax softmax;
  float sum[kSwizzledColumns / 8][4];

  DEVICE WarpgroupForward(const Tiles &tiles, const AttentionShape &s,
                          const AttentionBlock &at, const Scores &scores,
                          int first_query)
      : tiles(tiles), s(s), at(at), scores(scores), band(s),
        row(first_query + first_row_of_warp(1)),
        of_group(first_query +
                 first_row_of_warpgroup<Tiles::kSizes.threads()>()),
        has_queries(row < band.queries) {
    // Nobody reads what becomes of the rows behind the last query, so they need
    // no test. But a mask has no elements for them.
    if constexpr (!kAreMasked)
      band.queries = int(kMostAttentionRows);
    else
      mask = scores.changes.added_mask + at.offset(s.mask_batch) +
             (row + strip_row(0)) * s.mask_row + strip_column(0, 0);
    set_zero(sum);
  }

  // Adds the values of a tile of keys, the first of which is `key`. Calls
  // meanwhile() while products compute the scores.
  template <class F>
  DEVICE void add_tile(int key, int buffer, const F &meanwhile) {
    const T *keys = tiles.other(0, buffer), *values = tiles.other(1, buffer);
    float x[kParts][kKeys / 8][4];
    begin_products();
    UNROLL
    for (int part = 0; part < kParts; part++)
      begin_multiply_transposed(x[part], tiles.own_descriptor(0),
                                keys + part * kKeys * kSwizzledColumns);
    end_products();
    MaskStrip<kKeys / 8> of_mask;
    load_mask(of_mask, key);
    meanwhile();
    static_assert(kParts <= 2); // whose registers the wait names
    await_products(x[0], x[kParts - 1]);
    UNROLL
    for (int part = 0; part < kParts; part++) {
      const int first = key + part * kKeys;
      // A part behind a hidden one is hidden or has an edge for each warp, and
      // needs no loaded mask.
      if (kMayBeHidden &&
          ScoreTile(band, of_group, kWarpgroupRows, first, kKeys).is_hidden)
        continue;
      // Under a mask the branch would cost more than it saves: descriptors are
      // no longer the same for the whole block, as the compiler sees it.
      if (kAreMasked || has_queries) {
        finish_scores(x[part], of_mask, first);
        if (part + 1 < kParts)
          load_mask(of_mask, first + kKeys);
        float shrink[2];
        softmax.add(x[part], shrink, scores);
        for_each_element<kSwizzledColumns / 8>(
            [&](int n, int i) { sum[n][i] *= shrink[i / 2]; });
      }
      HeldStrip<kKeys / 8> of_probabilities;
      of_probabilities.template hold<T>(x[part]);
      begin_products(sum);
      begin_add_product(sum, of_probabilities,
                        values + part * kKeys * kSwizzledColumns);
      finish_products(sum);
    }
  }

private:
  DEVICE ScoreTile place(int key) const {
    return ScoreTile(band, row, kStripRows, key, kKeys);
  }
  // A mask has no elements for the rows and keys behind the last ones.
  DEVICE void load_mask(MaskStrip<kKeys / 8> &of_mask, int key) const {
    if constexpr (kAreMasked)
      if (!place(key).has_hidden)
        of_mask.load(mask + key, s.mask_row);
  }
  DEVICE void finish_scores(float (&x)[kKeys / 8][4],
                            const MaskStrip<kKeys / 8> &of_mask,
                            int key) const {
    const ScoreTile here = place(key);
    if constexpr (kAreMasked) {
      if (here.has_hidden)
        to_scores<true>(x, here, s, at, scores);
      else
        of_mask.add_to(x, scores.scale);
    } else if (here.has_hidden) {
      hide_keys(x, here);
    }
  }
};

// Writes a strip as store_strip does, by way of 16 rows of a tile in shared
// memory, from which neighbouring lanes write neighbouring vectors. The matrix
// must have vectors.
template <class T>
DEVICE void store_strip_by_vectors(const Matrix<T> &to, int first, T *tile,
                                   const float (&x)[8][4],
                                   const float (&factor)[2]) {
  UNROLL
  for (int n = 0; n < 8; n++) {
    UNROLL
    for (int half = 0; half < 2; half++)
      *reinterpret_cast<uint32_t *>(
          tile + SwizzledRows::place(strip_row(2 * half), strip_column(n, 0))) =
          pack_pair<T>(x[n][2 * half] * factor[half],
                       x[n][2 * half + 1] * factor[half]);
  }
  __syncwarp();
  const int row = lane_of_warp() / 8,
            column = lane_of_warp() % 8 * kTileVector<T>;
  T *of_row = to.data + int64_t(first + row) * to.stride + column;
  UNROLL
  for (int i = 0; i < kStripRows; i += 4)
    if (first + row + i < to.rows && column < to.columns)
      *reinterpret_cast<uint4 *>(of_row + int64_t(i) * to.stride) =
          *reinterpret_cast<const uint4 *>(
              tile + SwizzledRows::place(row + i, column));
}

template <class T, class Scores>
KERNEL void __launch_bounds__(WarpgroupForwardSizes::kSizes.threads(),
                              WarpgroupForwardSizes::kSizes.blocks)
    attention_forward_by_warpgroups(AttentionShape s, Scores scores, const T *q,
                                    const T *k, const T *v, T *y,
                                    float *statistics) {
  constexpr int D = kSwizzledColumns;
  using Tiles = SwizzledTiles<T, WarpgroupForwardSizes>;
  constexpr TileSizes kSizes = Tiles::kSizes;
  constexpr int kKeys = kSizes.other;
  const AttentionBlock at(s, s.queries, kSizes.own, true);
  const Tiles tiles;
  const int first_query = int(at.tile) * kSizes.own;
  const TileRange range = tiles_of_keys(s, first_query, kSizes.own, kKeys);
  const Matrix<const T> keys(k + at.offset(s.k_batch), s.keys, s.key_size,
                             s.k_row);
  const Matrix<const T> values(v + at.offset(s.v_batch), s.keys, s.value_size,
                               s.v_row);
  using Copies = TileCopies<kKeys, D, kSizes.threads(), true, T, SwizzledRows>;
  Copies key_copies(keys, range.begin * kKeys),
      value_copies(values, range.begin * kKeys);
  const auto copy = [&](int tile, int buffer) {
    if (tile < range.end) {
      key_copies.copy(tiles.other(0, buffer), keys, tile * kKeys);
      value_copies.copy(tiles.other(1, buffer), values, tile * kKeys);
    }
    ptx::cp_async_commit();
  };
  copy_own_rows(
      tiles, 0,
      Matrix<const T>(q + at.offset(s.q_batch), s.queries, s.key_size, s.q_row),
      first_query);
  copy(range.begin, 0);

  WarpgroupForward<Tiles, Scores> forward(tiles, s, at, scores, first_query);
  int buffer = 0;
  for (int tile = range.begin; tile < range.end; tile++) {
    ptx::cp_async_wait<0>();
    ptx::fence_proxy_async();
    // All threads have copied this tile, and no product reads the one before.
    __syncthreads();
    forward.add_tile(tile * kKeys, buffer, [&] { copy(tile + 1, 1 - buffer); });
    buffer = 1 - buffer;
  }

  const int first_row = forward.row;
  float inverse[2];
  finish_softmax(inverse, forward.softmax, s, at, scores, first_row,
                 statistics);
  const Matrix<T> to(y + at.offset(s.y_batch), s.queries, s.value_size,
                     s.y_row);
  if (to.has_vectors) {
    // No product reads the queries any more; where they see no keys, nobody has
    // waited for them yet.
    ptx::cp_async_wait<0>();
    __syncthreads();
    store_strip_by_vectors(to, first_row,
                           tiles.own(0) + first_row_of_warp(1) * D, forward.sum,
                           inverse);
  } else {
    store_strip<D>(to, first_row, forward.sum, inverse[0], inverse[1]);
  }
}

template <class T, class Scores>
KERNEL void __launch_bounds__(WarpgroupQuerySizes<Scores>::kSizes.threads(),
                              WarpgroupQuerySizes<Scores>::kSizes.blocks)
    attention_query_gradients_by_warpgroups(AttentionShape s,
                                            AttentionGradientShape g,
                                            Scores scores, const T *q,
                                            const T *k, const T *v, const T *dy,
                                            const RowStatistics *statistics,
                                            T *dq, float *column_sums) {
  constexpr int D = kSwizzledColumns;
  using Tiles = SwizzledTiles<T, WarpgroupQuerySizes<Scores>>;
  constexpr TileSizes kSizes = Tiles::kSizes;
  constexpr int kKeys = kSizes.other;
  const AttentionBlock at(s, s.queries, kSizes.own, true);
  const Tiles tiles;
  const int first_query = int(at.tile) * kSizes.own;
  const int first_row = first_query + first_row_of_warp(1);
  const int of_group = first_query + first_row_of_warpgroup<kSizes.threads()>();
  const TileRange range = tiles_of_keys(s, first_query, kSizes.own, kKeys);
  const Matrix<const T> keys(k + at.offset(s.k_batch), s.keys, s.key_size,
                             s.k_row);
  const Matrix<const T> values(v + at.offset(s.v_batch), s.keys, s.value_size,
                               s.v_row);
  using Copies = TileCopies<kKeys, D, kSizes.threads(), true, T, SwizzledRows>;
  Copies key_copies(keys, range.begin * kKeys),
      value_copies(values, range.begin * kKeys);
  const auto copy = [&](int tile, int buffer) {
    key_copies.copy(tiles.other(0, buffer), keys, tile * kKeys);
    value_copies.copy(tiles.other(1, buffer), values, tile * kKeys);
  };
  copy_own_rows(
      tiles, 0,
      Matrix<const T>(q + at.offset(s.q_batch), s.queries, s.key_size, s.q_row),
      first_query);
  copy_own_rows(tiles, 1,
                Matrix<const T>(dy + at.offset(g.dy_batch), s.queries,
                                s.value_size, g.dy_row),
                first_query);
  if (range.begin < range.end)
    copy(range.begin, 0);
  ptx::cp_async_commit();

  RowStatistics of_row[1][2] = {};
  load_statistics(of_row, statistics, s, at, first_row);
  const uint32_t queries = tiles.own_descriptor(0),
                 gradients = tiles.own_descriptor(1);
  float sum[1][D / 8][4];
  set_zero(sum[0]);
  const ScoreBand band(s);
  for_each_tile<kSizes.buffers>(
      range.begin, range.end, copy,
      [&](int tile, int buffer) {
        const int key = tile * kKeys;
        if (ScoreTile(band, of_group, kWarpgroupRows, key, kKeys).is_hidden)
          return;
        float p[kKeys / 8][4], dp[kKeys / 8][4];
        begin_products();
        begin_multiply_transposed(p, queries, tiles.other(0, buffer));
        begin_multiply_transposed(dp, gradients, tiles.other(1, buffer));
        finish_products(p, dp);
        const ScoreTile place(band, first_row, kStripRows, key, kKeys);
        const ScoreBits bits = to_scores<true>(p, place, s, at, scores);
        to_gradients(p, dp, bits, scores,
                     [&](int, int i) { return of_row[0][i / 2]; });
        HeldStrip<kKeys / 8> of_scores;
        of_scores.template hold<T>(dp);
        begin_products(sum[0]);
        begin_add_product(sum[0], of_scores, tiles.other(0, buffer));
        finish_products(sum[0]);
      },
      [](int) { ptx::fence_proxy_async(); });
  store_gradients<D>(
      tiles, column_sums, s, at, 0,
      Matrix<T>(dq + at.offset(g.dq_batch), s.queries, s.key_size, g.dq_row),
      first_row, sum, scores.scale);
}

// Adds what a tile of queries, the first of which is `query`, gives to the sums
// of dK and dV of a warp's keys, the first of which is `row`.
template <class Tiles, class Scores>
DEVICE void add_key_gradients_by_warpgroup(
    float (&sum_k)[8][4], float (&sum_v)[8][4], const Tiles &tiles, int buffer,
    const ScoreBand &band, int query, int row, const AttentionShape &s,
    const AttentionBlock &at, const Scores &scores) {
  constexpr int kQueries = Tiles::kSizes.other;
  using T = std::remove_pointer_t<decltype(tiles.row(0))>;
  const T *of_q = tiles.other(0, buffer), *of_dy = tiles.other(1, buffer);
  float p[kQueries / 8][4], dp[kQueries / 8][4];
  begin_products();
  begin_multiply_transposed(p, tiles.own_descriptor(0), of_q);
  begin_multiply_transposed(dp, tiles.own_descriptor(1), of_dy);
  finish_products(p, dp);
  const ScoreTile place(band, query, kQueries, row, kStripRows);
  const ScoreBits bits = to_scores<false>(p, place, s, at, scores);
  const RowStatistics *of_queries = tiles.statistics(buffer);
  to_gradients(p, dp, bits, scores,
               [&](int n, int i) { return of_queries[strip_column(n, i)]; });
  HeldStrip<kQueries / 8> of_probabilities, of_scores;
  of_probabilities.template hold<T>(p);
  of_scores.template hold<T>(dp);
  begin_products(sum_v, sum_k);
  begin_add_product(sum_v, of_probabilities, of_dy);
  begin_add_product(sum_k, of_scores, of_q);
  finish_products(sum_v, sum_k);
}

template <class T, class Scores>
KERNEL void __launch_bounds__(WarpgroupKeySizes<Scores>::kSizes.threads(),
                              WarpgroupKeySizes<Scores>::kSizes.blocks)
    attention_key_gradients_by_warpgroups(
        AttentionShape s, AttentionGradientShape g, Scores scores,
        int64_t heads, const T *q, const T *k, const T *v, const T *dy,
        const RowStatistics *statistics, T *dk, T *dv, float *column_sums) {
  constexpr int D = kSwizzledColumns;
  using Tiles = SwizzledTiles<T, WarpgroupKeySizes<Scores>>;
  constexpr TileSizes kSizes = Tiles::kSizes;
  constexpr int kQueries = kSizes.other, kThreads = kSizes.threads();
  AttentionBlock at(s, s.batch[2] / heads, s.keys, kSizes.own, false);
  const Tiles tiles;
  const int first_key = int(at.tile) * kSizes.own;
  const int first_row = first_key + first_row_of_warp(1);
  const int of_group = first_key + first_row_of_warpgroup<kSizes.threads()>();
  const TileRange range = tiles_of_queries(s, first_key, kSizes.own, kQueries);
  const auto copy = [&](int tile, int buffer) {
    const Matrix<const T> queries(q + at.offset(s.q_batch), s.queries,
                                  s.key_size, s.q_row);
    const Matrix<const T> gradients(dy + at.offset(g.dy_batch), s.queries,
                                    s.value_size, g.dy_row);
    const RowStatistics *of_queries = statistics + at.number(s) * s.queries;
    const int first = tile * kQueries;
    copy_tile<kQueries, D, kThreads, true, SwizzledRows>(tiles.other(0, buffer),
                                                         queries, first);
    copy_tile<kQueries, D, kThreads, true, SwizzledRows>(tiles.other(1, buffer),
                                                         gradients, first);
    if (const int i = int(threadIdx.x); i < kQueries) {
      const bool exists = first + i < s.queries;
      ptx::cp_async(tiles.statistics(buffer) + i,
                    of_queries + (exists ? first + i : 0), exists ? 16 : 0);
    }
  };
  copy_own_rows(
      tiles, 0,
      Matrix<const T>(k + at.offset(s.k_batch), s.keys, s.key_size, s.k_row),
      first_key);
  copy_own_rows(
      tiles, 1,
      Matrix<const T>(v + at.offset(s.v_batch), s.keys, s.value_size, s.v_row),
      first_key);

  float sum_k[1][D / 8][4], sum_v[1][D / 8][4];
  set_zero(sum_k[0]);
  set_zero(sum_v[0]);
  const ScoreBand band(s);
  const auto use = [&](int tile, int buffer) {
    const int query = tile * kQueries;
    if (ScoreTile(band, query, kQueries, of_group, kWarpgroupRows).is_hidden)
      return;
    add_key_gradients_by_warpgroup(sum_k[0], sum_v[0], tiles, buffer, band,
                                   query, first_row, s, at, scores);
  };
  const int64_t first_head = at.batch[2];
  for (int64_t head = 0; head < heads; head++) {
    if (head > 0)
      __syncthreads(); // no warp uses the tiles of the head before any more
    at.batch[2] = first_head + head;
    if (range.begin < range.end)
      copy(range.begin, 0);
    ptx::cp_async_commit();
    for_each_tile<kSizes.buffers>(range.begin, range.end, copy, use,
                                  [](int) { ptx::fence_proxy_async(); });
  }
  store_gradients<D>(
      tiles, column_sums, s, at, 1,
      Matrix<T>(dk + at.offset(g.dk_batch), s.keys, s.key_size, g.dk_row),
      first_row, sum_k, scores.scale);
  store_gradients<D>(
      tiles, column_sums, s, at, 2,
      Matrix<T>(dv + at.offset(g.dv_batch), s.keys, s.value_size, g.dv_row),
      first_row, sum_v, 1);
}

} // namespace gpuopt::detail
