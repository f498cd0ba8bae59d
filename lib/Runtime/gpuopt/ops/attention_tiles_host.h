// Tiles of attention on the host: their products, their scores, and the threads
// that work on them.
#pragma once

#include "gpuopt/device/onednn.h"
#include "gpuopt/kernels/elementary.h"
#include "gpuopt/ops/attention.h"

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

// Floats that begin at a line of the cache. A vector of them lies in one line,
// then, if its place is a multiple of kLanes.
class AlignedFloats {
public:
  void resize(size_t size) { memory.resize(size + kLine); }
  float *data() {
    const auto begin = reinterpret_cast<uintptr_t>(memory.data());
    const size_t past = begin / sizeof(float) % kLine;
    return memory.data() + (past ? kLine - past : 0);
  }

private:
  static constexpr size_t kLine = 64 / sizeof(float);
  std::vector<float> memory;
};

// The tiles of one thread, in float.
struct AttentionTiles {
  struct OfThread {
    AlignedFloats scores, gradients, slopes;
    std::vector<float> q, k, v, y, dy, dq, dk, dv;
    std::vector<float> row_factors;
  };
  std::vector<OfThread> of_thread;
  std::vector<float> bias_parts; // of all threads
  std::vector<float> dense_bias;
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

  // Returns the elements from one row of scores to the next: whole vectors.
  // What is behind the keys in the last one is minus infinity in scores, and
  // anything in their gradients. A vector is stored whole even there, because a
  // processor cannot load early what a store with a mask may still change.
  int64_t row_size() const { return ceil_div(keys, kLanes) * kLanes; }

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

// Replaces n scaled scores, which are whole vectors, by softcap * tanh(score /
// softcap), and writes the derivatives to `slopes`, which may be null.
inline void cap_row(const AttentionOptions &o, float *scores, float *slopes,
                    int64_t n) {
  const Lanes<float> cap(float(o.softcap)), inverse(float(1 / o.softcap));
  for (int64_t j = 0; j < n; j += kLanes) {
    const auto t = tanh(load_vector(scores + j) * inverse);
    store_vector(scores + j, t * cap);
    if (slopes)
      store_vector(slopes + j, Lanes<float>(1) - t * t);
  }
}

// Adds n elements of x, which are `stride` apart, to a row of scores.
inline void add_to_row(float *scores, const float *x, int64_t stride,
                       int64_t n) {
  for (int64_t j = 0; j < n; j += kLanes)
    store_vector(scores + j, load_vector(scores + j) +
                                 load_strided(x + j * stride, stride, n - j));
}

// Replaces the scores of a row before `begin` and from `end` on.
inline void hide_outside(float *scores, int64_t begin, int64_t end,
                         int64_t row_size) {
  const float hidden = -std::numeric_limits<float>::infinity();
  for (int64_t j = 0; j < row_size; j += kLanes)
    if (j < begin || j + kLanes > end)
      store_vector(scores + j, select(first(end - j) & !first(begin - j),
                                      load_vector(scores + j), hidden));
}

// Adds the bias and the added mask, and replaces the scores of hidden keys.
inline void change_row(const AttentionShape &s, const AttentionOptions &o,
                       const TileOfQueries &t, int64_t row, float *scores) {
  const int64_t query = t.first_row + row, at = t.offset(s.mask_batch) +
                                                query * s.mask_row +
                                                t.first_key * s.mask_key;
  if (o.bias)
    add_to_row(scores,
               o.bias + t.offset(s.bias_batch) + query * s.bias_row +
                   t.first_key * s.bias_key,
               s.bias_key, t.keys);
  if (o.added_mask)
    add_to_row(scores, o.added_mask + at, s.mask_key, t.keys);
  if (o.mask)
    for (int64_t j = 0; j < t.keys; j += kLanes) {
      const uint8_t *mask = o.mask + at + j * s.mask_key;
      const auto seen = s.mask_key == 1
                            ? load_mask(mask, t.keys - j)
                            : load_mask_strided(mask, s.mask_key, t.keys - j);
      store_vector(scores + j, select(seen, load_vector(scores + j),
                                      float(o.masked_value)));
    }
  // The edges of the band within the tile.
  hide_outside(
      scores, std::clamp<int64_t>(query + s.first_key - t.first_key, 0, t.keys),
      std::clamp<int64_t>(query + s.last_key + 1 - t.first_key, 0, t.keys),
      t.row_size());
}

// Returns the largest of n scores, which are whole vectors.
inline float largest_of(const float *row, int64_t n) {
  Lanes<float> most(-std::numeric_limits<float>::infinity());
  for (int64_t j = 0; j < n; j += kLanes)
    most = max(most, load_vector(row + j));
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

// row = exp(row - most - logarithm), of n scores, which are whole vectors;
// returns the sum.
inline float exponentials(float *row, float most, float logarithm, int64_t n) {
  Lanes<float> sum(0.0f);
  for (int64_t j = 0; j < n; j += kLanes) {
    const auto e = exp((load_vector(row + j) - Lanes<float>(most)) -
                       Lanes<float>(logarithm));
    store_vector(row + j, e);
    sum = sum + e;
  }
  return reduce_sum(sum);
}

// Returns the shape with a bias whose keys lie side by side, and has o.bias
// name a copy where they do not. Windows share their biases, so what is read
// with a stride here is read many times there.
inline AttentionShape with_dense_bias(Context &ctx, AttentionShape s,
                                      AttentionOptions &o) {
  if (!o.bias || s.keys == 0 || s.bias_key == 0 || s.bias_key == 1)
    return s;
  const AttentionShape from = s;
  const int64_t rows = s.bias_row != 0 ? s.queries : 1;
  int64_t size = rows * s.keys, sizes[3];
  s.bias_key = 1;
  s.bias_row = s.bias_row != 0 ? s.keys : 0;
  for (int i : {2, 1, 0}) {
    sizes[i] = from.bias_batch[i] != 0 ? s.batch[i] : 1;
    s.bias_batch[i] = from.bias_batch[i] != 0 ? size : 0;
    size *= sizes[i];
  }
  auto &dense = ctx.library<AttentionTiles>().dense_bias;
  dense.resize(std::max(dense.size(), size_t(size)));
  float *to = dense.data();
#pragma omp parallel for schedule(static) num_threads(ctx.num_threads)
  for (int64_t row = 0; row < size / s.keys; row++) {
    const int64_t i = row % rows, head = row / rows, inner = head % sizes[2],
                  middle = head / sizes[2] % sizes[1],
                  outer = head / sizes[2] / sizes[1];
    const float *x = o.bias + outer * from.bias_batch[0] +
                     middle * from.bias_batch[1] + inner * from.bias_batch[2] +
                     i * from.bias_row;
    for (int64_t j = 0; j < s.keys; j += kLanes)
      store(to + row * s.keys + j,
            load_strided(x + j * from.bias_key, from.bias_key, s.keys - j),
            s.keys - j);
  }
  o.bias = to;
  return s;
}

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
} // namespace gpuopt
