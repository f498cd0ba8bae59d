// Attention on the host: a tile of queries at a time, whose scores stay in a
// core's cache, for up to some thousand keys. A tile has whole rows of scores,
// so the softmax is computed in one go. oneDNN computes the products of tiles,
// each on one thread; half precision is widened to float.
#pragma once

#include "gpuopt/device/onednn.h"
#include "gpuopt/kernels/elementary.h"
#include "gpuopt/ops/attention.h"
#include "gpuopt/ops/attention_columns_host.h"

#include <algorithm>
#include <exception>

namespace gpuopt {
namespace detail {

// Returns the number of queries of a tile. Its scores take at most 256 KiB,
// unless there are so many keys that a few rows take more.
inline int64_t rows_of_tile(const AttentionShape &s) {
  constexpr int64_t scores = 65536, least = 16, most = 128;
  const int64_t rows = std::clamp(scores / s.keys, least, most) / least * least;
  return std::min(rows, s.queries);
}

// The tiles of one thread, in float.
struct AttentionTiles {
  struct OfThread {
    std::vector<float> scores, gradients, slopes, q, k, v, y, dy, dq, dk, dv;
    std::vector<float> row_factors;
  };
  std::vector<OfThread> of_thread;
  std::vector<float> bias_parts; // of all threads
};

inline AttentionTiles::OfThread &own_tiles(AttentionTiles &tiles) {
#ifdef _OPENMP
  return tiles.of_thread[size_t(omp_get_thread_num())];
#else
  return tiles.of_thread[0];
#endif
}

inline int64_t queries_of(const AttentionShape &s) {
  return batch_elements(s) * s.queries;
}

// Rows of float: the tensor's own, or a copy.
struct FloatRows {
  const float *p;
  int64_t row;
};

template <class T>
FloatRows float_rows(const T *p, int64_t row, int64_t rows, int64_t columns,
                     std::vector<float> &copy) {
  if constexpr (std::is_same_v<T, float>) {
    if (row >= columns || rows == 1)
      return {p, std::max(row, columns)};
  }
  copy.resize(size_t(rows * columns));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j += kLanes)
      store(copy.data() + i * columns + j, load(p + i * row + j, columns - j),
            columns - j);
  return {copy.data(), columns};
}

// C = alpha op(A) op(B) + beta C. An operand is transposed where its letter is
// T, and taken as it is where it is N.
inline void tile_product(char transpose_a, char transpose_b, int64_t m,
                         int64_t n, int64_t k, float alpha, FloatRows a,
                         FloatRows b, float beta, float *c, int64_t c_row) {
  // Sizes and strides are valid, so the call can only fail for lack of memory
  // to pack operands.
  if (dnnl_sgemm(transpose_a, transpose_b, m, n, k, alpha, a.p, a.row, b.p,
                 b.row, beta, c, c_row) != dnnl_success)
    throw std::bad_alloc();
}

// The tensors of one tile of queries, and the keys that any of these queries
// sees.
struct TileOfQueries {
  int64_t batch[3], first_row, rows, first_key, keys;

