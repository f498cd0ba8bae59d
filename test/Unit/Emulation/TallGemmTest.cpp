// The kernel for tall products, against plain loops and against the library's
// stand-in, through launches of its own and as a candidate of the timed choice.
#include "Machine.h"

#include "../Runtime/Files.h"
#include "../Runtime/Values.h"
#include "gpuopt/ops/gemm.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <random>

namespace {

using namespace gpuopt;
using detail::TallDevice;

GemmShape shape(int64_t m, int64_t n, int64_t k, bool by_columns) {
  GemmShape s;
  s.m = m, s.n = n, s.k = k;
  s.a_m = k, s.c_m = n;
  s.b_k = by_columns ? 1 : n, s.b_n = by_columns ? k : 1;
  return s;
}

template <class T>
bool are_equal(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * 2) == 0;
}

// Eighths, whose products and sums are exact in float: each order of adding
// gives the same.
template <class T>
std::vector<T> numbers(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < count; i++)
    values.push_back(narrow<T>((int(generator() % 25) - 12) / 8.0f));
  return values;
}

template <class T>
struct Operands {
  Operands(const GemmShape &s)
      : a(numbers<T>(s.m * s.a_m, 1)),
        b(numbers<T>((s.b_k == 1 ? s.n : s.k) * std::max(s.b_k, s.b_n), 2)),
        bias(numbers<T>(s.n, 3)), added(numbers<T>(s.m * s.c_m, 4)),
        mask(size_t(s.m * mask_words(s.n))) {
    std::mt19937 generator(5);
    for (int32_t &word : mask)
      word = int32_t(generator());
  }
  std::vector<T> a, b, bias, added;
  std::vector<int32_t> mask;
};

// The operands that a call has beside A and B.
struct Parts {
  bool bias, added, mask;
};

template <class T>
struct Results {
  std::vector<T> c;
  std::vector<int32_t> mask;
};

bool bit_of(const std::vector<int32_t> &mask, const GemmShape &s, int64_t row,
            int64_t column) {
  return uint32_t(mask[size_t(row * mask_words(s.n) + column / 32)]) >>
             (column % 32) &
         1;
}

template <Epilogue E, class T>
Results<T> by_loops(const GemmShape &s, const Operands<T> &x, Parts parts) {
  Results<T> r{std::vector<T>(size_t(s.m * s.c_m)),
               std::vector<int32_t>(x.mask.size())};
  for (int64_t i = 0; i < s.m; i++)
    for (int64_t j = 0; j < s.n; j++) {
      const size_t at = size_t(i * s.c_m + j);
      float z = 0;
      for (int64_t l = 0; l < s.k; l++)
        z += widen(x.a[size_t(i * s.a_m + l)]) *
             widen(x.b[size_t(l * s.b_k + j * s.b_n)]);
      z += parts.added ? widen(x.added[at]) : 0;
      z += parts.bias ? widen(x.bias[size_t(j)]) : 0;
      if (E == Epilogue::ReluGradient && !bit_of(x.mask, s, i, j))
        z = 0;
      if (E == Epilogue::Relu && z > 0)
        r.mask[size_t(i * mask_words(s.n) + j / 32)] |= 1 << j % 32;
      if (E == Epilogue::Relu && z <= 0)
        z = 0;
      r.c[at] = narrow<T>(z);
    }
  return r;
}

TallDevice device_of(int multiprocessors) {
  TallDevice device;
  device.multiprocessors = multiprocessors;
  return device;
}

struct TallGemmTest : Emulation {
  // The result takes the place of what is added if `in_place`. What no row or
  // column has keeps its value.
  template <Epilogue E, class T>
  static Results<T> by_kernel(const GemmShape &s, const Operands<T> &x,
                              Parts parts, int multiprocessors = 3,
                              bool in_place = false) {
    Context ctx;
    OnDevice<T> a(x.a), b(x.b), bias(x.bias), added(x.added),
        c(in_place ? x.added : std::vector<T>(x.added.size()));
    OnDevice<int32_t> mask(
        E == Epilogue::Relu ? std::vector<int32_t>(x.mask.size()) : x.mask);
    GemmOptions o;
    o.epilogue = E;
    o.bias = parts.bias ? bias.data : nullptr;
    o.aux = parts.mask ? mask.data : nullptr;
    o.added = parts.added && !in_place ? added.data : nullptr;
    o.beta = parts.added && in_place ? 1 : 0;
    const TallDevice device = device_of(multiprocessors);
    EXPECT_TRUE(detail::has_tall_kernel(device, s, o));
    detail::launch_tall_gemm<E>(ctx, device, s, a.data, b.data, c.data, o);
    EXPECT_EQ(error_of_work(), "");
    return {c.values(), mask.values()};
  }

