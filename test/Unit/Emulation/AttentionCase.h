// Cases of attention for tests on the emulated machine: where the tensors lie,
// the formula in double precision, a run of the kernels, and the comparison.
#pragma once

#include "AttentionKernels.h"
#include "Machine.h"

#include "../Runtime/Values.h"

#include <cmath>
#include <functional>

namespace gpuopt {

// ---- A case ----------------------------------------------------------------

// Q, K and V lie in one projection [batch 0, rows, 3, batch 1, size], as
// transformers have it, or apart.
struct Case {
  int64_t queries = 64, keys = 64, key_size = 64, value_size = 64;
  int64_t batch[3] = {1, 1, 1};
  bool is_fused = false;
  bool sums_columns = false; // of the gradients
  bool shares_keys = false;  // by all elements of the last batch dimension
  int64_t gap = 0;           // elements between rows that nobody may touch
  int64_t y_gap = 0;         // more of them between those of Y and dY
  int64_t shift = 0;         // elements before the first one
  int64_t first_key = -kMostAttentionRows, last_key = kMostAttentionRows;
  double scale = 0.125;
  double softcap = 0;
  // What changes scores, and in which of the dimensions [batch 0, batch 1,
  // batch 2, queries, keys] it is broadcast. A bias has a gradient.
  enum class Extra { None, Mask, AddedMask } extra = Extra::None;
  bool is_broadcast[5] = {};
  bool has_bias = false;
  bool is_bias_broadcast[5] = {};
  double masked_value = -INFINITY;
  // Rows 3 and 40 of the first batch element have `masked_value` for all keys.
  bool has_empty_rows = false;
  bool zeroes_empty = false;
  double dropout = 0;
};

inline double wide(float x) { return double(x); }
inline double wide(tf32 x) { return double(x.value); }
inline double wide(f16 x) { return double(widen(x)); }
inline double wide(bf16 x) { return double(widen(x)); }

// An element of the batch.
struct Batch {
  int64_t index[3];

  Batch(const Case &c, int64_t number)
      : index{number / c.batch[2] / c.batch[1],
              number / c.batch[2] % c.batch[1], number % c.batch[2]} {}
  int64_t offset(const int64_t (&strides)[3]) const {
    return index[0] * strides[0] + index[1] * strides[1] +
           index[2] * strides[2];
  }
};
inline int64_t batch_elements(const Case &c) {
  return c.batch[0] * c.batch[1] * c.batch[2];
}

// A [batch, rows, size] tensor in a buffer of some elements.
struct Place {
  int64_t offset = 0, batch[3] = {}, row = 0, elements = 0;

  size_t at(const Batch &b, int64_t r, int64_t c) const {
    return size_t(offset + b.offset(batch) + r * row + c);
  }
};

inline Place apart(const Case &c, int64_t rows, int64_t size,
                   bool is_shared = false, int64_t more_gap = 0) {
  Place p;
  p.offset = c.shift;
  p.row = size + c.gap + more_gap;
  p.batch[2] = is_shared ? 0 : rows * p.row;
  p.batch[1] = (is_shared ? 1 : c.batch[2]) * rows * p.row;
  p.batch[0] = c.batch[1] * p.batch[1];
  p.elements = p.offset + c.batch[0] * p.batch[0];
  return p;
}
inline Place third_of_projection(const Case &c, int64_t which) {
  Place p;
  p.batch[1] = c.key_size;
  p.row = 3 * c.batch[1] * c.key_size;
  p.batch[0] = c.queries * p.row;
  p.offset = which * c.batch[1] * c.key_size;
  p.elements = c.batch[0] * p.batch[0];
  return p;
}

struct Places {
  Place q, k, v, y;

  explicit Places(const Case &c)
      : q(c.is_fused ? third_of_projection(c, 0)
                     : apart(c, c.queries, c.key_size)),
        k(c.is_fused ? third_of_projection(c, 1)
                     : apart(c, c.keys, c.key_size, c.shares_keys)),
        v(c.is_fused ? third_of_projection(c, 2)
                     : apart(c, c.keys, c.value_size, c.shares_keys)),
        y(apart(c, c.queries, c.value_size, false, c.y_gap)) {}
};

inline void set(int64_t (&batch)[3], int64_t &row, const Place &p) {
  std::copy(p.batch, p.batch + 3, batch);
  row = p.row;
}

// Strides of a mask or a bias, and how many elements it has.
struct MaskPlace {
  int64_t batch[3], row, key, elements = 1;

