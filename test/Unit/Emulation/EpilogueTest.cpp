// Products with a GELU or a ReLU, or the gradient of one, in the epilogue,
// against formulas in double precision: through the runtime and the library's
// stand-in.
#include "Machine.h"

#include "../Runtime/Values.h"
#include "gpuopt/ops/gemm.h"

#include <cmath>
#include <cstdlib>
#include <random>

namespace {

using namespace gpuopt;

constexpr int64_t kM = 24, kN = 16, kK = 8;

// A by rows, B by rows or by columns.
GemmShape shape(bool transposes_b) {
  GemmShape s;
  s.m = kM, s.n = kN, s.k = kK;
  s.a_m = kK, s.a_k = 1;
  s.b_k = transposes_b ? 1 : kN, s.b_n = transposes_b ? kK : 1;
  s.c_m = kN, s.c_n = 1;
  return s;
}

// The relative error of one rounding to T.
template <class T>
constexpr double kTolerance = std::is_same_v<T, float> ? 2e-6
                              : std::is_same_v<T, f16> ? 1e-3
                                                       : 8e-3;

template <class T>
std::vector<T> numbers(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.5f, 1.5f);
  std::vector<T> values(count);
  for (T &value : values)
    value = narrow<T>(uniform(generator));
  return values;
}

template <class T>
double at(const std::vector<T> &values, int64_t i) {
  return double(load_scalar(&values[size_t(i)]));
}

template <class T>
struct Operands {
  std::vector<T> a = numbers<T>(kM * kK, 1), b = numbers<T>(kK * kN, 2),
                 bias = numbers<T>(kN, 3), input = numbers<T>(kM * kN, 4);

  double product(const GemmShape &s, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t l = 0; l < kK; l++)
      sum += at(a, i * s.a_m + l * s.a_k) * at(b, l * s.b_k + j * s.b_n);
    return sum;
  }
};

double gelu(double x) {
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double slope_of_gelu(double x) {
  constexpr double kStep = 1e-5;
  return (gelu(x + kStep) - gelu(x - kStep)) / (2 * kStep);
}

// Its workspace is one that the stand-in fills with NaNs in little time.
struct SmallContext : Context {
  SmallContext() { use_workspace(memory.data, memory.n); }
  OnDevice<char> memory{1 << 16};
};

struct EpilogueTest : Emulation {
  static void expect_near(double value, double expected, double tolerance) {
    EXPECT_NEAR(value, expected, tolerance * (1 + std::abs(expected)));
  }

  template <class T>
  void expect_gelu(Context &ctx, bool transposes_b, bool has_bias,
                   bool keeps_input) {
    const GemmShape s = shape(transposes_b);
    const Operands<T> host;
    OnDevice<T> a(host.a), b(host.b), bias(host.bias), c(kM * kN),
        input(kM * kN);
    gemm_gelu(ctx, s, a.data, b.data, has_bias ? bias.data : nullptr, c.data,
              keeps_input ? input.data : nullptr);
    const std::vector<T> result = c.values(), kept = input.values();
    for (int64_t i = 0; i < kM; i++)
      for (int64_t j = 0; j < kN; j++) {
        const double z =
            host.product(s, i, j) + (has_bias ? at(host.bias, j) : 0);
        expect_near(at(result, i * kN + j), gelu(z), kTolerance<T>);
        if (keeps_input)
          expect_near(at(kept, i * kN + j), z, kTolerance<T>);
      }
  }

  template <class T>
  void expect_gradient(Context &ctx, bool transposes_b, bool sums_columns) {
    const GemmShape s = shape(transposes_b);
    const Operands<T> host;
    OnDevice<T> a(host.a), b(host.b), input(host.input), c(kM * kN), sums(kN);
    gemm_gelu_backward(ctx, s, a.data, b.data, input.data, c.data,
                       sums_columns ? sums.data : nullptr);
    const std::vector<T> result = c.values(), added = sums.values();
    for (int64_t j = 0; j < kN; j++) {
      double sum = 0;
      for (int64_t i = 0; i < kM; i++) {
        const double expected =
            host.product(s, i, j) * slope_of_gelu(at(host.input, i * kN + j));
        expect_near(at(result, i * kN + j), expected, kTolerance<T>);
        sum += expected;
      }
      if (sums_columns)
        expect_near(at(added, j), sum, kTolerance<T>);
    }
  }

  // The forward, and a gradient by the mask that it keeps. Beside the mask,
  // which has rows of 128 bits, nothing is written.
  template <class T>
  void expect_relu(Context &ctx, bool transposes_b, bool has_bias,
                   bool has_added) {
    const GemmShape s = shape(transposes_b);
    const Operands<T> host;
    const int64_t words = mask_words(kN);
    OnDevice<T> a(host.a), b(host.b), bias(host.bias), added(host.input),
        y(kM * kN), dz(kM * kN), plain(kM * kN);
    OnDevice<int32_t> mask(size_t(kM * words));
    const T *added_or_null = has_added ? added.data : nullptr;
    const T *bias_or_null = has_bias ? bias.data : nullptr;
    gemm_relu<T>(ctx, s, a.data, b.data, bias_or_null, added_or_null, y.data,
                 mask.data);
    gemm_relu_backward<T>(ctx, s, a.data, b.data, mask.data, added_or_null,
                          dz.data);
    gemm_relu<T>(ctx, s, a.data, b.data, bias_or_null, added_or_null,
                 plain.data, nullptr);
    const std::vector<T> result = y.values(), gradient = dz.values(),
                         without = plain.values();
    const std::vector<int32_t> bits = mask.values();
    for (int64_t i = 0; i < kM; i++)
      for (int64_t j = 0; j < kN; j++) {
        const int64_t e = i * kN + j;
        const double sum =
            host.product(s, i, j) + (has_added ? at(host.input, e) : 0);
        const double z = sum + (has_bias ? at(host.bias, j) : 0);
        const bool is_kept =
            uint32_t(bits[size_t(i * words + j / 32)]) >> (j % 32) & 1;
        if (std::abs(z) > 1e-5)
          EXPECT_EQ(is_kept, z > 0);
        expect_near(at(result, e), std::max(z, 0.0), kTolerance<T>);
        EXPECT_EQ(at(without, e), at(result, e));
        expect_near(at(gradient, e), is_kept ? sum : 0, kTolerance<T>);
      }
  }

  // What a program says of a missing epilogue, it says once.
  static void expect_notice(const std::string &text, bool is_missing) {
    const std::string notice = "has no algorithm for a product of ";
    const size_t first = text.find(notice);
    EXPECT_EQ(first != std::string::npos, is_missing) << text;
    if (is_missing) {
      EXPECT_EQ(text.find(notice, first + 1), std::string::npos) << text;
      EXPECT_NE(text.find("sums of A"), std::string::npos) << text;
    }
  }

  // A lies by columns, as the gradient of what a weight has made does in the
  // gradient of the weight. Where the library has no such epilogue, a kernel
  // adds up.
  template <class T>
  void expect_sums(bool has_epilogue) {
    SmallContext ctx;
    constexpr int64_t m = kM;
    GemmShape s = shape(/*transposes_b=*/false);
    s.a_m = 1, s.a_k = m;
    const Operands<T> host;
    OnDevice<T> a(host.a), b(host.b);
    OnDevice<float> c(m * kN), sums(m);
    if (!has_epilogue)
      setenv("GPUOPT_EMULATED_WITHOUT_OPERAND_SUMS", "1", 1);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2; i++)
      gemm_sums(ctx, s, a.data, b.data, c.data, sums.data);
    expect_notice(testing::internal::GetCapturedStderr(), !has_epilogue);
    unsetenv("GPUOPT_EMULATED_WITHOUT_OPERAND_SUMS");
    const std::vector<float> result = c.values(), added = sums.values();
    for (int64_t i = 0; i < m; i++) {
      double sum = 0;
      for (int64_t l = 0; l < kK; l++)
        sum += at(host.a, i + l * m);
      expect_near(at(added, i), sum, kTolerance<float>);
      for (int64_t j = 0; j < kN; j++)
        expect_near(at(result, i * kN + j), host.product(s, i, j),
                    kTolerance<float>);
    }
  }

  template <class T>
  void expect_all() {
    SmallContext ctx;
    for (bool transposes_b : {false, true})
      for (bool first : {false, true}) {
        expect_gradient<T>(ctx, transposes_b, first);
        for (bool second : {false, true}) {
          expect_gelu<T>(ctx, transposes_b, first, second);
          expect_relu<T>(ctx, transposes_b, first, second);
        }
      }
  }
};