  template <Epilogue E, class T>
  static void expect_as_by_loops(const GemmShape &s, Parts parts,
                                 int multiprocessors = 3,
                                 bool in_place = false) {
    const Operands<T> x(s);
    const Results<T> expected = by_loops<E>(s, x, parts),
                     results =
                         by_kernel<E>(s, x, parts, multiprocessors, in_place);
    EXPECT_TRUE(are_equal(results.c, expected.c))
        << s.m << "x" << s.n << "x" << s.k << ", B's strides " << s.b_k << " "
        << s.b_n << ", bias " << parts.bias << ", added " << parts.added;
    if (E == Epilogue::Relu && parts.mask)
      EXPECT_EQ(results.mask, expected.mask);
  }

  template <class T>
  static void expect_epilogues(const GemmShape &s) {
    for (bool added : {false, true}) {
      expect_as_by_loops<Epilogue::ReluGradient, T>(s, {false, added, true});
      for (bool bias : {false, true}) {
        expect_as_by_loops<Epilogue::None, T>(s, {bias, added, false});
        expect_as_by_loops<Epilogue::Relu, T>(s, {bias, added, bias == added});
      }
    }
  }
};

// Rows, columns and sums that end within a strip, a half of its columns or a
// part of the sum.
TEST_F(TallGemmTest, HasTails) {
  for (bool by_columns : {false, true})
    for (auto [m, n, k] : {std::array<int64_t, 3>{1, 8, 8},
                           {33, 136, 72},
                           {75, 72, 200},
                           {64, 128, 64}}) {
      const GemmShape s = shape(m, n, k, by_columns);
      expect_as_by_loops<Epilogue::Relu, f16>(s, {true, true, true});
      expect_as_by_loops<Epilogue::ReluGradient, f16>(s, {false, true, true});
    }
}

TEST_F(TallGemmTest, HasEpiloguesInF16) {
  for (bool by_columns : {false, true})
    expect_epilogues<f16>(shape(50, 200, 64, by_columns));
}
TEST_F(TallGemmTest, HasEpiloguesInBF16) {
  for (bool by_columns : {false, true})
    expect_epilogues<bf16>(shape(50, 200, 64, by_columns));
}

// Warps walk over several strips each; the sums have one part to five.
TEST_F(TallGemmTest, WalksOverStrips) {
  for (int64_t k : {64, 128, 320})
    for (bool by_columns : {false, true}) {
      const GemmShape s = shape(32 * 8 * 2 + 5, 16, k, by_columns);
      if (by_columns)
        expect_as_by_loops<Epilogue::Relu, f16>(s, {true, true, true}, 1);
      else
        expect_as_by_loops<Epilogue::ReluGradient, f16>(s, {false, true, true},
                                                        1);
    }
}

// Rows lie apart where a matrix is a slice of another one.
TEST_F(TallGemmTest, TakesRowsThatLieApart) {
  for (bool by_columns : {false, true}) {
    GemmShape s = shape(70, 40, 48, by_columns);
    s.a_m += 8, s.c_m += 16;
    (by_columns ? s.b_n : s.b_k) += 24;
    expect_as_by_loops<Epilogue::Relu, f16>(s, {true, true, true});
  }
}

TEST_F(TallGemmTest, AddsToItsResult) {
  const GemmShape s = shape(32 * 10, 64, 64, false);
  expect_as_by_loops<Epilogue::ReluGradient, f16>(s, {false, true, true}, 1,
                                                  true);
  expect_as_by_loops<Epilogue::None, f16>(s, {true, true, false}, 1, true);
}

// Numbers whose sums are rounded, in each order of adding to something else.
template <class T>
Operands<T> rough_operands(const GemmShape &s) {
  Operands<T> x(s);
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  for (std::vector<T> *values : {&x.a, &x.b, &x.bias, &x.added})
    for (T &value : *values)
      value = narrow<T>(normal(generator));
  return x;
}

// A warp has twelve strips, three or one.
TEST_F(TallGemmTest, HasTheSameBitsInAnyNumberOfBlocks) {
  const GemmShape s = shape(3000, 40, 136, true);
  const Operands<f16> x = rough_operands<f16>(s);
  const Parts parts{true, true, true};
  const Results<f16> one = by_kernel<Epilogue::Relu>(s, x, parts, 1);
  for (int multiprocessors : {4, 132}) {
    emulation::seed_machine(uint64_t(multiprocessors));
    const Results<f16> other =
        by_kernel<Epilogue::Relu>(s, x, parts, multiprocessors);
    EXPECT_TRUE(are_equal(other.c, one.c)) << multiprocessors;
    EXPECT_EQ(other.mask, one.mask);
  }
}

