// The gradient of a bias of attention: the gradients dS of the scores, added up
// over the dimensions in which the bias is broadcast. A block has a tile of the
// bias, or of one part of it (BiasSums), and goes through the batch elements
// that share it in their order. It computes P and dP once more, so that dS is
// never in memory and no block adds to what another one writes.
#pragma once

#include "gpuopt/ops/attention_backward_cuda.h"

namespace gpuopt::detail {

// The tile of a block. Where the bias has one row, or one key, for all, the
// block goes through all tiles of queries, or of keys.
struct BiasBlock {
  int64_t part, own; // the number of the bias' batch element
  int64_t query_tile, key_tile;

  DEVICE BiasBlock(const BiasSums &sums, int64_t query_tiles,
                   int64_t key_tiles) {
    int64_t number = block();
    key_tile = number % key_tiles, number /= key_tiles;
    query_tile = number % query_tiles, number /= query_tiles;
    own = number % sums.count;
    part = number / sums.count;
  }
};

// The tiles of which the rows or columns of a bias are the sums.
struct BiasTiles {
  int64_t own, summed; // tiles of the bias, and of scores for each of these

  HOST_DEVICE BiasTiles(int64_t rows_of_bias, int64_t rows, int size)
      : own(rows_of_bias > 1 ? ceil_div(rows_of_bias, size) : 1),
        summed(rows_of_bias > 1 ? 1 : ceil_div(rows, size)) {}
};

// Tiles of queries, their gradients, keys and values are as large as for dQ,
// but no warp has two strips.
template <class T, int D>
HOST_DEVICE constexpr TileSizes bias_gradient_tiles() {
  TileSizes sizes = query_gradient_tiles<T, D, ChangedScores>();
  sizes.own /= sizes.strips;
  sizes.strips = sizes.buffers = 1;
  return sizes;
}

// The shared memory of a block. The sums of all threads lie where the operands
// were.
template <class T, int D>
struct BiasMemory {
  static constexpr TileSizes kSizes = bias_gradient_tiles<T, D>();

  DEVICE T *operands(int which) const {
    return reinterpret_cast<T *>(ptx::dynamic_memory()) +
           which * kSizes.own * kTileStride<T, D>;
  }
  DEVICE T *others(int which) const {
    return operands(2) + which * kSizes.other * kTileStride<T, D>;
  }
  // The sums of a tile leave no registers for the addresses of copies.
  static constexpr bool kKnowsPlaces = false;

