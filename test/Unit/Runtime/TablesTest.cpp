// One launch for the tensors of a table gives each of them the bits that a
// launch for it alone gives.

#include "gpuopt/optimizers/accumulate.h"
#include "gpuopt/optimizers/adafactor.h"
#include "gpuopt/optimizers/adam.h"
#include "gpuopt/optimizers/adamw_8bit.h"
#include "gpuopt/optimizers/lion.h"
#include "gpuopt/optimizers/sgd.h"
#include "gpuopt/optimizers/snapshot.h"

#include <gtest/gtest.h>
#include <random>

namespace gpuopt {
namespace {

// Three tensors: more than a span, nothing, and a part of one. The second and
// third have gradients in half precision, the first and third have a copy.
constexpr int64_t kSizes[] = {2 * kSpan + 37, 0, 4099};
constexpr int64_t kFirstSpans[] = {0, 3, 3}, kSpans = 4;
constexpr size_t kEach = 1 << 17, kTensors = 12; // bytes of a tensor; a row's
constexpr size_t at(int row, int tensor) {
  return (size_t(row) * kTensors + size_t(tensor)) * kEach;
}
enum {
  P,
  M,
  V,
  G,
  Half,
  Copy,
  MCodes,
  MScales,
  VCodes,
  VScales,
  GradientSum,
  Scratch
};

using Bytes = std::vector<char>;

struct Tables : testing::Test {
  Tables() : ctx(2), bytes(3 * kTensors * kEach) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    const Memory m{bytes.data()};
    for (int row = 0; row < 3; row++)
      for (int64_t i = 0; i < kSizes[row]; i++) {
        for (int tensor : {P, M, G, GradientSum})
          m[Buffer<float>(at(row, tensor))][i] = normal(random);
        m[Buffer<float>(at(row, V))][i] = std::abs(normal(random));
        m[Buffer<bf16>(at(row, Half))][i] = narrow_bf16(normal(random));
      }
    hyper.momentum = 0.9;
    state.grad_scale = 0.5;
    state.learning_rate = 1e-2;
    state.micro_step = 2;
  }
  // The memory after f(m) has worked on a copy of it.
  template <class F>
  Bytes after(F f) {
    Bytes copy = bytes;
    f(Memory{copy.data()});
    EXPECT_NE(copy, bytes);
    return copy;
  }
  // Calls f(row, gradient) with the gradient in the row's precision.
  template <class F>
  static void for_gradients(Memory m, F f) {
    f(0, m[Buffer<float>(at(0, G))]);
    for (int row : {1, 2})
      f(row, m[Buffer<bf16>(at(row, Half))]);
  }
  static bf16 *copy_of(Memory m, int row) {
    return row == 1 ? nullptr : m[Buffer<bf16>(at(row, Copy))];
  }
  static float *floats(Memory m, int row, int tensor) {
    return m[Buffer<float>(at(row, tensor))];
  }
  static int8_t *codes(Memory m, int row, int tensor) {
    return m[Buffer<int8_t>(at(row, tensor))];
  }