  int64_t offset(const int64_t (&strides)[3]) const {
    return batch[0] * strides[0] + batch[1] * strides[1] +
           batch[2] * strides[2];
  }
  // Returns the row's number within a plane of the statistics.
  int64_t row_of_batch(const AttentionShape &s) const {
    const int64_t number =
        (batch[0] * s.batch[1] + batch[1]) * s.batch[2] + batch[2];
    return number * s.queries + first_row;
  }
};

struct BatchIndex {
  int64_t of[3];
};

inline BatchIndex batch_index(const AttentionShape &s, int64_t number) {
  return {{number / s.batch[2] / s.batch[1], number / s.batch[2] % s.batch[1],
           number % s.batch[2]}};
}

inline TileOfQueries tile_of_queries(const AttentionShape &s,
                                     const BatchIndex &batch,
                                     int64_t first_row) {
  TileOfQueries t;
  std::copy(batch.of, batch.of + 3, t.batch);
  t.first_row = first_row;
  t.rows = std::min(rows_of_tile(s), s.queries - first_row);
  t.first_key = std::clamp<int64_t>(first_row + s.first_key, 0, s.keys);
  const int64_t end = std::clamp<int64_t>(
      first_row + t.rows - 1 + s.last_key + 1, t.first_key, s.keys);
  t.keys = end - t.first_key;
  return t;
}

// scores += x, whose elements are `stride` apart
inline void add_to_scores(float *scores, const float *x, int64_t stride,
                          int64_t n) {
  for (int64_t j = 0; j < n; j += kLanes)
    store(scores + j,
          load(scores + j, n - j) + load_strided(x + j * stride, stride, n - j),
          n - j);
}

// Replaces n scaled scores by softcap * tanh(score / softcap), and writes the
// derivatives to `slopes`, which may be null.
inline void cap_row(const AttentionOptions &o, float *scores, float *slopes,
                    int64_t n) {
  const Lanes<float> cap(float(o.softcap)), inverse(float(1 / o.softcap));
  for (int64_t j = 0; j < n; j += kLanes) {
    const auto t = tanh(load(scores + j, n - j) * inverse);
    store(scores + j, t * cap, n - j);
    if (slopes)
      store(slopes + j, Lanes<float>(1) - t * t, n - j);
  }
}

// Adds the bias and the added mask, and replaces the scores of hidden keys.
inline void change_row(const AttentionShape &s, const AttentionOptions &o,
                       const TileOfQueries &t, int64_t row, float *scores) {
  const int64_t query = t.first_row + row, at = t.offset(s.mask_batch) +
                                                query * s.mask_row +
                                                t.first_key * s.mask_key;
  if (o.bias)
    add_to_scores(scores,
                  o.bias + t.offset(s.bias_batch) + query * s.bias_row +
                      t.first_key * s.bias_key,
                  s.bias_key, t.keys);
  if (o.added_mask)
    add_to_scores(scores, o.added_mask + at, s.mask_key, t.keys);
  if (o.mask)
    for (int64_t j = 0; j < t.keys; j += kLanes) {
      const uint8_t *mask = o.mask + at + j * s.mask_key;
      const auto seen = s.mask_key == 1
                            ? load_mask(mask, t.keys - j)
                            : load_mask_strided(mask, s.mask_key, t.keys - j);
      store(scores + j,
            select(seen, load(scores + j, t.keys - j), float(o.masked_value)),
            t.keys - j);
    }
  // The edges of the band within the tile.
  const float hidden = -std::numeric_limits<float>::infinity();
  const int64_t first = std::clamp<int64_t>(query + s.first_key - t.first_key,
                                            0, t.keys),
                end = std::clamp<int64_t>(query + s.last_key + 1 - t.first_key,
                                          0, t.keys);
  std::fill(scores, scores + first, hidden);
  std::fill(scores + end, scores + t.keys, hidden);
}

inline float largest_of(const float *row, int64_t n) {
  const float least = -std::numeric_limits<float>::infinity();
  Lanes<float> most(least);
  for (int64_t j = 0; j < n; j += kLanes)
    most = max(most, masked(load(row + j, n - j), n - j, least));
  return reduce_max(most);
}

// The factors of a row's probabilities: 0 where dropout drops one.
class DropoutOfRow {
public:
  DropoutOfRow(const AttentionShape &s, const AttentionOptions &o,
               const TileOfQueries &t, int64_t row)
      : o(o), first_element((t.row_of_batch(s) + row) * s.keys + t.first_key) {}

