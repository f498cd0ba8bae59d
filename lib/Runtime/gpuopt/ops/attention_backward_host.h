// The backward of attention on the host, which computes the probabilities of a
// tile again.
#pragma once

#include "gpuopt/ops/attention_columns_host.h"
#include "gpuopt/ops/attention_tiles_host.h"

namespace gpuopt {
namespace detail {

// Adds the gradients of the scores of a tile to those of the bias, [sums.rows,
// sums.keys].
inline void add_to_bias(const BiasSums &sums, const TileOfQueries &t,
                        const float *ds, float *to) {
  for (int64_t i = 0; i < t.rows; i++) {
    const float *from = ds + i * t.row_size();
    float *row = to + (sums.rows > 1 ? (t.first_row + i) * sums.keys : 0);
    if (sums.keys > 1) {
      add_to_scores(row + t.first_key, from, 1, t.keys);
      continue;
    }
    Lanes<float> sum(0.0f);
    for (int64_t j = 0; j < t.keys; j += kLanes)
      sum = sum + masked(load(from + j, t.keys - j), t.keys - j, 0.0f);
    row[0] += reduce_sum(sum);
  }
}

// The parts that one tile of queries adds to the gradients: rows of dQ, and
// sums in dk and dv, dense [keys, size].
template <class T>
struct AttentionBackward {
  const AttentionShape &s;
  const AttentionGradientShape &g;
  const AttentionOptions &o;
  const T *q, *k, *v, *y, *dy;
  const float *statistics;
  T *dq, *dk, *dv;
  const BiasSums *sums; // null: the bias has no gradient

  // Computes the gradients of one batch element, and of the others that share
  // its keys; those of its bias are added to `of_bias`.
  void of_batch(BatchIndex batch, AttentionTiles::OfThread &own,
                float *of_bias) const {
    own.dk.assign(size_t(s.keys * s.key_size), 0);
    own.dv.assign(size_t(s.keys * s.value_size), 0);
    const TileOfQueries whole = tile_of_queries(s, batch, 0);
    const Keys keys = keys_of_batch(whole, own);
    for (int64_t head = 0; head < heads_of_group(s, g); head++, batch.of[2]++)
      for (int64_t row = 0; row < s.queries; row += rows_of_tile(s))
        of_tile(tile_of_queries(s, batch, row), own, keys, of_bias);
    store_rows(own.dk.data(), s.keys, s.key_size, dk + whole.offset(g.dk_batch),
               g.dk_row);
    store_rows(own.dv.data(), s.keys, s.value_size,
               dv + whole.offset(g.dv_batch), g.dv_row);
  }

  // Adds the gradients of the bias of one batch element to `of_bias`, and
  // computes no others.
  void bias_of_batch(const BatchIndex &batch, AttentionTiles::OfThread &own,
                     float *of_bias) const {
    const Keys keys = keys_of_batch(tile_of_queries(s, batch, 0), own);
    for (int64_t row = 0; row < s.queries; row += rows_of_tile(s)) {
      const TileOfQueries t = tile_of_queries(s, batch, row);
      score_gradients(t, own, operands(t, own, keys), /*adds_values=*/false);
      add_to_bias(*sums, t, own.gradients.data(), of_bias);
    }
  }

private:
  // All keys of a batch element and their values.
  struct Keys {
    FloatRows key, value;
  };
  Keys keys_of_batch(const TileOfQueries &whole,
                     AttentionTiles::OfThread &own) const {
    return {float_rows(k + whole.offset(s.k_batch), s.k_row, s.keys, s.key_size,
                       own.k),
            float_rows(v + whole.offset(s.v_batch), s.v_row, s.keys,
                       s.value_size, own.v)};
  }

  // The rows of a tile's queries, their gradients dY, and the keys and values
  // that they see.
  struct Operands {
    FloatRows query, gradient, key, value;
  };
  Operands operands(const TileOfQueries &t, AttentionTiles::OfThread &own,
                    Keys keys) const {
    keys.key.p += t.first_key * keys.key.row;
    keys.value.p += t.first_key * keys.value.row;
    return {float_rows(q + t.offset(s.q_batch) + t.first_row * s.q_row, s.q_row,
                       t.rows, s.key_size, own.q),
            float_rows(dy + t.offset(g.dy_batch) + t.first_row * g.dy_row,
                       g.dy_row, t.rows, s.value_size, own.dy),
            keys.key, keys.value};
  }

