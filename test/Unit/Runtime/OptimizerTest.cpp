// The end of a step against torch's formulas written out in double, and Hugging
// Face's schedules.

#include "gpuopt/optimizers/adamw.h"
#include "gpuopt/optimizers/muon.h"
#include "gpuopt/optimizers/sgd.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

TEST(LrScheduler, HuggingFace) {
  Hyperparameters h;
  h.warmup_steps = 2;
  h.max_steps = 6;
  auto factors = [&](LrSchedulerType type) {
    h.lr_scheduler_type = type;
    std::vector<double> f;
    for (int64_t step = 0; step < 8; step++)
      f.push_back(schedule_factor(h, step));
    return f;
  };
  EXPECT_EQ(factors(kLinear),
            (std::vector<double>{0, 0.5, 1, 0.75, 0.5, 0.25, 0, 0}));
  EXPECT_EQ(factors(kConstant), std::vector<double>(8, 1));
  EXPECT_EQ(factors(kConstantWithWarmup),
            (std::vector<double>{0, 0.5, 1, 1, 1, 1, 1, 1}));
  const auto cosine = factors(kCosine);
  EXPECT_EQ(cosine[1], 0.5);
  EXPECT_EQ(cosine[2], 1);
  EXPECT_NEAR(cosine[4], 0.5, 1e-15);
  EXPECT_NEAR(cosine[3], 0.85355339059327373, 1e-15);
}

TEST(Hyperparameters, EachThatAnOptimizerReadsHasARow) {
  for (const OptimizerInfo &optimizer : kOptimizers)
    for (std::string_view setting : optimizer.settings) {
      bool has_row = setting.empty();
      for (const HyperparameterInfo &row : kHyperparameters)
        has_row |= row.name == setting;
      EXPECT_TRUE(has_row) << optimizer.name << " reads " << setting;
    }
  // --param-group sets numbers.
  for (const HyperparameterInfo &row : kHyperparameters)
    EXPECT_TRUE(!row.is_of_groups || row.field.number) << row.name;
}

struct Step : testing::Test {
  Step() : ctx(2), p(n), m(n, 0), v(n, 0), g(n) {
    for (int64_t i = 0; i < n; i++) {
      p[i] = std::sin(0.1 * double(i));
      g[i] = 3 * std::cos(0.07 * double(i));
    }
    hyper.lr_scheduler_type = kConstant;
    hyper.learning_rate = 1e-2;
    hyper.weight_decay = 0.1;
  }
  void begin(double weight) {
    begin_step(ctx, &state, &hyper);
    state.weight_sum = weight;
    partials.assign(size_t(sum_of_squares_partials(n)), 0);
    sum_of_squares(ctx, g.data(), n, partials.data());
    finish_grad_norm(ctx, &state, &hyper, partials.data(),
                     int64_t(partials.size()));
  }
  static constexpr int64_t n = 2 * kSpan + 37;
  Context ctx;
  StepState state;
  Hyperparameters hyper;
  std::vector<double> p, m, v, g, partials;
};

TEST_F(Step, ClipsByTheNormOfTheMean) {
  hyper.max_grad_norm = 1;
  begin(4);
  double square = 0;
  for (double x : g)
    square += x * x / 16;
  EXPECT_NEAR(state.grad_norm, std::sqrt(square), 1e-10);
  EXPECT_NEAR(state.grad_scale, 1 / (std::sqrt(square) + 1e-6) / 4, 1e-15);
  hyper.max_grad_norm = 0;
  begin(4);
  EXPECT_EQ(state.grad_scale, 0.25);
}

TEST_F(Step, AdamW) {
  hyper.max_grad_norm = 0;
  auto want = p;
  std::vector<double> wm(n, 0), wv(n, 0);
  for (int step = 1; step <= 3; step++) {
    begin(2);
    begin_adamw(ctx, &state, &hyper);
    adamw(ctx, &state, p.data(), m.data(), v.data(), g.data(), n, true);
    end_step(ctx, &state);
    for (int64_t i = 0; i < n; i++) {
      const double grad = g[i] / 2;
      want[i] *= 1 - 1e-2 * 0.1;
      wm[i] = 0.9 * wm[i] + 0.1 * grad;
      wv[i] = 0.999 * wv[i] + 0.001 * grad * grad;
      want[i] -=
          1e-2 / (1 - std::pow(0.9, step)) * wm[i] /
          (std::sqrt(wv[i]) / std::sqrt(1 - std::pow(0.999, step)) + 1e-8);
      ASSERT_NEAR(p[i], want[i], 1e-13);
    }
  }
  EXPECT_EQ(state.step, 3);
}

TEST_F(Step, SgdWithNesterovMomentum) {
  hyper.max_grad_norm = 0;
  hyper.momentum = 0.9;
  hyper.nesterov = true;
  auto want = p;
  std::vector<double> buffer(n, 0);
  for (int step = 1; step <= 3; step++) {
    begin(2);
    begin_sgd(ctx, &state, &hyper);
    sgd(ctx, &state, p.data(), m.data(), g.data(), n, true);
    end_step(ctx, &state);
    for (int64_t i = 0; i < n; i++) {
      const double grad = g[i] / 2 + 0.1 * want[i];
      buffer[i] = step == 1 ? grad : 0.9 * buffer[i] + grad;
      want[i] -= 1e-2 * (grad + 0.9 * buffer[i]);
      ASSERT_NEAR(p[i], want[i], 1e-13);
    }
  }
}

TEST_F(Step, LossesOfMicroStepsAddUp) {
  const float losses[3] = {1, 2, 4}, weights[3] = {1, 0, 1};
  for (int i = 0; i < 2; i++) {
    begin_step(ctx, &state, &hyper);
    add_loss(ctx, &state, losses, weights, 3);
  }
  EXPECT_EQ(state.loss_sum, 14);
  EXPECT_EQ(state.weight_sum, 4);
  EXPECT_EQ(state.draw, 2);
  end_step(ctx, &state);
  begin_step(ctx, &state, &hyper);
  EXPECT_EQ(state.loss_sum, 0);
  EXPECT_EQ(state.draw, 3);
}

// With a learning rate of 0 a parameter stays as it is, and the momentum goes
// on.
TEST_F(Step, MuonMovesNoParameterAtALearningRateOfZero) {
  const std::vector<double> before = p;
  std::vector<double> direction(n);
  hyper.learning_rate = 0;
  hyper.max_grad_norm = 0;
  hyper.muon_momentum = 0.9;
  begin(1);
  begin_muon(ctx, &state, &hyper);
  EXPECT_EQ(state.muon_learning_rate, 0);
  muon_direction(ctx, &state, m.data(), g.data(), direction.data(), n);
  muon(ctx, &state, p.data(), direction.data(), Matrices{1, 1, n},
       /*decay=*/true);
  EXPECT_EQ(p, before);
  for (int64_t i = 0; i < n; i++)
    EXPECT_NEAR(m[i], 0.1 * g[i], 1e-12);
  // With a rate above 0, the same calls move it.
  hyper.learning_rate = 1e-2;
  state.micro_step = 0;
  begin(1);
  begin_muon(ctx, &state, &hyper);
  muon(ctx, &state, p.data(), direction.data(), Matrices{1, 1, n},
       /*decay=*/true);
  EXPECT_NE(p, before);
}

} // namespace
} // namespace gpuopt