// A sum that is rounded twice would differ in many of its last bits.
TEST_F(TallGemmTest, RoundsOnce) {
  const GemmShape s = shape(64, 64, 256, false);
  const Operands<f16> x = rough_operands<f16>(s);
  const Results<f16> results =
                         by_kernel<Epilogue::None>(s, x, {true, true, false}),
                     expected =
                         by_loops<Epilogue::None>(s, x, {true, true, false});
  int different = 0;
  for (size_t i = 0; i < results.c.size(); i++)
    different += results.c[i].bits != expected.c[i].bits;
  EXPECT_LE(different, 10); // of 4096, by the order of the sums
}

TEST_F(TallGemmTest, KeepsNaNs) {
  const GemmShape s = shape(8, 8, 8, false);
  Operands<f16> x(s);
  x.a[8] = narrow_f16(NAN); // of row 1
  const Results<f16> r =
      by_kernel<Epilogue::Relu>(s, x, {false, false, true}, 1);
  for (size_t j = 0; j < 8; j++) {
    EXPECT_FALSE(std::isnan(widen(r.c[j])));
    EXPECT_TRUE(std::isnan(widen(r.c[8 + j])));
    EXPECT_FALSE(bit_of(r.mask, s, 1, int64_t(j)));
  }
}

// The device takes the largest sums whose part of B fits into shared memory.
// Rows that are no whole vectors of 16 bytes are refused.
TEST_F(TallGemmTest, RefusesWhatDoesNotFit) {
  const TallDevice device;
  EXPECT_EQ(device.warps(64), 8);
  EXPECT_EQ(device.warps(256), 8);
  EXPECT_EQ(device.warps(640), 4);
  EXPECT_EQ(device.warps(641), 0);
  EXPECT_EQ(device.warps(33554432), 0); // 2^32 elements of B
  const auto takes = [&](const GemmShape &s, const GemmOptions &o = {}) {
    return detail::has_tall_kernel(device, s, o);
  };
  EXPECT_TRUE(takes(shape(4096, 64, 64, false)));
  EXPECT_FALSE(takes(shape(4096, 64, 648, false)));
  EXPECT_FALSE(takes(shape(4096, 64, 33554432, false)));
  EXPECT_FALSE(takes(shape(4096, 60, 64, false)));
  EXPECT_FALSE(takes(shape(4096, 64, 60, false)));
  EXPECT_FALSE(takes(shape(4096, 64, 64, false), {.alpha = 2}));
  const GemmShape s = shape(4096, 64, 64, false);
  EXPECT_FALSE(takes(s, {.epilogue = Epilogue::Gelu}));
  for (int64_t GemmShape::*stride :
       {&GemmShape::a_m, &GemmShape::b_k, &GemmShape::c_m}) {
    GemmShape odd = s;
    odd.*stride += 4;
    EXPECT_FALSE(takes(odd));
  }
  GemmShape batched = s;
  batched.batch[1] = 2;
  EXPECT_FALSE(takes(batched));
  GemmShape transposed_a = s;
  transposed_a.a_m = 1, transposed_a.a_k = s.m;
  EXPECT_FALSE(takes(transposed_a));
}

// ---- The timed choice ------------------------------------------------------

// The library's stand-in makes zero of a NaN, and the kernel keeps it, which
// tells them apart.
struct TallChoice : TallGemmTest {
  static constexpr int64_t kN = 8, kK = 64;
  TallChoice() { x.a[0] = narrow_f16(NAN); }

  // Runs the product once, as a program with this record or without one, and
  // tells whether the kernel has computed it. The result begins `offset`
  // elements behind a multiple of 16 bytes.
  bool is_by_kernel(const std::string &record, int64_t m = kM,
                    bool in_place = false, size_t offset = 0) {
    Context ctx;
    OnDevice<char> memory{1 << 16};
    ctx.use_workspace(memory.data, memory.n);
    if (!record.empty())
      ctx.use_autotune_record(record);
    OnDevice<f16> a(x.a), b(x.b), bias(x.bias), added(x.added),
        c(std::vector<f16>(x.added.size() + offset));
    if (in_place)
      cudaMemcpy(c.data, x.added.data(), 2 * x.added.size(),
                 cudaMemcpyHostToDevice);
    OnDevice<int32_t> mask(std::vector<int32_t>(x.mask.size()));
    error = ::error_of([&] {
      gemm_relu(ctx, shape(m, kN, kK, true), a.data, b.data, bias.data,
                in_place ? c.data + offset : added.data, c.data + offset,
                mask.data);
    });
    return std::isnan(widen(c.values()[offset]));
  }

  std::string choice() const {
    const std::string record = read_file(file);
    const std::string line = record.substr(record.rfind('\t') + 1);
    return line.substr(0, line.find('\n'));
  }
  void choose(const std::string &other) const {
    std::string record = read_file(file);
    record.replace(record.rfind(choice()), choice().size(), other);
    write_file(file, record);
  }

  static constexpr int64_t kM = 1024;
  Operands<f16> x = Operands<f16>(shape(kM, kN, kK, true));
  TemporaryFolder folder;
  std::string file = folder / "autotune.txt", error;
};