  MaskPlace(const Case &c, const bool (&is_broadcast)[5]) {
    const int64_t size[5] = {c.batch[0], c.batch[1], c.batch[2], c.queries,
                             c.keys};
    int64_t *stride[5] = {&batch[0], &batch[1], &batch[2], &row, &key};
    for (int d = 4; d >= 0; d--) {
      *stride[d] = is_broadcast[d] ? 0 : elements;
      elements *= is_broadcast[d] ? 1 : size[d];
    }
  }
  size_t at(const Batch &b, int64_t q, int64_t k) const {
    return size_t(b.offset(batch) + q * row + k * key);
  }
};
inline MaskPlace mask_place(const Case &c) { return {c, c.is_broadcast}; }
inline MaskPlace bias_place(const Case &c) { return {c, c.is_bias_broadcast}; }

inline AttentionShape shape_of(const Case &c) {
  AttentionShape s{};
  const Places p(c);
  const MaskPlace mask = mask_place(c), bias = bias_place(c);
  std::copy(c.batch, c.batch + 3, s.batch);
  s.queries = c.queries;
  s.keys = c.keys;
  s.key_size = c.key_size;
  s.value_size = c.value_size;
  set(s.q_batch, s.q_row, p.q);
  set(s.k_batch, s.k_row, p.k);
  set(s.v_batch, s.v_row, p.v);
  set(s.y_batch, s.y_row, p.y);
  std::copy(mask.batch, mask.batch + 3, s.mask_batch);
  s.mask_row = mask.row;
  s.mask_key = mask.key;
  std::copy(bias.batch, bias.batch + 3, s.bias_batch);
  s.bias_row = bias.row;
  s.bias_key = bias.key;
  s.first_key = c.first_key;
  s.last_key = c.last_key;
  return s;
}
constexpr uint64_t kSeed = 77;
constexpr int64_t kDraw = 3;
constexpr uint32_t kStream = 9;

// What the probability of an element is multiplied with.
inline double dropout_factor(const Case &c, int64_t batch, int64_t query,
                             int64_t key) {
  if (c.dropout == 0)
    return 1;
  const int64_t element = (batch * c.queries + query) * c.keys + key;
  const Lanes<float> numbers =
      random_uniform(kSeed, kStream, uint64_t(kDraw), Lanes<int64_t>(element));
  return numbers.part[0] >= float(c.dropout) ? 1 / (1 - c.dropout) : 0;
}

// Gradients lie as the tensors do.
inline AttentionGradientShape gradients_of(const Case &c) {
  AttentionGradientShape g{};
  const Places p(c);
  set(g.dy_batch, g.dy_row, p.y);
  set(g.dq_batch, g.dq_row, p.q);
  set(g.dk_batch, g.dk_row, p.k);
  set(g.dv_batch, g.dv_row, p.v);
  const MaskPlace bias = bias_place(c);
  std::copy(bias.batch, bias.batch + 3, g.dbias_batch);
  g.dbias_row = bias.row;
  g.dbias_key = bias.key;
  return g;
}

// ---- What goes in, and what comes out --------------------------------------

template <class T>
struct Inputs {
  std::vector<T> q, k, v, dy; // of a projection, all of it is in q
  std::vector<uint8_t> mask;
  std::vector<float> added_mask, bias;

  explicit Inputs(const Case &c) {
    const Places p(c);
    q = random_values<T>(size_t(p.q.elements), 1);
    k = c.is_fused ? q : random_values<T>(size_t(p.k.elements), 2);
    v = c.is_fused ? q : random_values<T>(size_t(p.v.elements), 3);
    dy = random_values<T>(size_t(p.y.elements), 4);
    const MaskPlace place = mask_place(c);
    const auto random = random_values<float>(size_t(place.elements), 5);
    for (float x : random)
      mask.push_back(x > -0.5f);
    added_mask = random;
    bias = random_values<float>(size_t(bias_place(c).elements), 6);
    for (int64_t row : {3, 40}) // of the first batch element
      for (int64_t key = 0; key < c.keys; key++)
        if (c.has_empty_rows && row < c.queries) {
          mask[place.at(Batch(c, 0), row, key)] = 0;
          added_mask[place.at(Batch(c, 0), row, key)] = float(c.masked_value);
        }
  }
};

// [batch, rows, columns], dense; the gradient of the bias as the bias lies.
struct Results {
  std::vector<double> y, dq, dk, dv, dbias;
};

// The first batch element with the keys of an element.
inline int64_t owner_of_keys(const Case &c, int64_t batch) {
  return c.shares_keys ? batch / c.batch[2] * c.batch[2] : batch;
}

// Copies the gradients of keys or values to all elements that share them.
inline void repeat_gradients(const Case &c, std::vector<double> &x) {
  const auto size = std::ptrdiff_t(x.size()) / batch_elements(c);
  for (int64_t b = 0; b < batch_elements(c); b++)
    std::copy_n(x.begin() + owner_of_keys(c, b) * size, size,
                x.begin() + b * size);
}

// The scores of a query, and what the backward needs of them.
struct ScoreRow {
  explicit ScoreRow(const Case &c)
      : score(size_t(c.keys), -INFINITY), slope(score.size(), 1),
        sees(score.size()), passes(score.size()) {}