  Context ctx;
  StepState state;
  Hyperparameters hyper;
  Bytes bytes;
};

DEVICE_TABLE UpdateRow<float, bf16, 2> kTwoStates[] = {
    {at(0, P), {at(0, M), at(0, V)}, at(0, G), at(0, Copy), kSizes[0], 0, true},
    {at(1, P), {at(1, M), at(1, V)}, {at(1, Half), true}, kNowhere, 0, 3, true},
    {at(2, P),
     {at(2, M), at(2, V)},
     {at(2, Half), true},
     at(2, Copy),
     kSizes[2],
     3,
     false},
};
DEVICE_TABLE UpdateRow<float, bf16, 1> kOneState[] = {
    {at(0, P), {at(0, M)}, at(0, G), at(0, Copy), kSizes[0], 0, true},
    {at(1, P), {at(1, M)}, {at(1, Half), true}, kNowhere, 0, 3, true},
    {at(2, P),
     {at(2, M)},
     {at(2, Half), true},
     at(2, Copy),
     kSizes[2],
     3,
     false},
};
DEVICE_TABLE UpdateRow<float, bf16, 1> kMomenta[] = {
    {at(0, P), {at(0, M)}, at(0, G), at(0, Copy), kSizes[0], 0, true},
    {at(2, P),
     {kNowhere},
     {at(2, Half), true},
     at(2, Copy),
     kSizes[2],
     3,
     true},
};

TEST_F(Tables, Adamw) {
  begin_adamw(ctx, &state, &hyper);
  const Bytes alone = after([&](Memory m) {
    for_gradients(m, [&](int row, const auto *g) {
      adamw(ctx, &state, floats(m, row, P), floats(m, row, M),
            floats(m, row, V), g, kSizes[row], row < 2, copy_of(m, row));
    });
  });
  EXPECT_EQ(alone, after([&](Memory m) {
              adamw(ctx, &state, m, kTwoStates, kSpans);
            }));
  // By any number of threads.
  Context one(1);
  EXPECT_EQ(alone, after([&](Memory m) {
              adamw(one, &state, m, kTwoStates, kSpans);
            }));
}

DEVICE_TABLE UpdateRow<float, bf16, 2> kGroups[] = {
    {at(0, P),
     {at(0, M), at(0, V)},
     at(0, G),
     at(0, Copy),
     kSizes[0],
     0,
     {true, 2}},
    {at(2, P),
     {at(2, M), at(2, V)},
     {at(2, Half), true},
     at(2, Copy),
     kSizes[2],
     3,
     {false, 1}},
};

// A row of a group has the hyperparameters of the group and the learning rate
// that the schedule makes of its own; so has a call of its own.
TEST_F(Tables, ParamGroups) {
  alignas(8) static char groups[2 * kParamGroupBytes];
  double rates[] = {3e-3, 5e-2}, betas[] = {0.8, 0.6};
  for (int i : {0, 1}) {
    ParamGroup group;
    group.hyper = hyper;
    group.hyper.learning_rate = rates[i];
    group.hyper.beta1 = betas[i];
    memcpy(groups + i * kParamGroupBytes, &group, sizeof group);
  }
  const StepState alone = state;
  state.param_groups = groups;
  state.param_group_count = 2;
  state.rate_factor = 0.5;
  auto update = [&](Memory m, const StepState &s, int row, UpdateGroup group) {
    auto one = [&](const auto *g) {
      adamw(ctx, &s, floats(m, row, P), floats(m, row, M), floats(m, row, V), g,
            kSizes[row], group, copy_of(m, row));
    };
    if (row == 0)
      one(m[Buffer<float>(at(0, G))]);
    else
      one(m[Buffer<bf16>(at(row, Half))]);
  };
  // Each row by a state that has no groups, and the group's numbers.
  const Bytes expected = after([&](Memory m) {
    for (int row : {0, 2}) {
      StepState s = alone;
      Hyperparameters of_group = hyper;
      const int i = row == 0 ? 1 : 0;
      of_group.beta1 = betas[i];
      s.learning_rate = 0.5 * rates[i];
      begin_adamw(ctx, &s, &of_group);
      update(m, s, row, row == 0);
    }
  });
  begin_adamw(ctx, &state, &hyper);
  EXPECT_EQ(expected,
            after([&](Memory m) { adamw(ctx, &state, m, kGroups, kSpans); }));
  EXPECT_EQ(expected, after([&](Memory m) {
              update(m, state, 0, {true, 2});
              update(m, state, 2, {false, 1});
            }));
}

TEST_F(Tables, Adam) {
  begin_adam(ctx, &state, &hyper);
  EXPECT_EQ(after([&](Memory m) {
              for_gradients(m, [&](int row, const auto *g) {
                adam(ctx, &state, floats(m, row, P), floats(m, row, M),
                     floats(m, row, V), g, kSizes[row], row < 2,
                     copy_of(m, row));
              });
            }),
            after([&](Memory m) { adam(ctx, &state, m, kTwoStates, kSpans); }));
}

TEST_F(Tables, Lion) {
  begin_lion(ctx, &state, &hyper);
  EXPECT_EQ(after([&](Memory m) {
              for_gradients(m, [&](int row, const auto *g) {
                lion(ctx, &state, floats(m, row, P), floats(m, row, M), g,
                     kSizes[row], row < 2, copy_of(m, row));
              });
            }),
            after([&](Memory m) { lion(ctx, &state, m, kOneState, kSpans); }));
}

TEST_F(Tables, SgdWithAndWithoutMomentum) {
  begin_sgd(ctx, &state, &hyper);
  EXPECT_EQ(after([&](Memory m) {
              for_gradients(m, [&](int row, const auto *g) {
                sgd(ctx, &state, floats(m, row, P),
                    row == 2 ? nullptr : floats(m, row, M), g, kSizes[row],
                    true, copy_of(m, row));
              });
            }),
            after([&](Memory m) { sgd(ctx, &state, m, kMomenta, kSpans); }));
}

DEVICE_TABLE UpdateRow<float, bf16, 6> kSixStates[] = {
    {at(0, P),
     {kNowhere, kNowhere, at(0, MCodes), at(0, MScales), at(0, VCodes),
      at(0, VScales)},
     at(0, G),
     at(0, Copy),
     kSizes[0],
     0,
     true},
    {at(2, P),
     {at(2, M), at(2, V), kNowhere, kNowhere, kNowhere, kNowhere},
     {at(2, Half), true},
     at(2, Copy),
     kSizes[2],
     3,
     false},
};

TEST_F(Tables, MomentsInEightBitsAndInFull) {
  begin_adamw_8bit(ctx, &state, &hyper);
  EXPECT_EQ(
      after([&](Memory m) {
        adamw_8bit(ctx, &state, floats(m, 0, P), nullptr, nullptr,
                   codes(m, 0, MCodes), floats(m, 0, MScales),
                   codes(m, 0, VCodes), floats(m, 0, VScales), floats(m, 0, G),
                   kSizes[0], true, copy_of(m, 0));
        adamw_8bit(ctx, &state, floats(m, 2, P), floats(m, 2, M),
                   floats(m, 2, V), nullptr, nullptr, nullptr, nullptr,
                   m[Buffer<bf16>(at(2, Half))], kSizes[2], false,
                   copy_of(m, 2));
      }),
      after([&](Memory m) { adamw_8bit(ctx, &state, m, kSixStates, kSpans); }));
}

constexpr Matrices kFirstShape{1, 3, 5473}, kLastShape{1, 1, 4099};
static_assert(kFirstShape.rows * kFirstShape.columns <= kSizes[0]);
constexpr ShapedUpdateRow<float, bf16, 4> kFactored[] = {
    {at(0, P),
     {at(0, MScales), at(0, VScales), kNowhere, at(0, M)},
     at(0, G),
     at(0, Copy),
     kFirstShape,
     true,
     at(0, Scratch)},
    {at(2, P),
     {kNowhere, kNowhere, at(2, V), kNowhere},
     {at(2, Half), true},
     at(2, Copy),
     kLastShape,
     false,
     at(0, Scratch)},
};

TEST_F(Tables, AdafactorsFactoredAndWhole) {
  begin_adafactor(ctx, &state, &hyper);
  EXPECT_EQ(after([&](Memory m) {
              double *const scratch = m[Buffer<double>(at(0, Scratch))];
              adafactor(ctx, &state, floats(m, 0, P), floats(m, 0, MScales),
                        floats(m, 0, VScales), nullptr, floats(m, 0, M),
                        floats(m, 0, G), kFirstShape, true, scratch,
                        copy_of(m, 0));
              adafactor(ctx, &state, floats(m, 2, P), nullptr, nullptr,
                        floats(m, 2, V), nullptr, m[Buffer<bf16>(at(2, Half))],
                        kLastShape, false, scratch, copy_of(m, 2));
            }),
            after([&](Memory m) { adafactor(ctx, &state, m, kFactored); }));
}

DEVICE_TABLE GradientRow<float, bf16> kNormTerms[] = {
    {Buffer<float>(at(0, G)), kSizes[0], 0},
    {Buffer<bf16>(at(1, Half)), 0, 3},
    {Buffer<bf16>(at(2, Half)), kSizes[2], 3},
};

TEST_F(Tables, SumsOfSquares) {
  const Memory m{bytes.data()};
  double alone[kSpans] = {}, together[kSpans] = {};
  for_gradients(m, [&](int row, const auto *g) {
    sum_of_squares(ctx, g, kSizes[row], alone + kFirstSpans[row]);
  });
  sum_of_squares(ctx, m, kNormTerms, kSpans, together);
  for (int i = 0; i < kSpans; i++)
    EXPECT_EQ(alone[i], together[i]) << i;
  EXPECT_GT(alone[3], 0);
}

DEVICE_TABLE CopyRow<float, float, bf16> kSums[] = {
    {at(0, GradientSum), at(0, G), kSizes[0], 0},
    {at(1, GradientSum), {at(1, Half), true}, 0, 3},
    {at(2, GradientSum), {at(2, Half), true}, kSizes[2], 3},
};

TEST_F(Tables, SumsOfGradients) {
  for (int64_t micro_step : {1, 2}) {
    state.micro_step = micro_step;
    EXPECT_EQ(
        after([&](Memory m) {
          for_gradients(m, [&](int row, const auto *g) {
            accumulate(ctx, &state, floats(m, row, GradientSum), g,
                       kSizes[row]);
          });
        }),
        after([&](Memory m) { accumulate(ctx, &state, m, kSums, kSpans); }));
  }
}

DEVICE_TABLE CopyRow<float, float, float> kCopies[] = {
    {at(0, M), at(0, P), kSizes[0], 0}, {at(2, M), at(2, P), kSizes[2], 3}};
DEVICE_TABLE CopyRow<bf16, float, float> kHalfCopies[] = {
    {at(0, Copy), at(0, P), kSizes[0], 0},
    {at(2, Copy), at(2, P), kSizes[2], 3}};

TEST_F(Tables, Copies) {
  auto each = [](auto f) { f(0), f(2); };
  state.micro_step = 1;
  EXPECT_EQ(
      after([&](Memory m) {
        each([&](int row) {
          snapshot(ctx, &state, floats(m, row, M), floats(m, row, P),
                   kSizes[row]);
        });
      }),
      after([&](Memory m) { snapshot(ctx, &state, m, kCopies, kSpans); }));
  state.scaler.found_inf = 1;
  EXPECT_EQ(after([&](Memory m) {
              each([&](int row) {
                restore(ctx, &state, floats(m, row, M), floats(m, row, P),
                        kSizes[row]);
              });
            }),
            after([&](Memory m) { restore(ctx, &state, m, kCopies, kSpans); }));
  EXPECT_EQ(after([&](Memory m) {
              each([&](int row) {
                refresh(ctx, copy_of(m, row), floats(m, row, P), kSizes[row]);
              });
            }),
            after([&](Memory m) { refresh(ctx, m, kHalfCopies, kSpans); }));
  // Only where the step is the first one, or is skipped.
  Bytes same = bytes;
  state.micro_step = 2;
  state.scaler.found_inf = 0;
  snapshot(ctx, &state, Memory{same.data()}, kCopies, kSpans);
  restore(ctx, &state, Memory{same.data()}, kCopies, kSpans);
  EXPECT_EQ(same, bytes);
}

} // namespace
} // namespace gpuopt
