// GPUs of compute capability 9.0 have kernels of attention of their own, and so
// has the emulated machine: AttentionTest.cpp runs these. Here they are
// compared with those that all GPUs have.
#include "AttentionCase.h"

#include "emulation/cudart/activity.h"

using namespace gpuopt;

namespace {

using AttentionWarpgroupsTest = Emulation;
using Extra = Case::Extra;

// Keeps how many threads the blocks of each launch have.
class Launches : public emulation::ActivityListener {
public:
  Launches() { *gpuopt_activity_listener() = this; }
  ~Launches() override { *gpuopt_activity_listener() = nullptr; }
  uint32_t begin_call(const emulation::Activity &activity, int) override {
    if (activity.kind == emulation::ActivityKind::Kernel)
      threads.push_back(activity.block[0]);
    return 0;
  }
  void end_call(uint32_t) override {}
  void end_work(uint32_t, emulation::ActivityTime,
                emulation::ActivityTime) override {}

  std::vector<unsigned> threads;
};

// The forward is the first launch, and the gradients are the last two.
TEST_F(AttentionWarpgroupsTest, ComputeForwardAndBackward) {
  Case masked;
  masked.extra = Extra::AddedMask;
  const auto threads = [](const Case &c, const ContextHooks &hooks) {
    Launches launches;
    run(c, Inputs<f16>(c), hooks);
    const std::vector<unsigned> all = launches.threads;
    EXPECT_EQ(all.size(), 4u);
    return std::vector{all.front(), all[all.size() - 2], all.back()};
  };
  for (const Case &c : {Case(), masked}) {
    EXPECT_EQ(threads(c, {}), (std::vector{128u, 128u, 128u}));
    EXPECT_EQ(threads(c, {without_warpgroups}).front(), 256u);
  }
}

template <class T>
void expect_bits_of_warps(const std::vector<Case> &cases) {
  for (const Case &c : cases) {
    SCOPED_TRACE(describe(c));
    const Inputs<T> in(c);
    EXPECT_TRUE(has_same_bits(run(c, in), run(c, in, {without_warpgroups})));
  }
}

TEST_F(AttentionWarpgroupsTest, HaveTheBitsOfWarps) {
  const std::vector<Case> cases = {
      {.queries = 150,
       .keys = 150,
       .batch = {2, 2, 1},
       .is_fused = true,
       .first_key = -150,
       .last_key = 0}, // causal
      {.queries = 197, .keys = 197},
      {.queries = 130, .keys = 33},
      {.queries = 1, .keys = 70},
      {.queries = 70, .keys = 66, .key_size = 40, .value_size = 40},
      {.queries = 70, .keys = 50, .batch = {2, 2, 3}, .shares_keys = true},
      {.queries = 150, .keys = 200, .first_key = -20, .last_key = 70},
      // Queries that see no key.
      {.queries = 130,
       .keys = 70,
       .first_key = -1000,
       .last_key = -60,
       .zeroes_empty = true},
  };
  expect_bits_of_warps<f16>(cases);
  expect_bits_of_warps<bf16>({cases[0], cases[6]});
}

TEST_F(AttentionWarpgroupsTest, HaveTheBitsOfWarpsUnderMasks) {
  const auto masked = [](Case c) {
    c.batch[0] = c.batch[1] = 2;
    c.extra = Extra::AddedMask;
    return c;
  };
  const std::vector<Case> cases = {
      masked({.queries = 70, .keys = 66}),
      masked({.queries = 100, .keys = 130}),
      masked({.queries = 64,
              .keys = 128,
              .is_broadcast = {false, true, false, true}}), // padding
      masked({.queries = 128,
              .keys = 96,
              .masked_value = -1e9,
              .has_empty_rows = true}),
      masked({.queries = 64,
              .keys = 64,
              .has_empty_rows = true,
              .zeroes_empty = true}),
      masked({.queries = 96, .keys = 96, .first_key = -95, .last_key = 40}),
  };
  expect_bits_of_warps<f16>(cases);
  expect_bits_of_warps<bf16>({cases[0], cases[2]});
}

// Rows of Y that are aligned are written by vectors, and others by elements.
TEST_F(AttentionWarpgroupsTest, WriteTheRowsOfYAlone) {
  for (const int64_t gap : {8, 2, 3}) {
    Case c{.queries = 70,
           .keys = 50,
           .key_size = 24,
           .value_size = 24,
           .y_gap = gap};
    SCOPED_TRACE(gap);
    const Inputs<f16> in(c);
    const Outputs<f16> out = run(c, in);
    EXPECT_LT(distance(out.results(c).y, reference(c, in).y), kTolerance<f16>);
    EXPECT_EQ(count_strangers(out.y, Places(c).y, c, c.queries, c.value_size),
              0);
    EXPECT_TRUE(has_same_bits(out.y, run(c, in, {without_warpgroups}).y));
  }
}

} // namespace