  DEVICE void copy_rows(int which, int first,
                        const Matrix<const T> &from) const {
    copy_tile<kSizes.own, D, kSizes.threads(), kKnowsPlaces>(operands(which),
                                                             from, first);
  }
  DEVICE void copy_others(int which, int first,
                          const Matrix<const T> &from) const {
    copy_tile<kSizes.other, D, kSizes.threads(), kKnowsPlaces>(others(which),
                                                               from, first);
  }
  // Rounds what this thread has copied, where products are in TF32.
  DEVICE void round() const {
    for (int which = 0; which < 2; which++) {
      round_tile<kSizes.own, D, kSizes.threads()>(operands(which));
      round_tile<kSizes.other, D, kSizes.threads()>(others(which));
    }
  }
  DEVICE float *sums() const {
    return reinterpret_cast<float *>(ptx::dynamic_memory());
  }
};

// Adds up the sums of all threads along the dimensions in which the bias has
// one element, and writes them to `to`, [sums.rows, sums.keys].
template <class T, int D>
DEVICE void
store_bias_sums(const BiasSums &sums, const BiasBlock &at,
                const float (&sum)[bias_gradient_tiles<T, D>().other / 8][4],
                float *to) {
  constexpr TileSizes kSizes = bias_gradient_tiles<T, D>();
  constexpr int kKeys = kSizes.other;
  float *const shared = BiasMemory<T, D>().sums();
  const int first = first_row_of_warp(1);
  // After the last tile there was a barrier: all threads have read the
  // operands.
  for_each_score<true, kKeys / 8>([&](int n, int i, int query, int key) {
    shared[(first + query) * kKeys + key] = sum[n][i];
  });
  __syncthreads();
  const int own_rows = sums.rows > 1 ? 1 : kSizes.own;
  const int own_keys = sums.keys > 1 ? 1 : kKeys;
  for (int i = int(threadIdx.x); i < kSizes.own * kKeys / own_rows / own_keys;
       i += kSizes.threads()) {
    const int row = i / (kKeys / own_keys), key = i % (kKeys / own_keys);
    const int64_t to_row = at.query_tile * kSizes.own + row,
                  to_key = at.key_tile * kKeys + key;
    if (to_row >= sums.rows || to_key >= sums.keys)
      continue;
    float total = 0;
    for (int r = 0; r < own_rows; r++)
      for (int k = 0; k < own_keys; k++)
        total += shared[(row + r) * kKeys + key + k];
    to[to_row * sums.keys + to_key] = total;
  }
}

// `to` is [parts, own batch, rows, keys].
template <class T, int D, class Scores>
KERNEL void __launch_bounds__(bias_gradient_tiles<T, D>().threads(),
                              bias_gradient_tiles<T, D>().blocks)
    attention_bias_gradient(AttentionShape s, AttentionGradientShape g,
                            Scores scores, BiasSums sums, const T *q,
                            const T *k, const T *v, const T *dy,
                            const RowStatistics *statistics, float *to) {
  constexpr TileSizes kSizes = bias_gradient_tiles<T, D>();
  static_assert(kSizes.strips == 1);
  constexpr int kKeys = kSizes.other;
  const BiasTiles query_tiles(sums.rows, s.queries, kSizes.own),
      key_tiles(sums.keys, s.keys, kKeys);
  const BiasBlock at(sums, query_tiles.own, key_tiles.own);
  const BiasMemory<T, D> memory;
  struct Step : BatchElement {
    int first_query, first_key;
  };
  const auto find = [&](int64_t step) {
    Step found;
    const int64_t key_tile = step % key_tiles.summed;
    step /= key_tiles.summed;
    const int64_t query_tile = step % query_tiles.summed;
    sums.find(at.own, step / query_tiles.summed, found.batch);
    found.first_query = int(at.query_tile + query_tile) * kSizes.own;
    found.first_key = int(at.key_tile + key_tile) * kKeys;
    return found;
  };
  const auto copy = [&](int64_t step, int) {
    const Step from = find(step);
    memory.copy_rows(0, from.first_query,
                     Matrix<const T>(q + from.offset(s.q_batch), s.queries,
                                     s.key_size, s.q_row));
    memory.copy_rows(1, from.first_query,
                     Matrix<const T>(dy + from.offset(g.dy_batch), s.queries,
                                     s.value_size, g.dy_row));
    memory.copy_others(0, from.first_key,
                       Matrix<const T>(k + from.offset(s.k_batch), s.keys,
                                       s.key_size, s.k_row));
    memory.copy_others(1, from.first_key,
                       Matrix<const T>(v + from.offset(s.v_batch), s.keys,
                                       s.value_size, s.v_row));
  };
  const int64_t steps_of_term = query_tiles.summed * key_tiles.summed;
  const int64_t begin = sums.first_term(at.part) * steps_of_term;
  const int64_t end = sums.first_term(at.part + 1) * steps_of_term;
  copy(begin, 0);
  ptx::cp_async_commit();

  const int own_row = first_row_of_warp(1) * kTileStride<T, D>;
  SharedRows<T, D> queries[1], gradients[1];
  find_strips<1, T, D>(queries, memory.operands(0) + own_row);
  find_strips<1, T, D>(gradients, memory.operands(1) + own_row);
  float sum[kKeys / 8][4];
  set_zero(sum);
  const ScoreBand band(s);
  for_each_tile<1>(
      begin, end, copy,
      [&](int64_t step, int) {
        const Step from = find(step);
        const int first_row = from.first_query + first_row_of_warp(1);
        const ScoreTile place(band, first_row, kStripRows, from.first_key,
                              kKeys);
        if (place.is_hidden)
          return;
        RowStatistics of_row[1][2] = {};
        load_statistics(of_row, statistics, s, from, first_row);
        float p[1][kKeys / 8][4], dp[1][kKeys / 8][4];
        multiply_transposed<D>(p, queries, memory.others(0));
        multiply_transposed<D>(dp, gradients, memory.others(1));
        const ScoreBits bits = to_scores<true>(p[0], place, s, from, scores);
        to_gradients(p[0], dp[0], bits, scores,
                     [&](int, int i) { return of_row[0][i / 2]; });
        for_each_element<kKeys / 8>(
            [&](int n, int i) { sum[n][i] += dp[0][n][i]; });
      },
      [&](int) { memory.round(); });
  store_bias_sums<T, D>(sums, at, sum,
                        to + (at.part * sums.count + at.own) * sums.rows *
                                 sums.keys);
}

// Adds up the parts of each element in their order.
KERNEL void __launch_bounds__(kRowThreads)
    add_bias_parts(BiasSums sums, const float *parts, float *to) {
  const int64_t i = block() * kRowThreads + threadIdx.x;
  if (i >= sums.elements())
    return;
  float total = 0;
  for (int64_t part = 0; part < sums.parts; part++)
    total += parts[part * sums.elements() + i];
  to[i] = total;
}

} // namespace gpuopt::detail