  double probability(int64_t j) const {
    return is_zero || !sees[size_t(j)] ? 0
                                       : std::exp(score[size_t(j)] - top) / sum;
  }

  std::vector<double> score, slope;
  std::vector<bool> sees, passes; // whether a gradient passes to the product
  double top = -INFINITY, sum = 0;
  bool is_zero = false;
};

template <class T>
ScoreRow scores_of_query(const Case &c, const Inputs<T> &in, const Batch &batch,
                         int64_t i) {
  const Places p(c);
  const MaskPlace mask = mask_place(c), bias = bias_place(c);
  ScoreRow row(c);
  for (int64_t j = 0; j < c.keys; j++) {
    const auto at = size_t(j);
    row.sees[at] = row.passes[at] = j - i >= c.first_key && j - i <= c.last_key;
    if (!row.sees[at])
      continue;
    double x = 0;
    for (int64_t e = 0; e < c.key_size; e++)
      x += wide(in.q[p.q.at(batch, i, e)]) * wide(in.k[p.k.at(batch, j, e)]);
    x *= c.scale;
    if (c.softcap > 0) {
      const double t = std::tanh(x / c.softcap);
      x = c.softcap * t;
      row.slope[at] = 1 - t * t;
    }
    if (c.has_bias)
      x += double(in.bias[bias.at(batch, i, j)]);
    if (c.extra == Case::Extra::AddedMask) {
      // A score is an f32: a mask of -1e9 leaves nothing of a product.
      x = double(float(x + double(in.added_mask[mask.at(batch, i, j)])));
    } else if (c.extra == Case::Extra::Mask && !in.mask[mask.at(batch, i, j)]) {
      x = c.masked_value;
      row.passes[at] = false;
    }
    row.score[at] = x;
    row.top = std::max(row.top, x);
  }
  row.is_zero = row.top == -INFINITY && c.zeroes_empty;
  for (int64_t j = 0; j < c.keys; j++)
    if (row.sees[size_t(j)])
      row.sum += std::exp(row.score[size_t(j)] - row.top);
  return row;
}

template <class T>
Results reference(const Case &c, const Inputs<T> &in) {
  const Places p(c);
  const MaskPlace bias = bias_place(c);
  Results out;
  const int64_t count = batch_elements(c);
  out.dbias.resize(in.bias.size());
  out.y.resize(size_t(count * c.queries * c.value_size));
  out.dq.resize(size_t(count * c.queries * c.key_size));
  out.dk.resize(size_t(count * c.keys * c.key_size));
  out.dv.resize(size_t(count * c.keys * c.value_size));
  for (int64_t b = 0; b < count; b++) {
    const Batch at_batch(c, b);
    double *y = out.y.data() + b * c.queries * c.value_size;
    double *dq = out.dq.data() + b * c.queries * c.key_size;
    const int64_t owner = owner_of_keys(c, b);
    double *dk = out.dk.data() + owner * c.keys * c.key_size;
    double *dv = out.dv.data() + owner * c.keys * c.value_size;
    for (int64_t i = 0; i < c.queries; i++) {
      const ScoreRow row = scores_of_query(c, in, at_batch, i);
      std::vector<double> dp(size_t(c.keys));
      double delta = 0;
      for (int64_t j = 0; j < c.keys; j++) {
        const double factor = dropout_factor(c, b, i, j);
        for (int64_t e = 0; e < c.value_size; e++) {
          const double dy = wide(in.dy[p.y.at(at_batch, i, e)]);
          const double v = wide(in.v[p.v.at(at_batch, j, e)]);
          if (!row.sees[size_t(j)])
            continue;
          y[i * c.value_size + e] += factor * row.probability(j) * v;
          dv[j * c.value_size + e] += factor * row.probability(j) * dy;
          dp[size_t(j)] += factor * dy * v;
        }
      }
      for (int64_t j = 0; j < c.keys; j++)
        if (row.sees[size_t(j)])
          delta += row.probability(j) * dp[size_t(j)];
      for (int64_t j = 0; j < c.keys; j++) {
        if (!row.passes[size_t(j)])
          continue;
        const double of_score = row.probability(j) * (dp[size_t(j)] - delta);
        const double ds = c.scale * row.slope[size_t(j)] * of_score;
        out.dbias[bias.at(at_batch, i, j)] += of_score;
        for (int64_t e = 0; e < c.key_size; e++) {
          dq[i * c.key_size + e] += ds * wide(in.k[p.k.at(at_batch, j, e)]);
          dk[j * c.key_size + e] += ds * wide(in.q[p.q.at(at_batch, i, e)]);
        }
      }
    }
  }
  repeat_gradients(c, out.dk);
  repeat_gradients(c, out.dv);
  return out;
}

// What the kernels wrote, as they wrote it.
template <class T>
struct Outputs {
  std::vector<T> y, dq, dk, dv; // of a projection, all of it is in dq
  std::vector<float> dbias, column_sums;

