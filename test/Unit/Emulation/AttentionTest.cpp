// The GPU's kernels of attention against the formula in double precision.
#include "Machine.h"

#include "../Runtime/Values.h"

#include "gpuopt/ops/attention.h"

#include <cmath>

using namespace gpuopt;

namespace {

using AttentionTest = Emulation;

// ---- A case ----------------------------------------------------------------

// Q, K and V lie in one projection [batch 0, rows, 3, batch 1, size], as
// transformers have it, or apart.
struct Case {
  int64_t queries = 64, keys = 64, key_size = 64, value_size = 64;
  int64_t batch[2] = {1, 1};
  bool is_fused = false;
  int64_t gap = 0;   // elements between rows that nobody may touch
  int64_t shift = 0; // elements before the first one
  int64_t first_key = -(int64_t(1) << 40), last_key = int64_t(1) << 40;
  double scale = 0.125;
  // 0: no mask or bias. The shape of either, 1 where it is broadcast.
  enum class Extra { None, Mask, Bias } extra = Extra::None;
  bool is_broadcast[4] = {false, false, false, false};
  double masked_value = -INFINITY;
  // Hides the keys of some rows altogether.
  bool has_empty_rows = false;
  bool zeroes_empty = false;
  double dropout = 0;
};

double wide(float x) { return double(x); }
double wide(f16 x) { return double(widen(x)); }
double wide(bf16 x) { return double(widen(x)); }

// A [batch 0, batch 1, rows, size] tensor in a buffer of some elements.
struct Place {
  int64_t offset = 0, batch[2] = {0, 0}, row = 0, elements = 0;

  size_t at(int64_t b0, int64_t b1, int64_t r, int64_t c) const {
    return size_t(offset + b0 * batch[0] + b1 * batch[1] + r * row + c);
  }
};

Place apart(const Case &c, int64_t rows, int64_t size) {
  Place p;
  p.offset = c.shift;
  p.row = size + c.gap;
  p.batch[1] = rows * p.row;
  p.batch[0] = c.batch[1] * p.batch[1];
  p.elements = p.offset + c.batch[0] * p.batch[0];
  return p;
}
Place third_of_projection(const Case &c, int64_t which) {
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
                     : apart(c, c.keys, c.key_size)),
        v(c.is_fused ? third_of_projection(c, 2)
                     : apart(c, c.keys, c.value_size)),
        y(apart(c, c.queries, c.value_size)) {}
};

void set(int64_t (&batch)[2], int64_t &row, const Place &p) {
  batch[0] = p.batch[0];
  batch[1] = p.batch[1];
  row = p.row;
}

// Strides of a mask or a bias, and how many elements it has.
struct MaskPlace {
  int64_t stride[4], elements = 1;

  explicit MaskPlace(const Case &c) {
    const int64_t size[4] = {c.batch[0], c.batch[1], c.queries, c.keys};
    for (int d = 3; d >= 0; d--) {
      stride[d] = c.is_broadcast[d] ? 0 : elements;
      elements *= c.is_broadcast[d] ? 1 : size[d];
    }
  }
  size_t at(int64_t b0, int64_t b1, int64_t q, int64_t k) const {
    return size_t(b0 * stride[0] + b1 * stride[1] + q * stride[2] +
                  k * stride[3]);
  }
};

AttentionShape shape_of(const Case &c) {
  AttentionShape s{};
  const Places p(c);
  const MaskPlace mask(c);
  s.batch[0] = c.batch[0];
  s.batch[1] = c.batch[1];
  s.queries = c.queries;
  s.keys = c.keys;
  s.key_size = c.key_size;
  s.value_size = c.value_size;
  set(s.q_batch, s.q_row, p.q);
  set(s.k_batch, s.k_row, p.k);
  set(s.v_batch, s.v_row, p.v);
  set(s.y_batch, s.y_row, p.y);
  s.mask_batch[0] = mask.stride[0];
  s.mask_batch[1] = mask.stride[1];
  s.mask_row = mask.stride[2];
  s.mask_key = mask.stride[3];
  s.first_key = c.first_key;
  s.last_key = c.last_key;
  return s;
}
constexpr uint64_t kSeed = 77;
constexpr int64_t kDraw = 3;
constexpr uint32_t kStream = 9;

