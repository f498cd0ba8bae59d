// The forward of attention on the host. A tile has whole rows of scores, so the
// softmax is computed in one go.
#pragma once

#include "gpuopt/ops/attention_tiles_host.h"

namespace gpuopt {
namespace detail {

template <class T>
void attention_of_tile(const AttentionShape &s, const AttentionOptions &o,
                       const TileOfQueries &t, AttentionTiles::OfThread &own,
                       const T *q, const T *k, const T *v, T *y,
                       float *statistics) {
  const int64_t row_size = t.row_size();
  own.scores.resize(size_t(t.rows * row_size));
  float *scores = own.scores.data();
  const FloatRows query = float_rows(q + t.offset(s.q_batch) +
                                         t.first_row * s.q_row,
                                     s.q_row, t.rows, s.key_size, own.q),
                  key = float_rows(k + t.offset(s.k_batch) +
                                       t.first_key * s.k_row,
                                   s.k_row, t.keys, s.key_size, own.k),
                  value = float_rows(v + t.offset(s.v_batch) +
                                         t.first_key * s.v_row,
                                     s.v_row, t.keys, s.value_size, own.v);
  tile_product('N', 'T', t.rows, t.keys, s.key_size, float(o.scale), query, key,
               0, scores, row_size);
  own.row_factors.resize(size_t(t.rows));
  for (int64_t i = 0; i < t.rows; i++) {
    float *row = scores + i * row_size;
    if (o.softcap > 0)
      cap_row(o, row, nullptr, row_size);
    change_row(s, o, t, i, row);
    const float most = largest_of(row, row_size);
    const bool is_empty = most == -std::numeric_limits<float>::infinity();
    const float sum = exponentials(row, is_empty ? 0 : most, 0, row_size);
    own.row_factors[size_t(i)] = is_empty && o.zeroes_empty ? 0 : 1 / sum;
    statistics[t.row_of_batch(s) + i] = most;
    statistics[t.row_of_batch(s) + i + queries_of(s)] = logf(sum);
    if (o.dropout > 0)
      drop_row({s, o, t, i}, row, row, t.keys);
  }
  own.y.resize(size_t(t.rows * s.value_size));
  tile_product('N', 'N', t.rows, s.value_size, t.keys, 1, {scores, row_size},
               value, 0, own.y.data(), s.value_size);
  T *to = y + t.offset(s.y_batch) + t.first_row * s.y_row;
  for (int64_t i = 0; i < t.rows; i++)
    for (int64_t j = 0; j < s.value_size; j += kLanes) {
      const int64_t n = s.value_size - j;
      const auto x = load(own.y.data() + i * s.value_size + j, n);
      store(to + i * s.y_row + j, x * Lanes<float>(own.row_factors[size_t(i)]),
            n);
    }
}

} // namespace detail

template <int HeadSize, AttentionScores Scores, class T>
void attention(Context &ctx, const AttentionShape &shape, const T *q,
               const T *k, const T *v, T *y, float *statistics,
               AttentionOptions o = {}) {
  check_attention_kernels<HeadSize, Scores, T>(shape, o,
                                               /*has_aligned_rows=*/true);
  const AttentionShape s = detail::with_dense_bias(ctx, shape, o);
  const int64_t rows = detail::rows_of_tile(s),
                of_batch = ceil_div(s.queries, rows),
                count = batch_elements(s) * of_batch;
  detail::for_each_with_tiles(ctx, count, [&](int64_t i, auto &own) {
    // The long rows of causal attention come first.
    const int64_t tile = of_batch - 1 - i % of_batch;
    detail::attention_of_tile(
        s, o,
        detail::tile_of_queries(s, detail::batch_index(s, i / of_batch),
                                tile * rows),
        own, q, k, v, y, statistics);
  });
}

} // namespace gpuopt