  Results results(const Case &c) const {
    const Places p(c);
    Results out;
    const auto gather = [&](const std::vector<T> &from, const Place &place,
                            int64_t rows, int64_t size) {
      std::vector<double> to;
      for (int64_t b = 0; b < batch_elements(c); b++)
        for (int64_t r = 0; r < rows; r++)
          for (int64_t e = 0; e < size; e++)
            to.push_back(wide(from[place.at(Batch(c, b), r, e)]));
      return to;
    };
    out.y = gather(y, p.y, c.queries, c.value_size);
    out.dq = gather(dq, p.q, c.queries, c.key_size);
    out.dk = gather(c.is_fused ? dq : dk, p.k, c.keys, c.key_size);
    out.dv = gather(c.is_fused ? dq : dv, p.v, c.keys, c.value_size);
    out.dbias.assign(dbias.begin(), dbias.end());
    return out;
  }
};

// What a test does with the context of a run.
struct ContextHooks {
  std::function<void(Context &)> before = [](Context &) {};
  std::function<void(Context &)> after = [](Context &) {};
};

// Most GPUs have no kernels for warpgroups; the emulated one has.
inline void without_warpgroups(Context &ctx) {
  EXPECT_TRUE(ctx.multiplies_by_warpgroups);
  ctx.multiplies_by_warpgroups = false;
}

template <class T>
Outputs<T> run(const Case &c, const Inputs<T> &in,
               const ContextHooks &hooks = {}) {
  const Places p(c);
  const AttentionShape shape = shape_of(c);
  const AttentionGradientShape gradients = gradients_of(c);
  Context ctx;
  const OnDevice<char> workspace(
      size_t(attention_workspace(shape) +
             (c.has_bias ? bias_gradient_workspace(shape, gradients) : 0)));
  ctx.use_workspace(workspace.data, workspace.n);
  hooks.before(ctx);
  const OnDevice<T> q(in.q), k(in.k), v(in.v), dy(in.dy);
  const OnDevice<uint8_t> mask(in.mask);
  const OnDevice<float> added_mask(in.added_mask), bias(in.bias),
      dbias(in.bias.size());
  const OnDevice<T> y(in.dy.size()), dq(in.q.size()), dk(in.k.size()),
      dv(in.v.size());
  const AttentionColumns columns(shape);
  const OnDevice<float> column_sums(
      c.sums_columns ? size_t(c.batch[0] * columns.tiles * columns.columns)
                     : 1);
  const OnDevice<float> statistics(size_t(2 * batch_elements(c) * c.queries));
  StepState begun{};
  begun.seed = kSeed;
  begun.draw = kDraw;
  const OnDevice<StepState> state(std::vector<StepState>{begun});
  cudaDeviceSynchronize();
  AttentionOptions o;
  o.scale = c.scale;
  o.softcap = c.softcap;
  o.mask = c.extra == Case::Extra::Mask ? mask.data : nullptr;
  o.added_mask = c.extra == Case::Extra::AddedMask ? added_mask.data : nullptr;
  o.bias = c.has_bias ? bias.data : nullptr;
  o.bias_gradient = c.has_bias ? dbias.data : nullptr;
  o.column_sums = c.sums_columns ? column_sums.data : nullptr;
  o.masked_value = c.masked_value;
  o.zeroes_empty = c.zeroes_empty;
  o.dropout = c.dropout;
  o.stream = kStream;
  o.state = state.data;
  const T *of_q = q.data + p.q.offset;
  const T *of_k = (c.is_fused ? q.data : k.data) + p.k.offset;
  const T *of_v = (c.is_fused ? q.data : v.data) + p.v.offset;
  T *of_dk = (c.is_fused ? dq.data : dk.data) + p.k.offset;
  T *of_dv = (c.is_fused ? dq.data : dv.data) + p.v.offset;
  attention(ctx, shape, of_q, of_k, of_v, y.data + p.y.offset, statistics.data,
            o);
  attention_backward<T>(ctx, shape, gradients, of_q, of_k, of_v,
                        y.data + p.y.offset, statistics.data,
                        dy.data + p.y.offset, dq.data + p.q.offset, of_dk,
                        of_dv, o);
  hooks.after(ctx);
  return {y.values(),  dq.values(),    dk.values(),
          dv.values(), dbias.values(), column_sums.values()};
}

// ---- Comparisons -----------------------------------------------------------

template <class T>
bool has_same_bits(const std::vector<T> &one, const std::vector<T> &other) {
  return one.size() == other.size() &&
         memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

template <class T>
bool has_same_bits(const Outputs<T> &one, const Outputs<T> &other) {
  return has_same_bits(one.y, other.y) && has_same_bits(one.dq, other.dq) &&
         has_same_bits(one.dk, other.dk) && has_same_bits(one.dv, other.dv) &&
         has_same_bits(one.dbias, other.dbias);
}

// The largest difference, as a part of the largest value, or of 0.1 where all
// are smaller. NaNs have to be in the same places.
inline double distance(const std::vector<double> &one,
                       const std::vector<double> &other) {
  EXPECT_EQ(one.size(), other.size());
  double largest = 0.1, difference = 0;
  for (size_t i = 0; i < one.size(); i++) {
    if (std::isnan(one[i]) && std::isnan(other[i]))
      continue;
    if (std::isnan(one[i]) != std::isnan(other[i]))
      return INFINITY;
    largest = std::max(largest, std::abs(other[i]));
    difference = std::max(difference, std::abs(one[i] - other[i]));
  }
  return difference / largest;
}

// A probability or a gradient is rounded to T before it is multiplied, and sums
// of up to some hundred products to T at the end: a few roundings. TF32 has as
// many bits of fraction as f16, but the operands that a test gives have more.
template <class T>
constexpr double kTolerance = std::is_same_v<T, float>  ? 2e-5
                              : std::is_same_v<T, f16>  ? 4e-3
                              : std::is_same_v<T, tf32> ? 1e-2
                                                        : 3e-2;

inline std::string describe(const Case &c) {
  return std::to_string(c.queries) + " x " + std::to_string(c.keys) +
         ", heads of " + std::to_string(c.key_size) + " and " +
         std::to_string(c.value_size) + ", gap " + std::to_string(c.gap) +
         ", shift " + std::to_string(c.shift) + ", keys from " +
         std::to_string(c.first_key) + " to " + std::to_string(c.last_key);
}

// How many elements that are no part of the tensor are not as fresh memory is.
template <class T>
int64_t count_strangers(const std::vector<T> &memory, const Place &place,
                        const Case &c, int64_t rows, int64_t size) {
  std::vector<bool> belongs(memory.size());
  for (int64_t b = 0; b < batch_elements(c); b++)
    for (int64_t r = 0; r < rows; r++)
      for (int64_t e = 0; e < size; e++)
        belongs[place.at(Batch(c, b), r, e)] = true;
  T fresh;
  memset(&fresh, 0xff, sizeof fresh);
  int64_t count = 0;
  for (size_t i = 0; i < memory.size(); i++)
    count += !belongs[i] && memcmp(&memory[i], &fresh, sizeof fresh) != 0;
  return count;
}

template <class T>
void expect_right(const Case &c, const ContextHooks &hooks = {}) {
  const Inputs<T> in(c);
  const Results results = run(c, in, hooks).results(c),
                expected = reference(c, in);
  EXPECT_LT(distance(results.y, expected.y), kTolerance<T>);
  EXPECT_LT(distance(results.dq, expected.dq), kTolerance<T>);
  EXPECT_LT(distance(results.dk, expected.dk), kTolerance<T>);
  EXPECT_LT(distance(results.dv, expected.dv), kTolerance<T>);
  if (c.has_bias)
    EXPECT_LT(distance(results.dbias, expected.dbias), kTolerance<T>);
}

} // namespace gpuopt