TEST_F(EpilogueTest, ComputesInF32) { expect_all<float>(); }
TEST_F(EpilogueTest, ComputesInF16) { expect_all<f16>(); }
TEST_F(EpilogueTest, ComputesInBF16) { expect_all<bf16>(); }

TEST_F(EpilogueTest, SumsAnOperandInF32) {
  for (bool has_epilogue : {true, false}) {
    expect_sums<f16>(has_epilogue);
    expect_sums<bf16>(has_epilogue);
  }
}

// Two calls of one shape whose tensors differ share a descriptor.
TEST_F(EpilogueTest, SetsPointersForEachCall) {
  const GemmShape s = shape(false);
  const Operands<float> host;
  OnDevice<float> a(host.a), b(host.b), bias(host.bias),
      other(numbers<float>(kN, 5)), c(kM * kN), first(kM * kN), second(kM * kN);
  SmallContext ctx;
  gemm_gelu(ctx, s, a.data, b.data, bias.data, c.data, first.data);
  gemm_gelu(ctx, s, a.data, b.data, other.data, c.data, second.data);
  const std::vector<float> one = first.values(), two = second.values();
  for (int64_t i = 0; i < kM * kN; i++)
    EXPECT_NEAR(two[size_t(i)] - one[size_t(i)],
                other.values()[size_t(i % kN)] - host.bias[size_t(i % kN)],
                1e-5);
}

// The library reads what a GELU keeps at multiples of 8 elements alone.
TEST_F(EpilogueTest, RefusesRowsThatAreNotEven) {
  GemmShape s = shape(false);
  s.n = s.c_m = 12;
  const Operands<float> host;
  OnDevice<float> a(host.a), b(host.b), c(kM * kN), input(kM * kN);
  SmallContext ctx;
  try {
    gemm_gelu<float>(ctx, s, a.data, b.data, nullptr, c.data, input.data);
    FAIL() << "12 columns are no multiple of 8";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("cuBLASLt"), std::string::npos);
  }
}

} // namespace