// What the probability of an element is multiplied with.
double dropout_factor(const Case &c, int64_t batch, int64_t query,
                      int64_t key) {
  if (c.dropout == 0)
    return 1;
  const int64_t element = (batch * c.queries + query) * c.keys + key;
  const Lanes<float> numbers =
      random_uniform(kSeed, kStream, uint64_t(kDraw), Lanes<int64_t>(element));
  return numbers.part[0] >= float(c.dropout) ? 1 / (1 - c.dropout) : 0;
}

// Gradients lie as the tensors do.
AttentionGradientShape gradients_of(const Case &c) {
  AttentionGradientShape g{};
  const Places p(c);
  set(g.dy_batch, g.dy_row, p.y);
  set(g.dq_batch, g.dq_row, p.q);
  set(g.dk_batch, g.dk_row, p.k);
  set(g.dv_batch, g.dv_row, p.v);
  return g;
}

// ---- What goes in, and what comes out --------------------------------------

template <class T>
struct Inputs {
  std::vector<T> q, k, v, dy; // of a projection, all of it is in q
  std::vector<uint8_t> mask;
  std::vector<float> bias;

  explicit Inputs(const Case &c) {
    const Places p(c);
    q = random_values<T>(size_t(p.q.elements), 1);
    k = c.is_fused ? q : random_values<T>(size_t(p.k.elements), 2);
    v = c.is_fused ? q : random_values<T>(size_t(p.v.elements), 3);
    dy = random_values<T>(size_t(p.y.elements), 4);
    const MaskPlace place(c);
    const auto random = random_values<float>(size_t(place.elements), 5);
    for (float x : random)
      mask.push_back(x > -0.5f);
    bias = random;
    for (int64_t row : {3, 40}) // of the first batch element
      for (int64_t key = 0; key < c.keys; key++)
        if (c.has_empty_rows && row < c.queries) {
          mask[place.at(0, 0, row, key)] = 0;
          bias[place.at(0, 0, row, key)] = float(c.masked_value);
        }
  }
};

// [batch 0, batch 1, rows, columns], dense.
struct Results {
  std::vector<double> y, dq, dk, dv;
};

template <class T>
Results reference(const Case &c, const Inputs<T> &in) {
  const Places p(c);
  const MaskPlace mask(c);
  Results out;
  const int64_t count = c.batch[0] * c.batch[1];
  out.y.resize(size_t(count * c.queries * c.value_size));
  out.dq.resize(size_t(count * c.queries * c.key_size));
  out.dk.resize(size_t(count * c.keys * c.key_size));
  out.dv.resize(size_t(count * c.keys * c.value_size));
  for (int64_t b = 0; b < count; b++) {
    const int64_t b0 = b / c.batch[1], b1 = b % c.batch[1];
    double *y = out.y.data() + b * c.queries * c.value_size;
    double *dq = out.dq.data() + b * c.queries * c.key_size;
    double *dk = out.dk.data() + b * c.keys * c.key_size;
    double *dv = out.dv.data() + b * c.keys * c.value_size;
    for (int64_t i = 0; i < c.queries; i++) {
      std::vector<double> score(size_t(c.keys), -INFINITY), dp(score.size());
      std::vector<bool> sees(score.size()), passes(score.size());
      double top = -INFINITY, sum = 0, delta = 0;
      for (int64_t j = 0; j < c.keys; j++) {
        const auto at = size_t(j);
        sees[at] = passes[at] = j - i >= c.first_key && j - i <= c.last_key;
        if (!sees[at])
          continue;
        double x = 0;
        for (int64_t e = 0; e < c.key_size; e++)
          x += wide(in.q[p.q.at(b0, b1, i, e)]) *
               wide(in.k[p.k.at(b0, b1, j, e)]);
        x *= c.scale;
        if (c.extra == Case::Extra::Bias) {
          // A score is an f32: a bias of -1e9 leaves nothing of a product.
          x = double(float(x + double(in.bias[mask.at(b0, b1, i, j)])));
        } else if (c.extra == Case::Extra::Mask &&
                   !in.mask[mask.at(b0, b1, i, j)]) {
          x = c.masked_value;
          passes[at] = false;
        }
        score[at] = x;
        top = std::max(top, x);
      }
      const bool is_zero = top == -INFINITY && c.zeroes_empty;
      for (int64_t j = 0; j < c.keys; j++)
        if (sees[size_t(j)])
          sum += std::exp(score[size_t(j)] - top);
      const auto probability = [&](int64_t j) {
        return is_zero || !sees[size_t(j)]
                   ? 0
                   : std::exp(score[size_t(j)] - top) / sum;
      };
      for (int64_t j = 0; j < c.keys; j++) {
        const double factor = dropout_factor(c, b, i, j);
        for (int64_t e = 0; e < c.value_size; e++) {
          const double dy = wide(in.dy[p.y.at(b0, b1, i, e)]);
          const double v = wide(in.v[p.v.at(b0, b1, j, e)]);
          if (!sees[size_t(j)])
            continue;
          y[i * c.value_size + e] += factor * probability(j) * v;
          dv[j * c.value_size + e] += factor * probability(j) * dy;
          dp[size_t(j)] += factor * dy * v;
        }
      }
      for (int64_t j = 0; j < c.keys; j++)
        if (sees[size_t(j)])
          delta += probability(j) * dp[size_t(j)];
      for (int64_t j = 0; j < c.keys; j++) {
        if (!passes[size_t(j)])
          continue;
        const double ds = c.scale * probability(j) * (dp[size_t(j)] - delta);
        for (int64_t e = 0; e < c.key_size; e++) {
          dq[i * c.key_size + e] += ds * wide(in.k[p.k.at(b0, b1, j, e)]);
          dk[j * c.key_size + e] += ds * wide(in.q[p.q.at(b0, b1, i, e)]);
        }
      }
    }
  }
  return out;
}

