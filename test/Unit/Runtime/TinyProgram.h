// A program as the compiler emits it, by hand: a linear classifier of 4
// features into 3 classes with cross entropy and AdamW.
#pragma once

#include "gpuopt/optimizers/adamw.h"
#include "gpuopt/runtime.h"

namespace gpuopt::tiny {

constexpr int64_t kBatch = 8, kIn = 4, kOut = 3;

// Persistent.
constexpr size_t kOffState = 0;       // StepState
constexpr size_t kOffHyper = 1024;    // Hyperparameters
constexpr size_t kOffWeight = 2048;   // f32[4,3]
constexpr size_t kOffMoment1 = 2304;  // f32[4,3]
constexpr size_t kOffMoment2 = 2560;  // f32[4,3]
constexpr size_t kOffGradient = 2816; // f32[4,3]
constexpr size_t kOffX = 3072;        // f32[8,4]
constexpr size_t kOffLabels = 3328;   // i64[8]
// Arena.
constexpr size_t kOffLogits = 3584;   // f32[8,3], then its gradient
constexpr size_t kOffLosses = 3840;   // f32[8]
constexpr size_t kOffPartials = 4096; // f64[1]
constexpr size_t kTotal = 4352;
static_assert(sizeof(StepState) <= kOffHyper &&
              sizeof(Hyperparameters) <= kOffWeight - kOffHyper);

KERNEL void softmax_cross_entropy(float *logits, const int64_t *labels,
                                  float *losses) {
  const int64_t row = block();
  float *x = logits + row * kOut;
  Lanes<float> sum(0.0f);
  for (int64_t i = first_lane(); i < kOut; i += lane_step())
    sum += masked(exp(load(x + i, kOut - i)), kOut - i, 0.0f);
  const float total = block_sum(sum), picked = x[labels[row]];
  if (first_thread())
    losses[row] = log(total) - picked;
  for (int64_t i = first_lane(); i < kOut; i += lane_step()) {
    const auto one_hot =
        convert<float>(iota<int64_t>(i) == Lanes<int64_t>(labels[row]));
    store(x + i, exp(load(x + i, kOut - i)) / total - one_hot, kOut - i);
  }
}

template <class T>
T *at(char *memory, size_t offset) {
  return reinterpret_cast<T *>(memory + offset);
}

inline void forward(Context &ctx, char *m, bool evaluating) {
  const GemmShape s{{1, 1}, kBatch, kOut, kIn,    {0, 0}, kIn, 1,
                    {0, 0}, kOut,   1,    {0, 0}, kOut,   1};
  gemm(ctx, s, at<float>(m, kOffX), at<float>(m, kOffWeight),
       at<float>(m, kOffLogits));
  launch(ctx, kBatch, 32, softmax_cross_entropy, at<float>(m, kOffLogits),
         at<const int64_t>(m, kOffLabels), at<float>(m, kOffLosses));
  add_loss<float>(ctx, at<StepState>(m, kOffState), at<float>(m, kOffLosses),
                  nullptr, kBatch, evaluating);
}

// The gradient of the weights.
inline void backward(Context &ctx, char *m) {
  const GemmShape s{{1, 1}, kIn,  kOut, kBatch, {0, 0}, 1, kIn,
                    {0, 0}, kOut, 1,    {0, 0}, kOut,   1};
  gemm(ctx, s, at<float>(m, kOffX), at<float>(m, kOffLogits),
       at<float>(m, kOffGradient));
}

inline void micro_step(Context &context, char *m) {
  const Calls ctx{context};
  begin_step(ctx, at<StepState>(m, kOffState),
             at<Hyperparameters>(m, kOffHyper));
  forward(ctx, m, false);
  backward(ctx, m);
}

inline void update(Context &context, char *m) {
  const Calls ctx{context};
  auto *state = at<StepState>(m, kOffState);
  const auto *hyper = at<Hyperparameters>(m, kOffHyper);
  sum_of_squares(ctx, at<float>(m, kOffGradient), kIn * kOut,
                 at<double>(m, kOffPartials));
  finish_grad_norm(ctx, state, hyper, at<double>(m, kOffPartials), 1);
  begin_adamw(ctx, state, hyper);
  adamw(ctx, state, at<float>(m, kOffWeight), at<float>(m, kOffMoment1),
        at<float>(m, kOffMoment2), at<float>(m, kOffGradient), kIn * kOut,
        true);
  end_step(ctx, state);
}

inline void evaluate(Context &ctx, char *m) { forward(ctx, m, true); }

inline Program program() {
  static const InputInfo inputs[] = {
      {{"x", Type::F32, 2, {kBatch, kIn}, kOffX, 128}},
      {{"labels", Type::I64, 1, {kBatch}, kOffLabels, 64}, kOut, true, -100},
  };
  static const char *const names[] = {"weight", "tied.weight", nullptr};
  static const StateInfo states[] = {
      {{"state",
        Type::U8,
        1,
        {sizeof(StepState)},
        kOffState,
        sizeof(StepState)},
       StateKind::StepState,
       {}},
      {{"hyper",
        Type::U8,
        1,
        {sizeof(Hyperparameters)},
        kOffHyper,
        sizeof(Hyperparameters)},
       StateKind::Hyperparameters,
       {}},
      {{"weight", Type::F32, 2, {kIn, kOut}, kOffWeight, 48},
       StateKind::Parameter,
       names},
      {{"weight.m", Type::F32, 2, {kIn, kOut}, kOffMoment1, 48},
       StateKind::OptimizerState,
       {}},
      {{"weight.v", Type::F32, 2, {kIn, kOut}, kOffMoment2, 48},
       StateKind::OptimizerState,
       {}},
      {{"weight", Type::F32, 2, {kIn, kOut}, kOffGradient, 48},
       StateKind::Gradient,
       {}},
  };
  static const CallInfo micro_step_calls[] = {
      {"", "begin_step", 1},
      {"fc", "forward", 1},
      {"d \"fc\"", "gemm", 1},
  };
  static const CallInfo update_calls[] = {
      {"norm", "grad_norm", 3},
      {"weight", "adamw", 1},
      {"", "end_step", 1},
  };
  static const char *const optimizer_states[] = {"exp_avg", "exp_avg_sq"};
  static const char *const defaults[] = {"--learning-rate=0.1",
                                         "--max-steps=1"};
  Program p{};
  p.name = "tiny";
  p.micro_step_calls = micro_step_calls;
  p.update_calls = update_calls;
  p.inputs = inputs;
  p.states = states;
  p.persistent_bytes = kOffLogits;
  p.arena_bytes = kTotal - kOffLogits;
  p.total_bytes = kTotal;
  p.micro_step = micro_step;
  p.update = update;
  p.evaluate = evaluate;
  p.batch_size = kBatch;
  p.accumulation_steps = 1;
  p.optimizer = "adamw";
  p.optimizer_states = optimizer_states;
  p.defaults = defaults;
  return p;
}

} // namespace gpuopt::tiny
