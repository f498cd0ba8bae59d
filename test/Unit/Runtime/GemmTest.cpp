// gemm against three loops in double, over strides, batches and options.

#include "gpuopt/ops/gemm.h"

#include "Values.h"

#include <array>
#include <gtest/gtest.h>

namespace gpuopt {
namespace {

template <class T, class C>
void expect_product(const GemmShape &s, GemmOptions o, bool with_bias,
                    double tolerance) {
  const auto size = size_t(std::max<int64_t>(
      {1 << 16, detail::extent(s, s.a_batch, s.m, s.k, s.a_m, s.a_k),
       detail::extent(s, s.b_batch, s.k, s.n, s.b_k, s.b_n),
       detail::extent(s, s.c_batch, s.m, s.n, s.c_m, s.c_n)}));
  const auto a = random_values<T>(size, 1), b = random_values<T>(size, 2);
  const auto bias = random_values<C>(size_t(s.n), 3);
  auto c = random_values<C>(size, 4);
  const auto before = c;
  o.bias = with_bias ? bias.data() : nullptr;
  Context ctx(2);
  gemm(ctx, s, a.data(), b.data(), c.data(), o);
#ifdef _OPENMP
  // Others find as many threads as before, also after a small product.
  ASSERT_EQ(omp_get_max_threads(), 2);
#endif
  std::vector<bool> written(size, false);
  for (int64_t i = 0; i < s.batch[0]; i++)
    for (int64_t j = 0; j < s.batch[1]; j++)
      for (int64_t m = 0; m < s.m; m++)
        for (int64_t n = 0; n < s.n; n++) {
          double sum = 0;
          for (int64_t k = 0; k < s.k; k++)
            sum += double(load_scalar(&a[i * s.a_batch[0] + j * s.a_batch[1] +
                                         m * s.a_m + k * s.a_k])) *
                   double(load_scalar(&b[i * s.b_batch[0] + j * s.b_batch[1] +
                                         k * s.b_k + n * s.b_n]));
          const int64_t at =
              i * s.c_batch[0] + j * s.c_batch[1] + m * s.c_m + n * s.c_n;
          const double want = o.alpha * sum +
                              o.beta * double(load_scalar(&before[at])) +
                              (with_bias ? double(load_scalar(&bias[n])) : 0.0);
          ASSERT_NEAR(double(load_scalar(&c[at])), want,
                      tolerance * (1 + std::fabs(want)));
          written[at] = true;
        }
  for (size_t i = 0; i < size; i++) {
    ASSERT_TRUE(written[i] || memcmp(&c[i], &before[i], sizeof(C)) == 0)
        << "outside of C: " << i;
  }
}

const GemmShape kShapes[] = {
    {{1, 1}, 7, 9, 11, {0, 0}, 11, 1, {0, 0}, 9, 1, {0, 0}, 9, 1},     // A B
    {{1, 1}, 7, 9, 11, {0, 0}, 1, 7, {0, 0}, 9, 1, {0, 0}, 9, 1},      // A^T B
    {{1, 1}, 17, 33, 64, {0, 0}, 64, 1, {0, 0}, 1, 64, {0, 0}, 33, 1}, // A B^T
    {{1, 1}, 7, 9, 11, {0, 0}, 1, 7, {0, 0}, 1, 11, {0, 0}, 9, 1}, // A^T B^T
    {{1, 1}, 7, 9, 11, {0, 0}, 11, 1, {0, 0}, 9, 1, {0, 0}, 1, 7}, // C
                                                                   // transposed
    {{1, 1}, 5, 1, 13, {0, 0}, 13, 1, {0, 0}, 1, 1, {0, 0}, 1, 1}, // one column
    {{1, 1}, 1, 6, 13, {0, 0}, 13, 1, {0, 0}, 6, 1, {0, 0}, 6, 1}, // one row
    {{1, 1}, 4, 6, 1, {0, 0}, 1, 1, {0, 0}, 6, 1, {0, 0}, 6, 1},   // outer
                                                                   // product
    {{1, 3}, 4, 5, 6, {0, 24}, 6, 1, {0, 0}, 5, 1, {0, 20}, 5, 1}, // one B,
                                                                   // folds
    {{1, 3}, 4, 5, 6, {0, 0}, 6, 1, {0, 30}, 5, 1, {0, 20}, 5, 1}, // one A
    {{2, 3},
     4,
     5,
     6,
     {72, 24},
     6,
     1,
     {90, 30},
     5,
     1,
     {60, 20},
     5,
     1}, // dense batches
    {{2, 3},
     8,
     8,
     4,
     {96, 4},
     12,
     1,
     {96, 4},
     1,
     12,
     {192, 64},
     8,
     1}, // heads:
         // Q K^T
    {{2, 3},
     8,
     4,
     8,
     {192, 64},
     8,
     1,
     {96, 4},
     12,
     1,
     {96, 4},
     12,
     1}, // heads:
         // P V
    {{2, 3},
     4,
     5,
     6,
     {24, 0},
     6,
     1,
     {0, 30},
     5,
     1,
     {60, 20},
     5,
     1},                                                            // crosswise
    {{1, 1}, 8, 1, 16, {0, 0}, 16, 1, {0, 0}, 1, 16, {0, 0}, 1, 8}, // a column
};

TEST(Gemm, EveryLayoutAndOption) {
  for (const GemmShape &s : kShapes) {
    SCOPED_TRACE(testing::Message() << &s - kShapes);
    for (double alpha : {1.0, 0.125})
      for (double beta : {0.0, 1.0})
        for (bool bias : {false, true}) {
          if (bias && s.n != 1 && s.c_n != 1)
            continue;
          SCOPED_TRACE(testing::Message() << "alpha " << alpha << " beta "
                                          << beta << " bias " << bias);
          expect_product<float, float>(s, {alpha, beta}, bias, 2e-6);
          expect_product<double, double>(s, {alpha, beta}, bias, 1e-14);
          expect_product<f16, f16>(s, {alpha, beta}, bias, 1e-3);
          expect_product<f16, float>(s, {alpha, beta}, bias, 2e-6);
          expect_product<bf16, bf16>(s, {alpha, beta}, bias, 1e-2);
          expect_product<bf16, float>(s, {alpha, beta}, bias, 2e-6);
        }
  }
}

// A copy of B in another layout is multiplied where B is large.
TEST(Gemm, PacksLargeRightMatrices) {
  GemmShape s{{1, 1}, 64,   1024, 70,     {0, 0}, 70, 1,
              {0, 0}, 1024, 1,    {0, 0}, 1024,   1};
  GemmShape transposed_a = s, long_rows = s;
  transposed_a.a_m = 1, transposed_a.a_k = 64;
  long_rows.n = 1000, long_rows.c_m = 1031;
  for (const GemmShape &shape : {s, transposed_a, long_rows}) {
    EXPECT_TRUE(detail::packs_right_matrix(shape, sizeof(float)));
    for (double alpha : {1.0, 0.125})
      for (double beta : {0.0, 1.0})
        for (bool bias : {false, true})
          expect_product<float, float>(shape, {alpha, beta}, bias, 1e-5);
  }
}

TEST(Gemm, PacksWhereItPays) {
  auto packs = [](int64_t m, int64_t n, int64_t k) {
    return detail::packs_right_matrix({.m = m,
                                       .n = n,
                                       .k = k,
                                       .a_m = k,
                                       .a_k = 1,
                                       .b_k = n,
                                       .b_n = 1,
                                       .c_m = n,
                                       .c_n = 1},
                                      sizeof(float));
  };
  EXPECT_TRUE(packs(1024, 768, 768));
  EXPECT_FALSE(packs(256, 768, 768)); // the copy takes as long as it saves
  EXPECT_TRUE(packs(256, 3072, 768)); // its rows are three pages apart
  EXPECT_FALSE(packs(256, 1544, 768));
  EXPECT_TRUE(packs(256, 1544, 3072)); // more pages than the processor records
  EXPECT_FALSE(packs(32, 3072, 768));
  EXPECT_FALSE(packs(1024, 128, 128));   // stays in the cache
  EXPECT_FALSE(packs(1024, 50257, 768)); // the copy would have 147 MiB
}

TEST(Gemm, SameBitsAgain) {
  const GemmShape s{{1, 1}, 64, 96, 128,    {0, 0}, 128, 1,
                    {0, 0}, 96, 1,  {0, 0}, 96,     1};
  const auto a = random_values<float>(64 * 128, 1),
             b = random_values<float>(128 * 96, 2);
  std::vector<float> first(64 * 96), second(64 * 96);
  Context ctx(2), other(2);
  gemm(ctx, s, a.data(), b.data(), first.data());
  gemm(other, s, a.data(), b.data(), second.data());
  EXPECT_EQ(first, second);
}

// ---- Few rows ---------------------------------------------------------------

// Returns a product of dense matrices, B as it is or transposed.
GemmShape shape_of(int64_t m, int64_t n, int64_t k, bool is_transposed) {
  GemmShape s;
  s.m = m, s.n = n, s.k = k;
  s.a_m = k, s.c_m = n;
  s.b_k = is_transposed ? 1 : n, s.b_n = is_transposed ? k : 1;
  return s;
}

TEST(FewRows, AreComputedInEveryLayout) {
  for (const bool is_transposed : {false, true})
    for (const auto &[m, n, k] : {std::array<int64_t, 3>{1, 64, 1},
                                  {1, 65, 7},
                                  {1, 5000, 33},
                                  {1, 300, 128},
                                  {2, 97, 50},
                                  {2, 2100, 24}}) {
      SCOPED_TRACE(testing::Message()
                   << m << " " << n << " " << k << " " << is_transposed);
      GemmShape dense = shape_of(m, n, k, is_transposed), strided = dense;
      ASSERT_TRUE(detail::has_few_rows(simplified(dense)));
      strided.a_m = 1, strided.a_k = m + 1;
      strided.c_m = 1, strided.c_n = m + 2;
      (is_transposed ? strided.b_n : strided.b_k) += 3;
      for (const GemmShape &s : {dense, strided})
        for (const GemmOptions &o :
             {GemmOptions{}, GemmOptions{0.125, 1}, GemmOptions{0.5, 0}})
          for (const bool bias : {false, true}) {
            expect_product<float, float>(s, o, bias, 2e-6);
            expect_product<f16, f16>(s, o, bias, 1e-3);
            expect_product<f16, float>(s, o, bias, 2e-6);
            expect_product<bf16, bf16>(s, o, bias, 1e-2);
            expect_product<bf16, float>(s, o, bias, 2e-6);
          }
    }
}

template <class T>
std::vector<T> product_of(Context &ctx, const GemmShape &s) {
  const auto a = random_values<T>(size_t(s.m * s.k), 1),
             b = random_values<T>(size_t(s.k * s.n), 2);
  std::vector<T> c(size_t(s.m * s.n));
  ctx.add_unchanged(reinterpret_cast<char *>(const_cast<T *>(b.data())),
                    b.size() * sizeof(T), true);
  gemm(ctx, s, a.data(), b.data(), c.data());
  // Its memory would have been given back.
  EXPECT_EQ(memcmp(b.data(), random_values<T>(b.size(), 2).data(),
                   b.size() * sizeof(T)),
            0);
  return c;
}

// Threads have shares of columns, and no sum depends on who has which. B, which
// no step changes, is read where it is and not packed.
TEST(FewRows, HaveTheSameBitsWithAnyThreads) {
  for (const bool is_transposed : {false, true})
    for (const int64_t m : {1, 2}) {
      const GemmShape s = shape_of(m, 4099, 260, is_transposed);
      Context one(1);
      const auto expected = product_of<float>(one, s);
      const auto in_half = product_of<f16>(one, s);
      for (const int threads : {2, 3, 5}) {
        Context ctx(threads);
        EXPECT_EQ(product_of<float>(ctx, s), expected);
        EXPECT_EQ(memcmp(product_of<f16>(ctx, s).data(), in_half.data(),
                         in_half.size() * sizeof(f16)),
                  0);
      }
    }
}

TEST(FewRows, AreToldByTheShape) {
  auto are_few = [](int64_t m, int64_t n, int64_t k) {
    return detail::has_few_rows(shape_of(m, n, k, false));
  };
  EXPECT_TRUE(are_few(1, 768, 3072));
  EXPECT_TRUE(are_few(2, 768, 3072));
  EXPECT_FALSE(are_few(3, 768, 3072)); // oneDNN computes them in less time
  EXPECT_FALSE(are_few(1, 32, 768));   // too few columns for many threads
  EXPECT_FALSE(are_few(2, 64, 100000));
  GemmShape scattered = shape_of(1, 768, 3072, false);
  scattered.b_n = 2, scattered.b_k *= 2;
  EXPECT_FALSE(detail::has_few_rows(scattered));
}

// ---- Epilogues --------------------------------------------------------------

double gelu_of(double x) {
  return x / 2 *
         (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

TEST(Epilogue, AppliesGeluAndItsGradient) {
  constexpr int64_t kM = 24, kN = 40, kK = 16;
  constexpr double kStep = 1e-4;
  const GemmShape s{{1, 1}, kM, kN, kK,     {0, 0}, kK, 1,
                    {0, 0}, kN, 1,  {0, 0}, kN,     1};
  const auto a = random_values<float>(kM * kK, 1),
             b = random_values<float>(kK * kN, 2),
             bias = random_values<float>(kN, 3);
  std::vector<float> product(kM * kN), y(kM * kN), z(kM * kN), dz(kM * kN),
      sums(kN);
  Context ctx(2);
  gemm(ctx, s, a.data(), b.data(), product.data());
  gemm_gelu(ctx, s, a.data(), b.data(), bias.data(), y.data(), z.data());
  gemm_gelu_backward(ctx, s, a.data(), b.data(), z.data(), dz.data(),
                     sums.data());
  for (int64_t j = 0; j < kN; j++) {
    double sum = 0;
    for (int64_t i = 0; i < kM; i++) {
      const int64_t at = i * kN + j;
      EXPECT_NEAR(z[at], product[at] + bias[j], 1e-5);
      EXPECT_NEAR(y[at], gelu_of(z[at]), 1e-5);
      const double slope =
          (gelu_of(z[at] + kStep) - gelu_of(z[at] - kStep)) / (2 * kStep);
      EXPECT_NEAR(dz[at], product[at] * slope, 1e-5);
      sum += dz[at];
    }
    EXPECT_NEAR(sums[j], sum, 1e-4);
  }
}

TEST(Epilogue, AppliesReluAndItsGradient) {
  constexpr int64_t kM = 24, kN = 40, kK = 16;
  const GemmShape s{{1, 1}, kM, kN, kK,     {0, 0}, kK, 1,
                    {0, 0}, kN, 1,  {0, 0}, kN,     1};
  const auto a = random_values<float>(kM * kK, 1),
             b = random_values<float>(kK * kN, 2),
             bias = random_values<float>(kN, 3),
             added = random_values<float>(kM * kN, 4);
  std::vector<float> product(kM * kN), y(kM * kN), dz(kM * kN);
  std::vector<int32_t> mask(size_t(kM * mask_words(kN)), -1);
  Context ctx(2);
  gemm(ctx, s, a.data(), b.data(), product.data());
  gemm_relu(ctx, s, a.data(), b.data(), bias.data(), added.data(), y.data(),
            mask.data());
  gemm_relu_backward(ctx, s, a.data(), b.data(), mask.data(), added.data(),
                     dz.data());
  for (int64_t i = 0; i < kM; i++)
    for (int64_t j = 0; j < kN; j++) {
      const int64_t at = i * kN + j;
      const float sum = product[at] + added[at], z = sum + bias[j];
      EXPECT_NEAR(y[at], std::max(z, 0.0f), 1e-5);
      if (std::abs(z) > 1e-5f)
        EXPECT_NEAR(dz[at], z > 0 ? sum : 0, 1e-5);
    }
}

TEST(Epilogue, NeedsOneMatrixOfDenseRows) {
  const GemmShape s{{1, 1}, 2, 8, 8, {0, 0}, 8, 1, {0, 0}, 8, 1, {0, 0}, 9, 1};
  std::vector<float> values(128);
  Context ctx(1);
  float *at = values.data();
  try {
    gemm_gelu(ctx, s, at, at, nullptr, at + 64, nullptr);
    FAIL() << "rows are 9 elements apart";
  } catch (const Error &error) {
    EXPECT_STREQ(
        error.what(),
        "gemm: an epilogue is applied to one matrix of dense rows, but got 1 "
        "with rows that are 9 elements apart");
  }
}

// ---- Even parts of products in half precision -------------------------------

/// m x n from k, with rows that are as long as the next multiple of 16; a
/// letter t says that a matrix lies by columns.
GemmShape padded_shape(int64_t m, int64_t n, int64_t k, const char *layout) {
  auto pitch = [](int64_t size) { return (size + 15) / 16 * 16; };
  GemmShape s;
  s.m = m, s.n = n, s.k = k;
  auto set = [&](char letter, int64_t rows, int64_t cols, int64_t &row,
                 int64_t &col) {
    row = letter == 't' ? 1 : pitch(cols);
    col = letter == 't' ? pitch(rows) : 1;
  };
  set(layout[0], m, k, s.a_m, s.a_k);
  set(layout[1], k, n, s.b_k, s.b_n);
  set(layout[2], m, n, s.c_m, s.c_n);
  return s;
}

TEST(EvenParts, AreTheWholeProduct) {
  Context ctx(2);
  for (const char *layout : {"nnn", "ntn", "tnn", "ttn", "nnt"})
    for (auto [m, n, k] : {std::array<int64_t, 3>{33, 41, 50},
                           {32, 41, 48},
                           {33, 40, 48},
                           {32, 40, 50},
                           {5, 41, 3},
                           {32, 40, 48}})
      for (double beta : {0.0, 1.0}) {
        const GemmShape s = padded_shape(m, n, k, layout);
        const auto a = random_values<float>(1 << 13, 1),
                   b = random_values<float>(1 << 13, 2);
        auto whole = random_values<float>(1 << 13, 3), parts = whole;
        gemm(ctx, s, a.data(), b.data(), whole.data(), {.beta = beta});
        for (const GemmPart &part : even_parts(s))
          gemm(ctx, part.shape, a.data() + part.a, b.data() + part.b,
               parts.data() + part.c, {.beta = part.adds ? 1.0 : beta});
        for (size_t i = 0; i < whole.size(); i++)
          ASSERT_NEAR(whole[i], parts[i], 1e-4)
              << layout << " " << m << " " << n << " " << k << " at " << i;
      }
}

TEST(EvenParts, CutOffWhatIsOverAlongUnitStrides) {
  // The head of GPT-2: logits, their gradient times the weight, the weight's.
  std::vector<GemmPart> parts = even_parts({.m = 4096,
                                            .n = 50257,
                                            .k = 768,
                                            .a_m = 768,
                                            .a_k = 1,
                                            .b_k = 1,
                                            .b_n = 768,
                                            .c_m = 50304,
                                            .c_n = 1});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].shape.n, 1);
  EXPECT_EQ(parts[0].b, 50256 * 768);
  EXPECT_EQ(parts[0].c, 50256);
  EXPECT_EQ(parts[1].shape.n, 50256);
  EXPECT_FALSE(parts[1].adds);
  parts = even_parts({.m = 4096,
                      .n = 768,
                      .k = 50257,
                      .a_m = 50304,
                      .a_k = 1,
                      .b_k = 768,
                      .b_n = 1,
                      .c_m = 768,
                      .c_n = 1});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].shape.k,
            1); // the small part is rounded, not the large one
  EXPECT_FALSE(parts[0].adds);
  EXPECT_EQ(parts[1].shape.k, 50256);
  EXPECT_TRUE(parts[1].adds);
  parts = even_parts({.m = 50257,
                      .n = 768,
                      .k = 4096,
                      .a_m = 1,
                      .a_k = 50304,
                      .b_k = 768,
                      .b_n = 1,
                      .c_m = 768,
                      .c_n = 1});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].shape.m, 1);
  EXPECT_EQ(parts[1].shape.m, 50256);
}