// What the kernels wrote, as they wrote it.
template <class T>
struct Outputs {
  std::vector<T> y, dq, dk, dv; // of a projection, all of it is in dq

  Results results(const Case &c) const {
    const Places p(c);
    Results out;
    const auto gather = [&](const std::vector<T> &from, const Place &place,
                            int64_t rows, int64_t size) {
      std::vector<double> to;
      for (int64_t b0 = 0; b0 < c.batch[0]; b0++)
        for (int64_t b1 = 0; b1 < c.batch[1]; b1++)
          for (int64_t r = 0; r < rows; r++)
            for (int64_t e = 0; e < size; e++)
              to.push_back(wide(from[place.at(b0, b1, r, e)]));
      return to;
    };
    out.y = gather(y, p.y, c.queries, c.value_size);
    out.dq = gather(dq, p.q, c.queries, c.key_size);
    out.dk = gather(c.is_fused ? dq : dk, p.k, c.keys, c.key_size);
    out.dv = gather(c.is_fused ? dq : dv, p.v, c.keys, c.value_size);
    return out;
  }
};

template <class T>
Outputs<T> run(const Case &c, const Inputs<T> &in) {
  const Places p(c);
  const AttentionShape shape = shape_of(c);
  Context ctx;
  const OnDevice<char> workspace(size_t(attention_workspace(shape)));
  ctx.use_workspace(workspace.data, workspace.n);
  const OnDevice<T> q(in.q), k(in.k), v(in.v), dy(in.dy);
  const OnDevice<uint8_t> mask(in.mask);
  const OnDevice<float> bias(in.bias);
  const OnDevice<T> y(in.dy.size()), dq(in.q.size()), dk(in.k.size()),
      dv(in.v.size());
  const OnDevice<float> statistics(
      size_t(2 * c.batch[0] * c.batch[1] * c.queries));
  StepState begun{};
  begun.seed = kSeed;
  begun.draw = kDraw;
  const OnDevice<StepState> state(std::vector<StepState>{begun});
  cudaDeviceSynchronize();
  AttentionOptions o;
  o.scale = c.scale;
  o.mask = c.extra == Case::Extra::Mask ? mask.data : nullptr;
  o.bias = c.extra == Case::Extra::Bias ? bias.data : nullptr;
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
  attention_backward<T>(ctx, shape, gradients_of(c), of_q, of_k, of_v,
                        y.data + p.y.offset, statistics.data,
                        dy.data + p.y.offset, dq.data + p.q.offset, of_dk,
                        of_dv, o);
  return {y.values(), dq.values(), dk.values(), dv.values()};
}

// ---- Comparisons -----------------------------------------------------------

