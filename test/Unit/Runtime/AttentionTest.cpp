// attention and its gradient against the formula in double, with all scores in
// memory: shapes, layouts, masks, bands and types.

#include "AttentionReference.h"

namespace gpuopt {
namespace {

TEST(Attention, OfOneProjection) {
  expect_attention<float>(of_projection(2, 3, 20, 16), 48, 96, scaled(0.25),
                          1e-5);
}

// Parts of 64 rows of what is stored, the last one of a sample with fewer.
TEST(Attention, AddsUpColumnsOfGradients) {
  const AttentionShape s = of_projection(2, 3, 70, 16);
  const AttentionColumns columns(s);
  std::vector<float> sums(size_t(2 * columns.tiles * columns.columns));
  AttentionOptions o = scaled(0.25);
  o.column_sums = sums.data();
  Tensors<float> t{48, 96};
  t.run(s, o, 2);
  ASSERT_EQ(columns.tiles, 2);
  ASSERT_EQ(columns.columns, 3 * 3 * 16);
  for (int64_t part = 0; part < 4; part++)
    for (int64_t i = 0; i < columns.columns; i++) {
      float sum = 0;
      const int64_t first = part % 2 * 64, end = first ? 70 : 64;
      for (int64_t row = first; row < end; row++)
        sum += t.d_qkv[size_t((part / 2 * 70 + row) * columns.columns + i)];
      EXPECT_EQ(sums[size_t(part * columns.columns + i)], sum);
    }
}

TEST(Attention, HasSeveralTilesAndTails) {
  // 130 keys make tiles of 128 queries.
  const auto s = dense(2, 131, 130, 9, 5);
  expect_attention<float>(s, 131 * 9 * 2, 131 * 9 * 2 + 130 * 9 * 2,
                          scaled(0.5), 2e-5);
}

TEST(Attention, SeesABand) {
  for (auto [first, last] :
       {std::pair<int64_t, int64_t>{-200, 0}, {-3, 0}, {-2, 2}, {-20, 200}}) {
    auto s = dense(1, 150, 150, 8, 8);
    s.first_key = first, s.last_key = last;
    expect_attention<float>(s, 1200, 2400, scaled(0.3), 2e-5);
  }
}

TEST(Attention, SeesABandOfMoreOrFewerKeys) {
  auto s = dense(2, 21, 40, 8, 8);
  s.first_key = -2, s.last_key = 19;
  expect_attention<float>(s, 400, 1100, scaled(0.3), 2e-5);
  s = dense(2, 40, 21, 8, 8);
  s.first_key = -40, s.last_key = 0;
  expect_attention<float>(s, 700, 1100, scaled(0.3), 2e-5);
}

// Three heads that share keys have the results of heads that have a copy each,
// and the gradient of the keys is the sum of those of the copies.
TEST(Attention, SharesKeysInGroups) {
  constexpr int64_t rows = 140, size = 8, head = rows * size;
  AttentionShape shared = dense(1, rows, rows, size, size);
  const int64_t batch[3] = {2, 2, 3};
  std::copy(batch, batch + 3, shared.batch);
  for (auto *strides : {&shared.q_batch, &shared.y_batch})
    (*strides)[0] = 6 * head, (*strides)[1] = 3 * head, (*strides)[2] = head;
  for (auto *strides : {&shared.k_batch, &shared.v_batch})
    (*strides)[0] = 2 * head, (*strides)[1] = head, (*strides)[2] = 0;
  AttentionShape copies = shared;
  for (auto *strides : {&copies.k_batch, &copies.v_batch})
    std::copy(shared.q_batch, shared.q_batch + 3, *strides);
  Tensors<float> one{12 * head, 16 * head}, other{12 * head, 24 * head};
  for (int64_t i = 0; i < 12; i++)
    for (auto [from, to] : {std::pair<int64_t, int64_t>(12, 12), {16, 24}})
      std::copy_n(one.qkv.begin() + (from + i / 3) * head, head,
                  other.qkv.begin() + (to + i) * head);
  // A bias of each head, whose gradient is added up over the samples.
  const auto bias = random_values<float>(6 * rows * rows, 5);
  std::vector<float> gradient(bias.size()), of_copies(bias.size());
  AttentionOptions o = scaled(0.3), of_other = o;
  o.bias = of_other.bias = bias.data();
  o.bias_gradient = gradient.data(), of_other.bias_gradient = of_copies.data();
  const int64_t strides[3] = {0, 3 * rows * rows, rows * rows};
  for (AttentionShape *s : {&shared, &copies}) {
    std::copy(strides, strides + 3, s->bias_batch);
    s->bias_row = rows, s->bias_key = 1;
  }
  one.run(shared, o, 2);
  other.run(copies, of_other, 2);
  EXPECT_EQ(gradient, of_copies);
  EXPECT_EQ(one.y, other.y);
  for (int64_t i = 0; i < 12 * head; i++) // dQ
    EXPECT_EQ(one.d_qkv[size_t(i)], other.d_qkv[size_t(i)]);
  for (auto [from, to] : {std::pair<int64_t, int64_t>(12, 12), {16, 24}})
    for (int64_t i = 0; i < 4 * head; i++) {
      double sum = 0;
      for (int64_t member = 0; member < 3; member++)
        sum += double(
            other
                .d_qkv[size_t((to + i / head * 3 + member) * head + i % head)]);
      EXPECT_NEAR(double(one.d_qkv[size_t(from * head + i)]), sum, 1e-5);
    }
}

// As a table of relative positions has it: [queries, keys, heads].
TEST(Attention, ReadsABiasWhoseKeysLieApart) {
  constexpr int64_t heads = 3, rows = 35;
  auto apart = of_projection(2, heads, rows, 8), dense = apart;
  apart.bias_batch[1] = 1, apart.bias_row = rows * heads,
  apart.bias_key = heads;
  dense.bias_batch[1] = rows * rows, dense.bias_row = rows, dense.bias_key = 1;
  const auto bias = random_values<float>(heads * rows * rows, 5);
  std::vector<float> turned(bias.size());
  for (int64_t i = 0; i < rows * rows; i++)
    for (int64_t head = 0; head < heads; head++)
      turned[size_t(head * rows * rows + i)] = bias[size_t(i * heads + head)];
  Tensors<float> one{heads * 8, 2 * heads * 8}, other = one;
  AttentionOptions o = scaled(0.3);
  o.bias = bias.data();
  one.run(apart, o, 2);
  o.bias = turned.data();
  other.run(dense, o, 2);
  EXPECT_EQ(one.y, other.y);
  EXPECT_EQ(one.d_qkv, other.d_qkv);
}

TEST(Attention, CopiesNoBiasOfNoKeys) {
  auto s = of_projection(2, 3, 4, 8);
  s.keys = 0, s.bias_key = 3;
  const float bias = 1;
  AttentionOptions o = scaled(0.3);
  o.bias = &bias;
  Context ctx(2);
  EXPECT_EQ(detail::with_dense_bias(ctx, s, o).bias_key, 3);
  EXPECT_EQ(o.bias, &bias);
}

TEST(Attention, HasTilesOfFewRowsWhereKeysAreMany) {
  const auto s = dense(1, 20, 5000, 4, 4);
  expect_attention<float>(s, 80, 80 + 20000, scaled(0.3), 2e-5);
}

// A bias and its gradient, which are broadcast where the flags say so.
struct Bias {
  bool batch0, batch1, row, key;
  std::vector<float> values = random_values<float>(kSize, 5),
                     gradient = std::vector<float>(kSize, 7);