  void of_tile(const TileOfQueries &t, AttentionTiles::OfThread &own,
               const Keys &keys, float *of_bias) const {
    const Operands x = operands(t, own, keys);
    score_gradients(t, own, x, /*adds_values=*/true);
    float *ds = own.gradients.data();
    if (sums)
      add_to_bias(*sums, t, ds, of_bias);
    const int64_t row_size = t.row_size();
    const float *slopes = own.slopes.data();
    for (int64_t i = 0; o.softcap > 0 && i < t.rows * row_size; i += kLanes)
      store_vector(ds + i, load_vector(ds + i) * load_vector(slopes + i));
    const float scale = float(o.scale);
    tile_product('T', 'N', t.keys, s.key_size, t.rows, scale, {ds, row_size},
                 x.query, 1, own.dk.data() + t.first_key * s.key_size,
                 s.key_size);
    own.dq.resize(size_t(t.rows * s.key_size));
    tile_product('N', 'N', t.rows, s.key_size, t.keys, scale, {ds, row_size},
                 x.key, 0, own.dq.data(), s.key_size);
    store_rows(own.dq.data(), t.rows, s.key_size,
               dq + t.offset(g.dq_batch) + t.first_row * g.dq_row, g.dq_row);
  }

  // Computes the probabilities P of a tile in own.scores.
  void probabilities_of_tile(const TileOfQueries &t,
                             AttentionTiles::OfThread &own,
                             const Operands &x) const {
    const int64_t row_size = t.row_size();
    own.scores.resize(size_t(t.rows * row_size));
    own.slopes.resize(o.softcap > 0 ? size_t(t.rows * row_size) : 0);
    float *p = own.scores.data();
    tile_product('N', 'T', t.rows, t.keys, s.key_size, float(o.scale), x.query,
                 x.key, 0, p, row_size);
    for (int64_t i = 0; i < t.rows; i++) {
      if (o.softcap > 0)
        cap_row(o, p + i * row_size, own.slopes.data() + i * row_size,
                row_size);
      change_row(s, o, t, i, p + i * row_size);
      const float *of_row = statistics + t.row_of_batch(s) + i;
      probabilities(p + i * row_size, of_row[0], of_row[queries_of(s)],
                    row_size);
    }
  }

  // Computes the gradients dS of the capped scores of a tile in own.gradients,
  // and adds P^T dY to dV if `adds_values` says so.
  void score_gradients(const TileOfQueries &t, AttentionTiles::OfThread &own,
                       const Operands &x, bool adds_values) const {
    probabilities_of_tile(t, own, x);
    const int64_t row_size = t.row_size();
    own.gradients.resize(size_t(t.rows * row_size));
    float *p = own.scores.data(), *ds = own.gradients.data();
    const float *kept = p;
    if (o.dropout > 0 && adds_values) {
      for (int64_t i = 0; i < t.rows; i++)
        drop_row({s, o, t, i}, ds + i * row_size, p + i * row_size, t.keys);
      kept = ds;
    }
    if (adds_values)
      tile_product('T', 'N', t.keys, s.value_size, t.rows, 1, {kept, row_size},
                   x.gradient, 1, own.dv.data() + t.first_key * s.value_size,
                   s.value_size);
    tile_product('N', 'T', t.rows, t.keys, s.value_size, 1, x.gradient, x.value,
                 0, ds, row_size);
    const T *output = y + t.offset(s.y_batch) + t.first_row * s.y_row;
    for (int64_t i = 0; i < t.rows && o.dropout > 0; i++)
      drop_row({s, o, t, i}, ds + i * row_size, ds + i * row_size, t.keys);
    for (int64_t i = 0; i < t.rows; i++)
      score_gradients_of_row(
          t, i, p + i * row_size, ds + i * row_size,
          row_product(output + i * s.y_row, x.gradient.p + i * x.gradient.row));
  }

  static void store_rows(const float *from, int64_t rows, int64_t columns,
                         T *to, int64_t row) {
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j += kLanes)
        store(to + i * row + j, load(from + i * columns + j, columns - j),
              columns - j);
  }

  void probabilities(float *row, float most, float logarithm, int64_t n) const {
    if (most != -std::numeric_limits<float>::infinity())
      exponentials(row, most, logarithm, n);
    else
      std::fill(row, row + n,
                o.zeroes_empty ? 0 : std::numeric_limits<float>::quiet_NaN());
  }

  // Returns the sum of Y * dY over a row.
  float row_product(const T *output, const float *gradient) const {
    Lanes<float> sum(0.0f);
    for (int64_t j = 0; j < s.value_size; j += kLanes) {
      const int64_t n = s.value_size - j;
      sum = sum + masked(load(output + j, n) * load(gradient + j, n), n, 0.0f);
    }
    return reduce_sum(sum);
  }