TEST_F(TallChoice, IsTimedAndRecorded) {
  const bool is_first = is_by_kernel(file);
  ASSERT_EQ(error, "");
  const std::string record = read_file(file), chosen = choice();
  EXPECT_TRUE(contains(record, "product of f16 to f16, 1 of 1024x8x64"))
      << record;
  EXPECT_TRUE(contains(record, ", relu, what it keeps aligned 16, bias aligned "
                               "16, added to a matrix"))
      << record;
  EXPECT_EQ(chosen == "gpuopt tall 1", is_first);
  EXPECT_EQ(is_by_kernel(file), is_first);
  EXPECT_EQ(read_file(file), record);
  choose("gpuopt tall 1");
  EXPECT_TRUE(is_by_kernel(file));
  EXPECT_EQ(error, "");
  EXPECT_EQ(choice(), "gpuopt tall 1");
}

// A call whose result takes the place of what is added is another product.
TEST_F(TallChoice, IsTimedWhereTheResultIsAddedTo) {
  const bool is_first = is_by_kernel(file, kM, /*in_place=*/true);
  ASSERT_EQ(error, "");
  EXPECT_TRUE(contains(read_file(file), ", added to the result"))
      << read_file(file);
  EXPECT_EQ(choice() == "gpuopt tall 1", is_first);
  choose("gpuopt tall 1");
  EXPECT_TRUE(is_by_kernel(file, kM, /*in_place=*/true));
  EXPECT_EQ(error, "");
}

// Only the kernel can be timed here: the stand-in's algorithms, which are
// faster, are said to fail.
TEST_F(TallChoice, IsOneOfTheCandidates) {
  for (const bool offers : {true, false}) {
    std::filesystem::remove(file);
    Context ctx;
    ctx.use_autotune_record(file);
    OnDevice<f16> a(x.a), b(x.b), added(x.added), c(x.added.size());
    const GemmOptions o = {.epilogue = Epilogue::Relu, .added = added.data};
    auto &lt = ctx.library<detail::CublasLt>();
    const detail::ProductKey key =
        detail::key_of(ctx, shape(kM, kN, kK, true), a.data, b.data, c.data, o);
    const detail::LtProduct p = detail::make_product<f16, f16>(key, o);
    const detail::ProductAlgorithm algorithm =
        detail::choose_algorithm(ctx, lt.handle, p, key, offers,
                                 [](const detail::ProductAlgorithm &candidate) {
                                   return candidate.is_tall_kernel
                                              ? CUBLAS_STATUS_SUCCESS
                                              : CUBLAS_STATUS_NOT_SUPPORTED;
                                 });
    detail::CublasLt::destroy(p);
    EXPECT_EQ(algorithm.is_tall_kernel, offers);
    EXPECT_EQ(std::filesystem::exists(file) && choice() == "gpuopt tall 1",
              offers);
  }
}

TEST_F(TallChoice, IsNotTakenUntimed) {
  EXPECT_FALSE(is_by_kernel(""));
  EXPECT_EQ(error, "");
}

TEST_F(TallChoice, IsRefusedWhereItDoesNotTakeTheCall) {
  for (const bool is_aligned : {true, false}) {
    const int64_t m = is_aligned ? 1000 : kM;
    const size_t offset = is_aligned ? 0 : 4;
    std::filesystem::remove(file);
    EXPECT_FALSE(is_by_kernel(file, m, false, offset));
    EXPECT_EQ(error, "");
    choose("gpuopt tall 1");
    is_by_kernel(file, m, false, offset);
    EXPECT_TRUE(contains(error, ": the kernel 'gpuopt tall 1' does not take "
                                "it; remove the file"))
        << error;
  }
}

// Such a call would share the choice of gemm_relu, but it is compiled without
// the kernel.
TEST_F(TallChoice, IsNotOfferedToOptionsAlone) {
  Context ctx;
  OnDevice<f16> a(x.a), b(x.b), c(x.added.size());
  const GemmShape s = shape(kM, kN, kK, true);
  EXPECT_EQ(::error_of([&] {
              gemm(ctx, s, a.data, b.data, c.data,
                   {.epilogue = Epilogue::Relu});
            }),
            "gemm: the options have epilogue 3, and the call is compiled for "
            "epilogue 0; call the function that is named after the epilogue, "
            "such as gemm_relu");
}

TEST_F(TallChoice, IsRefusedIfItIsUnknown) {
  is_by_kernel(file);
  choose("gpuopt tall 2");
  is_by_kernel(file);
  EXPECT_TRUE(contains(
      error, ": 'gpuopt tall 2' is neither an algorithm of cuBLASLt nor a "
             "kernel of this version of gpuopt; remove the file"))
      << error;
}

} // namespace