  AttentionGradientShape set(AttentionShape &s, AttentionOptions &o) {
    s.bias_key = key ? 0 : 1;
    s.bias_row = row ? 0 : key ? 1 : s.keys;
    const int64_t elements = (key ? 1 : s.keys) * (row ? 1 : s.queries);
    s.bias_batch[1] = batch1 ? 0 : elements;
    s.bias_batch[0] = batch0 ? 0 : elements * (batch1 ? 1 : s.batch[1]);
    o.bias = values.data();
    o.bias_gradient = gradient.data();
    return gradients_like(s);
  }
};

// Without OpenMP there is one thread, and nothing to see.
#ifdef _OPENMP
TEST(Attention, HasTheSameBitsForAnyNumberOfThreads) {
  auto s = of_projection(2, 3, 140, 16);
  s.last_key = 0, s.first_key = -140;
  Tensors<float> one{48, 96}, many{48, 96};
  one.run(s, scaled(0.25), 1);
  many.run(s, scaled(0.25), 4);
  EXPECT_EQ(one.y, many.y);
  EXPECT_EQ(one.d_qkv, many.d_qkv);
  EXPECT_EQ(one.statistics, many.statistics);
}

TEST(Attention, HasTheSameGradientOfABiasForAnyNumberOfThreads) {
  Bias one{true, true, false, false}, many = one;
  for (auto [bias, threads] : {std::pair(&one, 1), {&many, 4}}) {
    auto s = of_projection(5, 3, 40, 16);
    AttentionOptions o = scaled(0.25);
    const AttentionGradientShape g = bias->set(s, o);
    Tensors<float> t{48, 96};
    t.run(s, o, threads, g);
  }
  EXPECT_EQ(one.gradient, many.gradient);
}

TEST(Attention, TakesTheThreadsOfItsContext) {
  Context one(1), many(8); // OpenMP would take the eight of the last one
  int threads = 0;
  detail::for_each_with_tiles(one, 4, [&](int64_t, auto &) {
    threads = std::max(threads, omp_get_num_threads());
  });
  EXPECT_EQ(threads, 1);
}
#endif

TEST(Attention, PassesErrorsOfItsThreadsOn) {
  Context ctx(2);
  auto fail = [&] {
    detail::for_each_with_tiles(ctx, 4, [](int64_t i, auto &) {
      if (i == 2)
        throw std::bad_alloc();
    });
  };
  EXPECT_THROW(fail(), std::bad_alloc);
}

TEST(Attention, HidesKeysByAMask) {
  auto s = dense(3, 17, 21, 8, 8);
  std::vector<uint8_t> mask(3 * 17 * 21);
  for (size_t i = 0; i < mask.size(); i++)
    mask[i] = i * 7 % 5 < 3;
  std::fill(mask.begin() + 21, mask.begin() + 42, uint8_t(0)); // an empty row
  s.mask_batch[1] = 17 * 21, s.mask_row = 21, s.mask_key = 1;
  AttentionOptions o = scaled(0.3);
  o.mask = mask.data();
  o.masked_value = -1e4;
  expect_attention<float>(s, 500, 1100, o, 1e-5);
  o.masked_value = std::numeric_limits<float>::lowest();
  expect_attention<float>(s, 500, 1100, o, 1e-5);
  o.masked_value = -kInfiniteScore;
  o.zeroes_empty = true;
  expect_attention<float>(s, 500, 1100, o, 1e-5);
  o.zeroes_empty = false; // NaN, as the formula has it
  Tensors<float> t{500, 1100};
  t.run(s, o, 1);
  EXPECT_TRUE(std::isnan(t.y[8]));
  EXPECT_FALSE(std::isnan(t.y[0]));
}

TEST(Attention, HidesPadding) {
  auto s = of_projection(2, 2, 18, 8);
  std::vector<uint8_t> mask(2 * 18, 1);
  mask[30] = mask[31] = mask[35] = 0;
  s.mask_batch[0] = 18, s.mask_key = 1;
  AttentionOptions o = scaled(0.3);
  o.mask = mask.data();
  expect_attention<float>(s, 16, 32, o, 1e-5);
}

TEST(Attention, AddsAMask) {
  auto s = dense(2, 18, 19, 8, 8);
  const auto mask = random_values<float>(2 * 18 * 40, 5);
  s.mask_batch[1] = 18 * 38, s.mask_row = 38, s.mask_key = 2;
  AttentionOptions o = scaled(0.3);
  o.added_mask = mask.data();
  expect_attention<float>(s, 500, 1100, o, 1e-5);
  s.mask_row = 0; // for all queries
  expect_attention<float>(s, 500, 1100, o, 1e-5);
}

// The gradients of the scores, added up where the bias is broadcast.
std::vector<double> bias_gradient(const AttentionShape &s,
                                  const AttentionOptions &o,
                                  const Tensors<float> &t, size_t size) {
  std::vector<double> sums(size);
  for (int64_t b0 = 0; b0 < s.batch[0]; b0++)
    for (int64_t b1 = 0; b1 < s.batch[1]; b1++) {
      const Reference<float> r(s, o, t, b0, b1);
      for (int64_t i = 0; i < s.queries; i++)
        for (int64_t j = 0; j < s.keys; j++)
          sums[size_t(b0 * s.bias_batch[0] + b1 * s.bias_batch[1] +
                      i * s.bias_row + j * s.bias_key)] += r.of_score(i, j);
    }
  return sums;
}

void expect_bias(Bias bias, AttentionOptions o, int64_t rows = 22) {
  auto s = of_projection(3, 2, rows, 8);
  s.mask_row = s.queries, s.mask_key = 1; // if there is one
  const AttentionGradientShape g = bias.set(s, o);
  Tensors<float> t{16, 32};
  t.run(s, o, 2, g);
  const BiasSums sums(s, g);
  const auto expected = bias_gradient(s, o, t, size_t(sums.elements()));
  for (size_t i = 0; i < expected.size(); i++)
    EXPECT_NEAR(double(bias.gradient[i]), expected[i], 1e-5) << i;
  EXPECT_EQ(bias.gradient[expected.size()], 7);
  expect_attention<float>(s, 16, 32, o, 1e-5, g);
}

TEST(Attention, AddsUpTheGradientOfABias) {
  for (const Bias &bias :
       {Bias{false, false, false, false}, Bias{true, false, false, false},
        Bias{true, true, false, false}, Bias{false, true, true, false}})
    expect_bias(bias, scaled(0.3));
  expect_bias({true, true, false, false}, scaled(0.3), 130); // several tiles
}

// Where a mask replaces scores, the gradients of the others in a row do not add
// up to 0.
TEST(Attention, AddsUpTheGradientOfABiasUnderAMask) {
  std::vector<uint8_t> mask(22 * 22, 1);
  for (size_t i = 0; i < mask.size(); i += 3)
    mask[i] = 0;
  AttentionOptions o = scaled(0.3);
  o.mask = mask.data();
  o.masked_value = -0.5;
  for (const Bias &bias :
       {Bias{true, false, false, false}, Bias{true, false, false, true},
        Bias{true, true, true, true}})
    expect_bias(bias, o);
}

// The cap comes before a bias and a mask.
TEST(Attention, CapsScores) {
  AttentionOptions o = scaled(2);
  for (const double cap : {0.3, 1.5, 50.0}) {
    o.softcap = cap;
    expect_attention<float>(dense(2, 131, 130, 9, 5), 131 * 9 * 2,
                            131 * 9 * 2 + 130 * 9 * 2, o, 2e-5);
  }
  expect_attention<f16>(of_projection(1, 2, 33, 16), 32, 64, o, 4e-3);
  std::vector<uint8_t> mask(22 * 22, 1);
  for (size_t i = 0; i < mask.size(); i += 3)
    mask[i] = 0;
  o.softcap = 1.5;
  expect_bias({true, false, false, false}, o);
  o.mask = mask.data();
  o.masked_value = -0.5;
  expect_bias({true, true, false, true}, o);
  StepState state;
  o.dropout = 0.25, o.stream = 3, o.state = &state;
  expect_attention<float>(of_projection(2, 2, 22, 8), 16, 32, o, 1e-5);
}

// 64 parts of 2^14 sums for 65 terms: one part has two of them.
TEST(Attention, AddsUpSeveralTermsOfABiasInAPart) {
  constexpr int64_t rows = 128, batch = 65;
  auto s = dense(batch, rows, rows, 2, 2);
  std::vector<float> bias = random_values<float>(size_t(rows * rows), 5),
                     gradient(bias.size());
  s.bias_row = rows, s.bias_key = 1;
  AttentionOptions o = scaled(0.3);
  o.bias = bias.data(), o.bias_gradient = gradient.data();
  const BiasSums sums(s, gradients_like(s));
  EXPECT_EQ(sums.parts, 64);
  EXPECT_EQ(sums.terms, batch);
  Tensors<float> t{batch * rows * 2, 2 * batch * rows * 2};
  t.run(s, o, 2);
  const auto expected = bias_gradient(s, o, t, gradient.size());
  for (size_t i = 0; i < expected.size(); i++)
    ASSERT_NEAR(double(gradient[i]), expected[i], 1e-5) << i;
}

TEST(Attention, DropsProbabilities) {
  auto s = of_projection(2, 2, 35, 8);
  s.first_key = -35, s.last_key = 0;
  StepState state;
  state.draw = 5;
  AttentionOptions o = scaled(0.3);
  o.dropout = 0.25, o.stream = 3, o.state = &state;
  expect_attention<float>(s, 16, 32, o, 1e-5);
}

TEST(Attention, IsWidenedFromHalfPrecision) {
  const auto s = of_projection(1, 2, 33, 16);
  expect_attention<f16>(s, 32, 64, scaled(0.25), 2e-3);
  expect_attention<bf16>(s, 32, 64, scaled(0.25), 2e-2);
}

} // namespace
} // namespace gpuopt
