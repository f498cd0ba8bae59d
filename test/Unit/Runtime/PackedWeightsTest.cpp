// Weights that no step changes are packed once, and again when they have
// changed.

#include "gpuopt/ops/conv.h"
#include "gpuopt/ops/gemm.h"
#include "gpuopt/trainer/session.h"

#include "Values.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace gpuopt {
namespace {

const int64_t kPage = sysconf(_SC_PAGESIZE);

TEST(PackedWeights, KnowsWhatDoesNotChange) {
  PackedWeights packed;
  char memory[100] = {};
  EXPECT_FALSE(packed.has(memory));
  packed.add_unchanged(memory + 50, 10, false);
  packed.add_unchanged(memory + 10, 20, false);
  for (int i = 0; i < 100; i++)
    EXPECT_EQ(packed.has(memory + i),
              (i >= 10 && i < 30) || (i >= 50 && i < 60))
        << i;
}

TEST(PackedWeights, AreCopiedForEachKernelAndAfterEachChange) {
  PackedWeights packed;
  const char weights = 0, others = 0;
  int count = 0;
  auto find = [&](const char &of, const char *key) {
    return packed.find(&of, key, 5000, [&](char *) { count++; });
  };
  char *first = find(weights, "a");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 4096, 0u);
  EXPECT_EQ(find(weights, "a"), first);
  EXPECT_EQ(count, 1);
  EXPECT_NE(find(weights, "b"), first);
  EXPECT_NE(find(others, "a"), first);
  EXPECT_EQ(count, 3);
  try {
    packed.find(&weights, "c", size_t(1) << 60, [](char *) {});
    ADD_FAILURE() << "no machine has so much memory";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("bytes for a copy of weights"),
              std::string::npos);
  }
  packed.invalidate();
  EXPECT_EQ(find(weights, "a"), first);
  EXPECT_EQ(find(weights, "a"), first);
  EXPECT_EQ(count, 4);
}

TEST(PackedWeights, GiveBackWhatNothingElseReads) {
  constexpr size_t kBytes = 1 << 20;
  for (const bool has_one_reader : {false, true}) {
    std::unique_ptr<char, void (*)(void *)> memory(
        static_cast<char *>(aligned_alloc(size_t(kPage), kBytes)), free);
    std::fill_n(memory.get(), kBytes, 'w');
    PackedWeights packed;
    // The first and the last page have other things as well.
    packed.add_unchanged(memory.get() + 100, kBytes - 200, has_one_reader);
    // A copy of a part leaves the other parts to be read.
    packed.find(memory.get() + 100, "part", 10, [](char *) {});
    EXPECT_EQ(std::count(memory.get(), memory.get() + kBytes, 'w'),
              int64_t(kBytes));
    packed.find(memory.get() + 100, "a", kBytes, [](char *) {});
    EXPECT_EQ(std::count(memory.get(), memory.get() + kBytes, 'w'),
              has_one_reader ? 2 * kPage : int64_t(kBytes));
    std::fill_n(memory.get(), kBytes, 'x');
    packed.find(memory.get() + 100, "a", kBytes, [](char *) { FAIL(); });
    EXPECT_EQ(std::count(memory.get(), memory.get() + kBytes, 'x'),
              int64_t(kBytes));
  }
}

// The program's own arena, which is persistent memory's neighbour.
constexpr size_t kPersistent = 5000, kArena = 1 << 20;

TEST(Session, GivesBackTheArenaOnceWeightsArePrepared) {
  Program program{};
  program.persistent_bytes = kPersistent;
  program.arena_bytes = kArena;
  program.total_bytes = kPersistent + kArena;
  program.prepare = [](Context &, char *memory) {
    std::fill_n(memory, kPersistent + kArena, 'x');
  };
  Session session(program, 1);
  session.allocate();
  session.prepare();
  EXPECT_EQ(std::count(session.memory, session.memory + kPersistent, 'x'),
            int64_t(kPersistent));
  // What shares its pages with other memory is left.
  EXPECT_LE(std::count(session.memory + kPersistent,
                       session.memory + program.total_bytes, 'x'),
            2 * kPage);
}

// Compares results of a call on weights that may be kept with those of a call
// on weights that are not, before and after the weights change. Where the
// library prefers the order in which they lie, as on processors without
// AVX-512, there is nothing to keep.
template <class Call>
void expect_kept(std::vector<float> weights, size_t outputs, bool has_copy,
                 Call call) {
  Context keeping(2), plain(2);
  keeping.add_unchanged(reinterpret_cast<char *>(weights.data()),
                        weights.size() * sizeof(float), false);
  auto results = [&](Context &ctx) {
    std::vector<float> y(outputs);
    call(ctx, weights.data(), y.data());
    return y;
  };
  auto is_close = [&](const std::vector<float> &expected) {
    const std::vector<float> y = results(keeping);
    return std::equal(
        y.begin(), y.end(), expected.begin(),
        [](float a, float b) { return std::fabs(a - b) <= 1e-4f; });
  };
  const std::vector<float> before = results(plain);
  EXPECT_TRUE(is_close(before));
  for (float &w : weights)
    w = 1 - w;
  const std::vector<float> after = results(plain);
  ASSERT_GT(std::fabs(after[0] - before[0]), 1e-2);
  // A copy shows that it is one until it is told of the change.
  EXPECT_TRUE(is_close(before) || (!has_copy && is_close(after)));
  keeping.weights_changed();
  EXPECT_TRUE(is_close(after));
}

TEST(PackedWeights, ServeProducts) {
  for (const bool is_transposed : {false, true}) {
    GemmShape s;
    s.m = 3, s.n = 160, s.k = 96;
    s.a_m = s.k, s.a_k = 1;
    s.b_k = is_transposed ? 1 : s.n, s.b_n = is_transposed ? s.k : 1;
    s.c_m = s.n, s.c_n = 1;
    const auto x = random_values<float>(size_t(s.m * s.k), 1),
               bias = random_values<float>(size_t(s.n), 3);
    GemmOptions options;
    options.bias = bias.data();
    expect_kept(random_values<float>(size_t(s.k * s.n), 2), size_t(s.m * s.n),
                /*has_copy=*/is_transposed,
                [&](Context &ctx, const float *w, float *y) {
                  gemm(ctx, s, x.data(), w, y, options);
                });
  }
}

TEST(PackedWeights, ServeConvolutions) {
  const ConvShape s = {.n = 1,
                       .h = 6,
                       .w = 6,
                       .c = 16,
                       .oh = 6,
                       .ow = 6,
                       .oc = 32,
                       .kh = 3,
                       .kw = 3,
                       .stride = {1, 1},
                       .pad_begin = {1, 1},
                       .pad_end = {1, 1},
                       .dilation = {1, 1},
                       .groups = 1};
  const auto x = random_values<float>(size_t(s.h * s.w * s.c), 1);
  expect_kept(random_values<float>(size_t(s.oc * s.c * 9), 2),
              size_t(s.oh * s.ow * s.oc), /*has_copy=*/true,
              [&](Context &ctx, const float *w, float *y) {
                conv_forward<float>(ctx, s, x.data(), w, nullptr, y);
              });
}

} // namespace
} // namespace gpuopt