  // ds = p * (ds - of_row), 0 where a mask has replaced the score.
  void score_gradients_of_row(const TileOfQueries &t, int64_t i, const float *p,
                              float *ds, float of_row) const {
    const Lanes<float> subtracted(of_row);
    const uint8_t *mask = o.mask ? o.mask + t.offset(s.mask_batch) +
                                       (t.first_row + i) * s.mask_row +
                                       t.first_key * s.mask_key
                                 : nullptr;
    for (int64_t j = 0; j < t.keys; j += kLanes) {
      auto x = load_vector(p + j) * (load_vector(ds + j) - subtracted);
      if (mask)
        x = select(
            load_mask_strided(mask + j * s.mask_key, s.mask_key, t.keys - j), x,
            0.0f);
      store_vector(ds + j, x);
    }
  }
};

// Computes all gradients but that of a bias. Each thread adds up the gradients
// of its keys and values over all queries.
template <class T>
void backward_without_bias(Context &ctx, const AttentionBackward<T> &backward) {
  const AttentionShape &s = backward.s;
  const int64_t heads = heads_of_group(s, backward.g);
  for_each_with_tiles(
      ctx, batch_elements(s) / heads, [&](int64_t i, auto &own) {
        backward.of_batch(batch_index(s, i * heads), own, nullptr);
      });
}

// Computes all gradients if that of the bias is one of them. A thread has a
// part of the sums for one batch element of the bias, and goes through the
// terms of this part in their order. If heads share keys, such a thread does
// not have all gradients of any key, so that these have a run of their own.
template <class T>
void backward_with_bias(Context &ctx, AttentionBackward<T> backward,
                        float *to) {
  const BiasSums &sums = *backward.sums;
  const bool shares_keys = heads_of_group(backward.s, backward.g) > 1;
  const int64_t size = sums.rows * sums.keys;
  auto &parts = ctx.library<AttentionTiles>().bias_parts;
  parts.assign(size_t(sums.parts * sums.elements()), 0);
  for_each_with_tiles(ctx, sums.parts * sums.count, [&](int64_t i, auto &own) {
    const int64_t part = i / sums.count;
    for (int64_t term = sums.first_term(part); term < sums.first_term(part + 1);
         term++) {
      BatchIndex batch;
      sums.find(i % sums.count, term, batch.of);
      if (shares_keys)
        backward.bias_of_batch(batch, own, parts.data() + i * size);
      else
        backward.of_batch(batch, own, parts.data() + i * size);
    }
  });
  std::copy_n(parts.data(), sums.elements(), to);
  for (int64_t part = 1; part < sums.parts; part++)
    add_to_scores(to, parts.data() + part * sums.elements(), 1,
                  sums.elements());
  backward.sums = nullptr;
  if (shares_keys)
    backward_without_bias(ctx, backward);
}

} // namespace detail

template <int HeadSize, AttentionScores Scores, class T>
void attention_backward(Context &ctx, const AttentionShape &shape,
                        const AttentionGradientShape &g, const T *q, const T *k,
                        const T *v, const T *y, const float *statistics,
                        const T *dy, T *dq, T *dk, T *dv,
                        AttentionOptions o = {}) {
  check_attention_kernels<HeadSize, Scores, T>(shape, o,
                                               /*has_aligned_rows=*/true);
  const AttentionShape s = detail::with_dense_bias(ctx, shape, o);
  const BiasSums sums(s, g);
  const detail::AttentionBackward<T> backward{s,
                                              g,
                                              o,
                                              q,
                                              k,
                                              v,
                                              y,
                                              dy,
                                              statistics,
                                              dq,
                                              dk,
                                              dv,
                                              o.bias_gradient ? &sums
                                                              : nullptr};
  if (o.bias_gradient)
    return detail::backward_with_bias(ctx, backward, o.bias_gradient);
  detail::backward_without_bias(ctx, backward);
  if (o.column_sums) {
    detail::add_up_columns(ctx, s, 0, s.key_size, dq, g.dq_batch, g.dq_row,
                           o.column_sums);
    detail::add_up_columns(ctx, s, 1, s.key_size, dk, g.dk_batch, g.dk_row,
                           o.column_sums);
    detail::add_up_columns(ctx, s, 2, s.value_size, dv, g.dv_batch, g.dv_row,
                           o.column_sums);
  }
}

} // namespace gpuopt
