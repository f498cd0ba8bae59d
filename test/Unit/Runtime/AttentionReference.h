// The shapes and tensors that attention is tested on, its formula in double,
// and the comparison of the two.
#pragma once

#include "gpuopt/ops/attention.h"

#include "Values.h"

#include <gtest/gtest.h>

namespace gpuopt {

constexpr double kInfiniteScore = std::numeric_limits<double>::infinity();

// Q, K and V as parts of one tensor [b, rows, 3, heads, size], as a projection
// makes them; Y and dY are [b, rows, heads, size].
inline AttentionShape of_projection(int64_t b, int64_t heads, int64_t rows,
                                    int64_t size) {
  AttentionShape s;
  s.batch[0] = b, s.batch[1] = heads;
  s.queries = s.keys = rows;
  s.key_size = s.value_size = size;
  s.q_batch[0] = s.k_batch[0] = s.v_batch[0] = rows * 3 * heads * size;
  s.q_batch[1] = s.k_batch[1] = s.v_batch[1] = size;
  s.q_row = s.k_row = s.v_row = 3 * heads * size;
  s.y_batch[0] = rows * heads * size, s.y_batch[1] = size;
  s.y_row = heads * size;
  return s;
}

// Dense tensors of their own.
inline AttentionShape dense(int64_t b, int64_t queries, int64_t keys,
                            int64_t size, int64_t value_size) {
  AttentionShape s;
  s.batch[1] = b;
  s.queries = queries, s.keys = keys;
  s.key_size = size, s.value_size = value_size;
  s.q_row = s.k_row = size;
  s.v_row = s.y_row = value_size;
  s.q_batch[1] = queries * size, s.k_batch[1] = keys * size;
  s.v_batch[1] = keys * value_size, s.y_batch[1] = queries * value_size;
  return s;
}

inline AttentionGradientShape gradients_like(const AttentionShape &s) {
  AttentionGradientShape g;
  for (int i : {0, 1, 2}) {
    g.dy_batch[i] = s.y_batch[i], g.dq_batch[i] = s.q_batch[i];
    g.dk_batch[i] = s.k_batch[i], g.dv_batch[i] = s.v_batch[i];
  }
  g.dy_row = s.y_row, g.dq_row = s.q_row;
  g.dk_row = s.k_row, g.dv_row = s.v_row;
  std::copy(s.bias_batch, s.bias_batch + 3, g.dbias_batch);
  g.dbias_row = s.bias_row, g.dbias_key = s.bias_key;
  return g;
}

constexpr size_t kSize = 1 << 17;

// The tensors of one attention. Q, K and V lie at offsets into one buffer.
template <class T>
struct Tensors {
  int64_t k_offset, v_offset;
  std::vector<T> qkv = random_values<T>(kSize, 1),
                 dy = random_values<T>(kSize, 2), y = std::vector<T>(kSize),
                 d_qkv = random_values<T>(kSize, 3);
  std::vector<float> statistics = std::vector<float>(kSize);

  void run(const AttentionShape &s, const AttentionOptions &o, int threads) {
    run(s, o, threads, gradients_like(s));
  }
  void run(const AttentionShape &s, const AttentionOptions &o, int threads,
           const AttentionGradientShape &g) {
    Context ctx(threads);
    const T *q = qkv.data();
    attention<256, AttentionScores::Changed>(
        ctx, s, q, q + k_offset, q + v_offset, y.data(), statistics.data(), o);
    T *dq = d_qkv.data();
    attention_backward<256, AttentionScores::Changed>(
        ctx, s, g, q, q + k_offset, q + v_offset, y.data(), statistics.data(),
        dy.data(), dq, dq + k_offset, dq + v_offset, o);
  }
};

// The formula for one batch.
template <class T>
class Reference {
public:
  Reference(const AttentionShape &s, const AttentionOptions &o,
            const Tensors<T> &t, int64_t b0, int64_t b1)
      : s(s), o(o), t(t), b0(b0), b1(b1), p(size_t(s.queries * s.keys)),
        slope(p.size(), 1), hidden(p.size()) {
    for (int64_t i = 0; i < s.queries; i++)
      make_row(i);
  }

  double q(int64_t i, int64_t e) const {
    return at(t.qkv, 0, s.q_batch, i * s.q_row + e);
  }
  double k(int64_t j, int64_t e) const {
    return at(t.qkv, t.k_offset, s.k_batch, j * s.k_row + e);
  }
  double v(int64_t j, int64_t f) const {
    return at(t.qkv, t.v_offset, s.v_batch, j * s.v_row + f);
  }
  double dy(int64_t i, int64_t f) const {
    return at(t.dy, 0, s.y_batch, i * s.y_row + f);
  }
  double probability(int64_t i, int64_t j) const {
    return p[size_t(i * s.keys + j)];
  }

  double y(int64_t i, int64_t f) const {
    double sum = 0;
    for (int64_t j = 0; j < s.keys; j++)
      sum += kept(i, j) * probability(i, j) * v(j, f);
    return sum;
  }
  double dv(int64_t j, int64_t f) const {
    double sum = 0;
    for (int64_t i = 0; i < s.queries; i++)
      sum += kept(i, j) * probability(i, j) * dy(i, f);
    return sum;
  }
  // The gradient of the product of a query and a key.
  double ds(int64_t i, int64_t j) const {
    return o.scale * slope[size_t(i * s.keys + j)] * of_score(i, j);
  }
  // The gradient of the score before bias and mask.
  double of_score(int64_t i, int64_t j) const {
    if (hidden[size_t(i * s.keys + j)])
      return 0;
    double of_probability = 0, of_row = 0;
    for (int64_t f = 0; f < s.value_size; f++)
      of_probability += kept(i, j) * dy(i, f) * v(j, f),
          of_row += dy(i, f) * y(i, f);
    return probability(i, j) * (of_probability - of_row);
  }

private:
  // What dropout multiplies a probability with.
  double kept(int64_t i, int64_t j) const {
    if (o.dropout == 0)
      return 1;
    const int64_t element =
        ((b0 * s.batch[1] + b1) * s.queries + i) * s.keys + j;
    const float draw =
        lane(random_uniform(o.state->seed, o.stream, uint64_t(o.state->draw),
                            Lanes<int64_t>(element)),
             0);
    return draw < float(o.dropout) ? 0 : 1 / (1 - o.dropout);
  }