// The same three, with extents that go on through pads and spare rows.
TEST(EvenParts, AreOneWhereExtentsGoOnThroughPads) {
  for (const GemmShape &s : {GemmShape{.m = 4096,
                                       .n = 50304,
                                       .k = 768,
                                       .a_m = 768,
                                       .b_n = 768,
                                       .c_m = 50304},
                             GemmShape{.m = 4096,
                                       .n = 768,
                                       .k = 50304,
                                       .a_m = 50304,
                                       .b_k = 768,
                                       .c_m = 768},
                             GemmShape{.m = 50304,
                                       .n = 768,
                                       .k = 4096,
                                       .a_k = 50304,
                                       .b_k = 768,
                                       .c_m = 768}})
    EXPECT_EQ(even_parts(s).size(), 1u);
}

// 5 tokens of 16 numbers, and 41 words whose rows have pads up to 48.
TEST(EvenParts, ChangeNothingWherePadsHoldZeros) {
  constexpr int64_t kTokens = 5, kWidth = 16, kWords = 41, kPadded = 48;
  const auto x = random_values<float>(kTokens * kWidth, 1);
  auto w = random_values<float>(kPadded * kWidth, 2);
  std::fill(w.begin() + kWords * kWidth, w.end(), 0.0f);
  Context ctx(2);
  auto logits_over = [&](int64_t words) {
    std::vector<float> y(kTokens * kPadded, NAN);
    gemm(ctx,
         {.m = kTokens,
          .n = words,
          .k = kWidth,
          .a_m = kWidth,
          .b_n = kWidth,
          .c_m = kPadded},
         x.data(), w.data(), y.data());
    return y;
  };
  const auto odd = logits_over(kWords), even = logits_over(kPadded);
  for (int64_t t = 0; t < kTokens; t++)
    for (int64_t v = 0; v < kPadded; v++)
      if (v < kWords)
        ASSERT_NEAR(even[t * kPadded + v], odd[t * kPadded + v], 1e-4);
      else
        ASSERT_EQ(even[t * kPadded + v], 0.0f);
  auto sums_over = [&](int64_t words, const std::vector<float> &y) {
    std::vector<float> dx(kTokens * kWidth);
    gemm(ctx,
         {.m = kTokens,
          .n = kWidth,
          .k = words,
          .a_m = kPadded,
          .b_k = kWidth,
          .c_m = kWidth},
         y.data(), w.data(), dx.data());
    return dx;
  };
  const auto want = sums_over(kWords, odd), sums = sums_over(kPadded, even);
  for (size_t i = 0; i < want.size(); i++)
    ASSERT_NEAR(sums[i], want[i], 1e-4);
  w[kWords * kWidth] = NAN; // a zero times NaN is NaN
  EXPECT_TRUE(std::isnan(sums_over(kPadded, even)[0]));
  EXPECT_FALSE(std::isnan(sums_over(kWords, odd)[0]));
}

TEST(EvenParts, LeaveProductsWithOddRowsWhole) {
  GemmShape s = padded_shape(33, 41, 50, "nnn");
  s.c_m = 41;
  EXPECT_EQ(even_parts(s).size(), 1u);
  s = padded_shape(33, 41, 50, "nnn");
  s.batch[1] = 2;
  EXPECT_EQ(even_parts(s).size(), 1u);
}

// One row of 41 columns begins where it begins, whatever its stride is.
TEST(EvenParts, DoNotAskWhereASecondRowWouldBegin) {
  GemmShape s = padded_shape(1, 41, 48, "nnn");
  s.c_m = 41;
  std::vector<GemmPart> parts = even_parts(s);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].shape.n, 1);
  EXPECT_EQ(parts[1].shape.n, 40);
}

} // namespace
} // namespace gpuopt