// The largest difference, as a part of the largest value, or of 0.1 where all
// are smaller. NaNs have to be in the same places.
double distance(const std::vector<double> &one,
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
// of up to some hundred products to T at the end: a few roundings.
template <class T>
constexpr double kTolerance = std::is_same_v<T, float> ? 2e-5
                              : std::is_same_v<T, f16> ? 4e-3
                                                       : 3e-2;

std::string describe(const Case &c) {
  return std::to_string(c.queries) + " x " + std::to_string(c.keys) +
         ", heads of " + std::to_string(c.key_size) + " and " +
         std::to_string(c.value_size) + ", gap " + std::to_string(c.gap) +
         ", shift " + std::to_string(c.shift) + ", keys from " +
         std::to_string(c.first_key) + " to " + std::to_string(c.last_key);
}

// How many elements that are no part of the tensor are not as fresh memory is.
int64_t count_strangers(const std::vector<f16> &memory, const Place &place,
                        const Case &c, int64_t rows, int64_t size) {
  std::vector<bool> belongs(memory.size());
  for (int64_t b0 = 0; b0 < c.batch[0]; b0++)
    for (int64_t b1 = 0; b1 < c.batch[1]; b1++)
      for (int64_t r = 0; r < rows; r++)
        for (int64_t e = 0; e < size; e++)
          belongs[place.at(b0, b1, r, e)] = true;
  int64_t count = 0;
  for (size_t i = 0; i < memory.size(); i++)
    count += !belongs[i] && memory[i].bits != 0xffff;
  return count;
}

template <class T>
void expect_right(const Case &c) {
  const Inputs<T> in(c);
  const Results results = run(c, in).results(c), expected = reference(c, in);
  EXPECT_LT(distance(results.y, expected.y), kTolerance<T>);
  EXPECT_LT(distance(results.dq, expected.dq), kTolerance<T>);
  EXPECT_LT(distance(results.dk, expected.dk), kTolerance<T>);
  EXPECT_LT(distance(results.dv, expected.dv), kTolerance<T>);
}

template <class T>
void expect_all_right(const std::vector<Case> &cases) {
  for (const Case &c : cases) {
    SCOPED_TRACE(describe(c));
    expect_right<T>(c);
  }
}

// ---- Sizes -----------------------------------------------------------------

Case sized(int64_t queries, int64_t keys, int64_t key_size = 64,
           int64_t value_size = 0) {
  Case c;
  c.queries = queries;
  c.keys = keys;
  c.key_size = key_size;
  c.value_size = value_size ? value_size : key_size;
  return c;
}

TEST_F(AttentionTest, F16) { expect_right<f16>({}); }
TEST_F(AttentionTest, BF16) { expect_right<bf16>({}); }
TEST_F(AttentionTest, F32) { expect_right<float>({}); }

const std::vector<Case> kLengths = {
    sized(49, 49),  sized(77, 77), sized(197, 197),
    sized(1, 70),   sized(70, 1),  sized(33, 130),
    sized(130, 33), sized(64, 65), sized(129, 64),
};
TEST_F(AttentionTest, AnyNumberOfQueriesAndKeys) {
  expect_all_right<f16>(kLengths);
  expect_all_right<bf16>({sized(77, 130)});
}
TEST_F(AttentionTest, AnyNumberOfQueriesAndKeysInF32) {
  expect_all_right<float>(kLengths);
}

const std::vector<Case> kHeadSizes = {
    sized(70, 70, 16), sized(70, 70, 40),     sized(70, 70, 80),
    sized(70, 70, 96), sized(140, 70, 128),   sized(70, 70, 40, 72),
    sized(70, 70, 8),  sized(70, 70, 128, 16)};
TEST_F(AttentionTest, HeadSizes) {
  expect_all_right<f16>(kHeadSizes);
  expect_all_right<bf16>({sized(70, 70, 128)});
}
TEST_F(AttentionTest, HeadSizesInF32) { expect_all_right<float>(kHeadSizes); }

TEST_F(AttentionTest, LargeHeads) {
  expect_all_right<f16>({sized(70, 70, 192), sized(70, 40, 256)});
  expect_all_right<float>({sized(40, 70, 192), sized(40, 40, 256)});
}

TEST_F(AttentionTest, RefusesHeadsThatAreTooLarge) {
  Context ctx;
  AttentionShape s = shape_of(sized(8, 8, 16, 300));
  f16 *none = nullptr;
  try {
    attention<f16>(ctx, s, none, none, none, none, nullptr);
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "attention with heads of 300 elements; the "
                               "GPU's kernels take up to 256");
  }
}