  double at(const std::vector<T> &values, int64_t offset,
            const int64_t (&batch)[3], int64_t within) const {
    return double(load_scalar(
        &values[size_t(offset + b0 * batch[0] + b1 * batch[1] + within)]));
  }

  void make_row(int64_t i) {
    double *row = &p[size_t(i * s.keys)], most = -kInfiniteScore, sum = 0;
    for (int64_t j = 0; j < s.keys; j++) {
      double score = 0;
      for (int64_t e = 0; e < s.key_size; e++)
        score += q(i, e) * k(j, e);
      score *= o.scale;
      if (o.softcap > 0) {
        const double t = std::tanh(score / o.softcap);
        score = o.softcap * t;
        slope[size_t(i * s.keys + j)] = 1 - t * t;
      }
      row[j] = masked_score(i, j, score);
      most = std::max(most, row[j]);
    }
    for (int64_t j = 0; j < s.keys; j++)
      sum += row[j] = std::exp(row[j] - (most == -kInfiniteScore ? 0 : most));
    for (int64_t j = 0; j < s.keys; j++)
      row[j] = sum == 0 && o.zeroes_empty ? 0 : row[j] / sum;
  }

  double masked_score(int64_t i, int64_t j, double score) {
    const int64_t mask = b0 * s.mask_batch[0] + b1 * s.mask_batch[1] +
                         i * s.mask_row + j * s.mask_key;
    auto hides = hidden.begin() + (i * s.keys + j);
    if (o.bias)
      score += double(o.bias[b0 * s.bias_batch[0] + b1 * s.bias_batch[1] +
                             i * s.bias_row + j * s.bias_key]);
    if (o.added_mask)
      score += double(o.added_mask[mask]);
    if (o.mask && !o.mask[mask]) {
      *hides = true;
      score = o.masked_value;
    }
    if (j < i + s.first_key || j > i + s.last_key) {
      *hides = true;
      score = -kInfiniteScore;
    }
    return score;
  }

  const AttentionShape &s;
  const AttentionOptions &o;
  const Tensors<T> &t;
  int64_t b0, b1;
  std::vector<double> p, slope;
  std::vector<bool> hidden;
};

template <class T>
void expect_attention(const AttentionShape &s, int64_t k_offset,
                      int64_t v_offset, const AttentionOptions &o,
                      double tolerance, const AttentionGradientShape &g) {
  Tensors<T> t{k_offset, v_offset};
  t.run(s, o, 2, g);
  auto near = [&](const T &got, double want, const char *what) {
    const double value = double(load_scalar(&got));
    EXPECT_TRUE(std::fabs(value - want) <= tolerance * (1 + std::fabs(want)) ||
                (std::isnan(value) && std::isnan(want)))
        << what << ": expected " << want << ", but got " << value;
  };
  for (int64_t b0 = 0; b0 < s.batch[0]; b0++)
    for (int64_t b1 = 0; b1 < s.batch[1]; b1++) {
      const Reference<T> r(s, o, t, b0, b1);
      auto of = [&](const int64_t (&batch)[3]) {
        return b0 * batch[0] + b1 * batch[1];
      };
      for (int64_t i = 0; i < s.queries; i++)
        for (int64_t f = 0; f < s.value_size; f++)
          near(t.y[size_t(of(s.y_batch) + i * s.y_row + f)], r.y(i, f), "y");
      for (int64_t j = 0; j < s.keys; j++)
        for (int64_t f = 0; f < s.value_size; f++)
          near(t.d_qkv[size_t(v_offset + of(s.v_batch) + j * s.v_row + f)],
               r.dv(j, f), "dv");
      std::vector<double> ds(size_t(s.queries * s.keys));
      for (int64_t i = 0; i < s.queries; i++)
        for (int64_t j = 0; j < s.keys; j++)
          ds[size_t(i * s.keys + j)] = r.ds(i, j);
      for (int64_t e = 0; e < s.key_size; e++) {
        for (int64_t i = 0; i < s.queries; i++) {
          double sum = 0;
          for (int64_t j = 0; j < s.keys; j++)
            sum += ds[size_t(i * s.keys + j)] * r.k(j, e);
          near(t.d_qkv[size_t(of(s.q_batch) + i * s.q_row + e)], sum, "dq");
        }
        for (int64_t j = 0; j < s.keys; j++) {
          double sum = 0;
          for (int64_t i = 0; i < s.queries; i++)
            sum += ds[size_t(i * s.keys + j)] * r.q(i, e);
          near(t.d_qkv[size_t(k_offset + of(s.k_batch) + j * s.k_row + e)], sum,
               "dk");
        }
      }
      if (testing::Test::HasFailure())
        return;
    }
}

template <class T>
void expect_attention(const AttentionShape &s, int64_t k_offset,
                      int64_t v_offset, const AttentionOptions &o,
                      double tolerance) {
  expect_attention<T>(s, k_offset, v_offset, o, tolerance, gradients_like(s));
}

inline AttentionOptions scaled(double scale) {
  AttentionOptions o;
  o.scale = scale;
  return o;
}

} // namespace gpuopt