  Lanes<float> factors(int64_t key) const {
    const auto draw =
        random_uniform(o.state->seed, o.stream, uint64_t(o.state->draw),
                       iota<int64_t>(first_element + key));
    return select(draw >= Lanes<float>(float(o.dropout)),
                  float(1 / (1 - o.dropout)), 0.0f);
  }

private:
  const AttentionOptions &o;
  int64_t first_element;
};

// to = from * factors
inline void drop_row(const DropoutOfRow &dropout, float *to, const float *from,
                     int64_t n) {
  for (int64_t j = 0; j < n; j += kLanes)
    store(to + j, load(from + j, n - j) * dropout.factors(j), n - j);
}

// row = exp(row - most - logarithm); returns the sum.
inline float exponentials(float *row, float most, float logarithm, int64_t n) {
  Lanes<float> sum(0.0f);
  for (int64_t j = 0; j < n; j += kLanes) {
    const auto e = exp((load(row + j, n - j) - Lanes<float>(most)) -
                       Lanes<float>(logarithm));
    store(row + j, e, n - j);
    sum = sum + masked(e, n - j, 0.0f);
  }
  return reduce_sum(sum);
}

template <class T>
void attention_of_tile(const AttentionShape &s, const AttentionOptions &o,
                       const TileOfQueries &t, AttentionTiles::OfThread &own,
                       const T *q, const T *k, const T *v, T *y,
                       float *statistics) {
  own.scores.resize(size_t(t.rows * t.keys));
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
               0, scores, t.keys);
  own.row_factors.resize(size_t(t.rows));
  for (int64_t i = 0; i < t.rows; i++) {
    float *row = scores + i * t.keys;
    if (o.softcap > 0)
      cap_row(o, row, nullptr, t.keys);
    change_row(s, o, t, i, row);
    const float most = largest_of(row, t.keys);
    const bool is_empty = most == -std::numeric_limits<float>::infinity();
    const float sum = exponentials(row, is_empty ? 0 : most, 0, t.keys);
    own.row_factors[size_t(i)] = is_empty && o.zeroes_empty ? 0 : 1 / sum;
    statistics[t.row_of_batch(s) + i] = most;
    statistics[t.row_of_batch(s) + i + queries_of(s)] = logf(sum);
    if (o.dropout > 0)
      drop_row({s, o, t, i}, row, row, t.keys);
  }
  own.y.resize(size_t(t.rows * s.value_size));
  tile_product('N', 'N', t.rows, s.value_size, t.keys, 1, {scores, t.keys},
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

// Adds the gradients of the scores of a tile to those of the bias, [sums.rows,
// sums.keys].
inline void add_to_bias(const BiasSums &sums, const TileOfQueries &t,
                        const float *ds, float *to) {
  for (int64_t i = 0; i < t.rows; i++) {
    const float *from = ds + i * t.keys;
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

// What one tile of queries adds to the gradients: rows of dQ, and sums in dk
// and dv, dense [keys, size].
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
    for (int64_t i = 0; o.softcap > 0 && i < t.rows * t.keys; i += kLanes) {
      const int64_t n = t.rows * t.keys - i;
      store(ds + i, load(ds + i, n) * load(own.slopes.data() + i, n), n);
    }
    const float scale = float(o.scale);
    tile_product('T', 'N', t.keys, s.key_size, t.rows, scale, {ds, t.keys},
                 x.query, 1, own.dk.data() + t.first_key * s.key_size,
                 s.key_size);
    own.dq.resize(size_t(t.rows * s.key_size));
    tile_product('N', 'N', t.rows, s.key_size, t.keys, scale, {ds, t.keys},
                 x.key, 0, own.dq.data(), s.key_size);
    store_rows(own.dq.data(), t.rows, s.key_size,
               dq + t.offset(g.dq_batch) + t.first_row * g.dq_row, g.dq_row);
  }

  // Computes the probabilities P of a tile in own.scores.
  void probabilities_of_tile(const TileOfQueries &t,
                             AttentionTiles::OfThread &own,
                             const Operands &x) const {
    own.scores.resize(size_t(t.rows * t.keys));
    own.slopes.resize(o.softcap > 0 ? own.scores.size() : 0);
    float *p = own.scores.data();
    tile_product('N', 'T', t.rows, t.keys, s.key_size, float(o.scale), x.query,
                 x.key, 0, p, t.keys);
    for (int64_t i = 0; i < t.rows; i++) {
      if (o.softcap > 0)
        cap_row(o, p + i * t.keys, own.slopes.data() + i * t.keys, t.keys);
      change_row(s, o, t, i, p + i * t.keys);
      const float *of_row = statistics + t.row_of_batch(s) + i;
      probabilities(p + i * t.keys, of_row[0], of_row[queries_of(s)], t.keys);
    }
  }

  // Computes the gradients dS of the capped scores of a tile in own.gradients,
  // and adds P^T dY to dV if `adds_values` says so.
  void score_gradients(const TileOfQueries &t, AttentionTiles::OfThread &own,
                       const Operands &x, bool adds_values) const {
    probabilities_of_tile(t, own, x);
    own.gradients.resize(own.scores.size());
    float *p = own.scores.data(), *ds = own.gradients.data();
    const float *kept = p;
    if (o.dropout > 0 && adds_values) {
      for (int64_t i = 0; i < t.rows; i++)
        drop_row({s, o, t, i}, ds + i * t.keys, p + i * t.keys, t.keys);
      kept = ds;
    }
    if (adds_values)
      tile_product('T', 'N', t.keys, s.value_size, t.rows, 1, {kept, t.keys},
                   x.gradient, 1, own.dv.data() + t.first_key * s.value_size,
                   s.value_size);
    tile_product('N', 'T', t.rows, t.keys, s.value_size, 1, x.gradient, x.value,
                 0, ds, t.keys);
    const T *output = y + t.offset(s.y_batch) + t.first_row * s.y_row;
    for (int64_t i = 0; i < t.rows && o.dropout > 0; i++)
      drop_row({s, o, t, i}, ds + i * t.keys, ds + i * t.keys, t.keys);
    for (int64_t i = 0; i < t.rows; i++)
      score_gradients_of_row(
          t, i, p + i * t.keys, ds + i * t.keys,
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
      const int64_t n = t.keys - j;
      auto x = load(p + j, n) * (load(ds + j, n) - subtracted);
      if (mask)
        x = select(load_mask_strided(mask + j * s.mask_key, s.mask_key, n), x,
                   0.0f);
      store(ds + j, x, n);
    }
  }
};

// Runs `compute(i, tiles)` for each i below `count`, with the tiles of the
// thread that runs it.
template <class Compute>
void for_each_with_tiles(Context &ctx, int64_t count, Compute compute) {
  auto &tiles = ctx.library<AttentionTiles>();
  tiles.of_thread.resize(size_t(ctx.num_threads));
  std::exception_ptr error; // must not leave the parallel region
#pragma omp parallel for schedule(dynamic) num_threads(ctx.num_threads)
  for (int64_t i = 0; i < count; i++) {
    try {
      compute(i, own_tiles(tiles));
    } catch (...) {
#pragma omp critical
      error = std::current_exception();
    }
  }
  if (error)
    std::rethrow_exception(error);
}

} // namespace detail

template <class T>
void attention(Context &ctx, const AttentionShape &s, const T *q, const T *k,
               const T *v, T *y, float *statistics, AttentionOptions o = {}) {
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

namespace detail {

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

template <class T>
void attention_backward(Context &ctx, const AttentionShape &s,
                        const AttentionGradientShape &g, const T *q, const T *k,
                        const T *v, const T *y, const float *statistics,
                        const T *dy, T *dq, T *dk, T *dv,
                        AttentionOptions o = {}) {
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