// Sizes that are no multiples of 16 bytes, rows that are apart, and tensors
// that begin anywhere.
TEST_F(AttentionTest, UnalignedElements) {
  std::vector<Case> cases = {sized(70, 70, 20), sized(70, 40, 7),
                             sized(70, 70, 64), sized(70, 70, 64),
                             sized(40, 70, 127)};
  cases[2].gap = 8;
  cases[3].gap = 1;
  cases[4].shift = 3;
  expect_all_right<f16>(cases);
  expect_all_right<float>(cases);
}

// What lies between the rows keeps the bytes that it had.
TEST_F(AttentionTest, WritesItsOwnElementsAlone) {
  Case c = sized(70, 50, 24);
  c.gap = 3;
  c.shift = 5;
  const Places p(c);
  const Outputs<f16> out = run(c, Inputs<f16>(c));
  EXPECT_EQ(count_strangers(out.y, p.y, c, c.queries, c.value_size), 0);
  EXPECT_EQ(count_strangers(out.dq, p.q, c, c.queries, c.key_size), 0);
  EXPECT_EQ(count_strangers(out.dk, p.k, c, c.keys, c.key_size), 0);
  EXPECT_EQ(count_strangers(out.dv, p.v, c, c.keys, c.value_size), 0);
}

// Heads of one projection, and their gradients in one.
Case fused(int64_t length, int64_t heads, int64_t size) {
  Case c = sized(length, length, size);
  c.batch[0] = 2;
  c.batch[1] = heads;
  c.is_fused = true;
  return c;
}
TEST_F(AttentionTest, HeadsOfAProjection) {
  expect_all_right<f16>({fused(70, 3, 64), fused(40, 2, 128)});
  expect_all_right<float>({fused(40, 3, 32)});
}

// ---- What a query sees -----------------------------------------------------

Case banded(Case c, int64_t first, int64_t last) {
  c.first_key = first;
  c.last_key = last;
  return c;
}

const std::vector<Case> kBands = {
    banded(sized(197, 197), -197, 0),  // causal
    banded(sized(40, 150), -150, 110), // causal, with keys of the past
    banded(sized(197, 197), -20, 5),   // a window
    banded(sized(150, 150), -150, -0), banded(sized(70, 200), 3, 130)};
TEST_F(AttentionTest, Bands) { expect_all_right<f16>(kBands); }
TEST_F(AttentionTest, BandsInF32) {
  expect_all_right<float>({kBands[1], kBands[2]});
}
TEST_F(AttentionTest, BandsOfLargeHeads) {
  expect_all_right<f16>({banded(sized(150, 150, 128), -150, 0),
                         banded(sized(100, 100, 256), -20, 0)});
}

// The first 60 queries see no key.
TEST_F(AttentionTest, QueriesWithoutKeys) {
  Case c = banded(sized(130, 70), -1000, -60);
  c.zeroes_empty = true;
  expect_right<f16>(c);
  expect_right<float>(c);
}

TEST_F(AttentionTest, ScalesOfAnySign) {
  Case c = banded(sized(70, 70), -70, 0);
  for (const double scale : {-0.3, 0.0, 1.0}) {
    c.scale = scale;
    expect_right<f16>(c);
  }
}

// ---- Masks and biases ------------------------------------------------------

Case with(Case::Extra extra, Case c, std::vector<int> broadcast = {}) {
  c.batch[0] = c.batch[1] = 2;
  c.extra = extra;
  for (int d : broadcast)
    c.is_broadcast[d] = true;
  return c;
}
Case masked(Case c, std::vector<int> broadcast = {}) {
  return with(Case::Extra::Mask, c, broadcast);
}
Case biased(Case c, std::vector<int> broadcast = {}) {
  return with(Case::Extra::Bias, c, broadcast);
}
// Rows 3 and 40 have `value` for all keys.
Case with_empty_rows(Case c, double value, bool zeroes_empty = false) {
  c.has_empty_rows = true;
  c.masked_value = value;
  c.zeroes_empty = zeroes_empty;
  return c;
}

const std::vector<Case> kMasks = {masked(sized(70, 70)),
                                  masked(sized(49, 77), {0, 1}),
                                  masked(sized(70, 70), {1, 2}), // padding
                                  masked(banded(sized(70, 70), -70, 0), {0})};
TEST_F(AttentionTest, Masks) { expect_all_right<f16>(kMasks); }
TEST_F(AttentionTest, MasksInF32) { expect_all_right<float>(kMasks); }

const std::vector<Case> kBiases = {
    biased(sized(70, 70)), biased(sized(49, 77), {0}), // relative positions
    biased(sized(70, 70), {1, 2}),                     // padding
    biased(sized(70, 70), {0, 2}),                     // ALiBi
    biased(banded(sized(70, 70), -20, 0), {0})};
TEST_F(AttentionTest, Biases) { expect_all_right<f16>(kBiases); }
TEST_F(AttentionTest, BiasesInF32) { expect_all_right<float>(kBiases); }
TEST_F(AttentionTest, MasksAndBiasesOfLargeHeads) {
  expect_all_right<bf16>(
      {masked(sized(70, 70, 128), {0}), biased(sized(70, 70, 256), {0})});
}

// Keys that are hidden by a finite value count where all of them are hidden:
// such a row is the mean of the values.
TEST_F(AttentionTest, RowsHiddenByFiniteValues) {
  for (const double value : {-1e4, -1e9, -3.4028234663852886e38}) {
    expect_all_right<f16>({with_empty_rows(masked(sized(70, 70)), value),
                           with_empty_rows(biased(sized(70, 70)), value)});
    expect_right<float>(with_empty_rows(masked(sized(70, 70)), value));
  }
  // Under a bias of -1e4, f32 has three digits left of a product.
  for (const double value : {-1e9, -3.4028234663852886e38})
    expect_right<float>(with_empty_rows(biased(sized(70, 70)), value));
}

TEST_F(AttentionTest, RowsHiddenByInfinity) {
  for (const bool zeroes_empty : {false, true}) {
    const std::vector<Case> cases = {
        with_empty_rows(masked(sized(70, 70)), -INFINITY, zeroes_empty),
        with_empty_rows(biased(sized(70, 70)), -INFINITY, zeroes_empty)};
    expect_all_right<f16>(cases);
    expect_all_right<float>(cases);
  }
}

// ---- Dropout ---------------------------------------------------------------

Case dropping(Case c, double ratio) {
  c.dropout = ratio;
  c.batch[0] = c.batch[1] = 2;
  return c;
}
const std::vector<Case> kDropouts = {
    dropping(sized(70, 50), 0.1), dropping(sized(40, 100), 0.7),
    dropping(banded(sized(70, 70), -70, 0), 0.5),
    dropping(masked(sized(40, 70), {0}), 0.5)};
TEST_F(AttentionTest, Dropout) { expect_all_right<f16>(kDropouts); }
TEST_F(AttentionTest, DropoutInF32) { expect_all_right<float>(kDropouts); }
TEST_F(AttentionTest, DropoutOfLargeHeads) {
  expect_all_right<bf16>({dropping(sized(70, 70, 128), 0.3)});
  expect_all_right<f16>({dropping(sized(70, 70, 256), 0.3)});
}

// ---- Bits ------------------------------------------------------------------

template <class T>
bool has_same_bits(const std::vector<T> &one, const std::vector<T> &other) {
  return one.size() == other.size() &&
         memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

template <class T>
int count_other_bits(const Case &c) {
  const Inputs<T> in(c);
  const Outputs<T> first = run(c, in);
  return count_seeds(5, [&] {
    const Outputs<T> again = run(c, in);
    return !has_same_bits(first.y, again.y) ||
           !has_same_bits(first.dq, again.dq) ||
           !has_same_bits(first.dk, again.dk) ||
           !has_same_bits(first.dv, again.dv);
  });
}

TEST_F(AttentionTest, OrderDecidesNoBits) {
  EXPECT_EQ(count_other_bits<f16>(banded(fused(150, 2, 64), -150, 0)), 0);
  EXPECT_EQ(count_other_bits<float>(masked(sized(70, 70))), 0);
  EXPECT_EQ(count_other_bits<bf16>(sized(70, 100, 128)), 0);
}

// A batch element alone has the bits that it has among others.
TEST_F(AttentionTest, TheBatchDecidesNoBits) {
  Case all = sized(70, 70), one = all;
  all.batch[0] = 3;
  const Outputs<f16> of_all = run(all, Inputs<f16>(all));
  // Random values begin in the same way.
  const Outputs<f16> of_one = run(one, Inputs<f16>(one));
  const auto beginning = [&](const std::vector<f16> &v) {
    return std::vector<f16>(v.begin(), v.begin() + 70 * 64);
  };
  EXPECT_TRUE(has_same_bits(beginning(of_all.y), of_one.y));
  EXPECT_TRUE(has_same_bits(beginning(of_all.dk), of_one.dk));
}

} // namespace
