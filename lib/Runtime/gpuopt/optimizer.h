// The end of a step, all of it on the device: learning rate, gradient norm and
// clipping, AdamW and SGD with torch's semantics. No value of it is ever waited
// for by the host.
//
// Gradients are sums over targets; dividing by the number of valid ones and
// clipping is one factor, `grad_scale`, that the update kernels apply.
//
//   begin_step(ctx, state, hyper);            first thing in each micro step
//   ... forward, add_loss(ctx, state, ...), backward ...
//   sum_of_squares(ctx, g, n, partials);      for each gradient
//   finish_grad_norm(ctx, state, hyper, partials, count);
//   adamw(ctx, state, hyper, p, m, v, g, n, decay);    for each parameter
//   end_step(ctx, state);                     last thing in the update
//
// With a loss scale, gradients are `loss_scale` times too large; the same
// factor undoes that, and the sum of squares that the norm needs tells whether
// one of them is infinite or NaN. Then the step is skipped: see loss_scale.h.
#pragma once

#include "gpuopt/device.h"
#include "gpuopt/elementary.h"
#include "gpuopt/loss_scale.h"

namespace gpuopt {

enum Schedule : int64_t { kLinear, kCosine, kConstant, kConstantWithWarmup };

// Chosen by flags; the device's copy is written before the first step.
struct Hyperparameters {
  double learning_rate = 5e-5;
  int64_t schedule = kLinear;
  int64_t warmup_steps = 0;
  int64_t max_steps = 1;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8; // AdamW
  double weight_decay = 0;
  double momentum = 0; // SGD
  int64_t nesterov = 0;
  double max_grad_norm = 1; // 0: gradients are not clipped
  LossScaling loss_scaling;
};

// The first index outside of its dimension that a program has computed.
struct IndexOutside {
  int32_t is_taken = 0;
  int32_t number = 0; // of the program's table `indexed`
  int64_t index = 0, position = 0;
};

// What a step knows about itself.
struct StepState {
  int64_t step = 0;       // updates done: drives the schedule
  int64_t micro_step = 0; // micro steps begun in this step
  int64_t draw = 0; // micro steps ever begun: what random_uniform takes as step
  uint64_t seed = 42;
  double loss_sum = 0, weight_sum = 0; // over the valid targets of this step
  double evaluation_loss_sum = 0, evaluation_weight_sum = 0;
  double learning_rate = 0;
  double grad_norm = 0;   // of the mean loss's gradient, before clipping
  double grad_weight = 0; // what gradients are larger by than the mean loss's
  double grad_scale = 0;  // clip coefficient / grad_weight
  LossScaler scaler;
  int64_t first_not_finite = -1; // of the results that check_finite looks at
  IndexOutside outside;          // stays until the state is written anew
};

// Elements that one block works on.
constexpr int64_t kSpan = 8192;
constexpr int kSpanThreads = 256;

// Hugging Face's schedules: the factor on the learning rate of update `step`,
// which counts from 0.
HOST_DEVICE double schedule_factor(const Hyperparameters &hyper, int64_t step) {
  const double warmup = double(hyper.warmup_steps),
               total = double(hyper.max_steps);
  if (hyper.schedule == kConstant)
    return 1;
  if (step < hyper.warmup_steps)
    return double(step) / (warmup > 1 ? warmup : 1);
  const double rest = total - warmup > 1 ? total - warmup : 1;
  double factor = 1;
  if (hyper.schedule == kLinear)
    factor = (total - double(step)) / rest;
  else if (hyper.schedule == kCosine)
    factor =
        0.5 * (1 + ::cos(3.141592653589793 * (double(step) - warmup) / rest));
  return factor > 0 ? factor : 0;
}

KERNEL void begin_step_kernel(StepState *state, const Hyperparameters *hyper) {
  if (!first_thread())
    return;
  if (state->micro_step == 0) {
    state->loss_sum = state->weight_sum = 0;
    state->first_not_finite = -1;
    state->learning_rate =
        hyper->learning_rate * schedule_factor(*hyper, state->step);
  }
  state->micro_step += 1;
  state->draw += 1;
}
inline void begin_step(Context &ctx, StepState *state,
                       const Hyperparameters *hyper) {
  launch(ctx, 1, 32, begin_step_kernel, state, hyper);
}

KERNEL void end_step_kernel(StepState *state) {
  if (!first_thread())
    return;
  state->step += state->scaler.found_inf ? 0 : 1;
  state->micro_step = 0;
}
inline void end_step(Context &ctx, StepState *state) {
  launch(ctx, 1, 32, end_step_kernel, state);
}

// One block; in double.
template <class T>
DEVICE double sum_in_double(const T *x, int64_t n) {
  Lanes<double> sum(0.0);
  for (int64_t i = first_lane(); i < n; i += lane_step())
    sum += convert<double>(load(x + i, n - i));
  return block_sum(sum);
}

template <class T>
KERNEL void add_loss_kernel(StepState *state, const T *losses, const T *weights,
                            int64_t n, bool evaluating) {
  const double loss = sum_in_double(losses, n);
  const double weight = weights ? sum_in_double(weights, n) : double(n);
  if (!first_thread())
    return;
  (evaluating ? state->evaluation_loss_sum : state->loss_sum) += loss;
  (evaluating ? state->evaluation_weight_sum : state->weight_sum) += weight;
}
// Adds n losses and the weights of their targets (1 for a valid one, 0 for an
// ignored one; null: all 1) to the step's, or to the evaluation's.
template <class T>
void add_loss(Context &ctx, StepState *state, const T *losses, const T *weights,
              int64_t n, bool evaluating = false) {
  launch(ctx, 1, 256, add_loss_kernel<T>, state, losses, weights, n,
         evaluating);
}

constexpr int64_t sum_of_squares_partials(int64_t n) {
  return (n + kSpan - 1) / kSpan;
}

template <class T>
KERNEL void sum_of_squares_kernel(const T *g, int64_t n, double *partials) {
  const int64_t span = block(), begin = span * kSpan;
  const int64_t end = begin + kSpan < n ? begin + kSpan : n;
  Lanes<double> sum(0.0);
  for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
    const auto x = convert<double>(load(g + i, end - i));
    sum += x * x;
  }
  const double total = block_sum(sum);
  if (first_thread())
    partials[span] = total;
}
// Writes sum_of_squares_partials(n) partial sums.
template <class T>
void sum_of_squares(Context &ctx, const T *g, int64_t n, double *partials) {
  launch(ctx, sum_of_squares_partials(n), kSpanThreads,
         sum_of_squares_kernel<T>, g, n, partials);
}

// torch.nn.utils.clip_grad_norm_: the factor is max_norm / (norm + 1e-6), at
// most 1. With a loss scale, null without, gradients are too large by
// *loss_scale / targets: what overflowed is noticed here, and the scale becomes
// that of the next step.
KERNEL void finish_grad_norm_kernel(StepState *state,
                                    const Hyperparameters *hyper,
                                    const double *partials, int64_t count,
                                    float *loss_scale, int64_t targets) {
  const double sum = sum_in_double(partials, count);
  if (!first_thread())
    return;
  double scale = state->weight_sum > 0 ? 1 / state->weight_sum : 0;
  state->grad_weight = state->weight_sum;
  if (loss_scale) {
    scale *= double(targets) / double(*loss_scale);
    state->grad_weight *= double(*loss_scale) / double(targets);
    const bool found_inf = !is_finite(sum);
    *loss_scale =
        state->scaler.update(hyper->loss_scaling, *loss_scale, found_inf);
    if (found_inf)
      state->scaler.first_overflow = first_not_finite(partials, count);
  }
  const double norm = ::sqrt(sum) * scale;
  double clip = 1;
  if (hyper->max_grad_norm > 0) {
    clip = hyper->max_grad_norm / (norm + 1e-6);
    clip = clip > 1 ? 1 : clip; // a NaN stays
  }
  state->grad_norm = norm;
  state->grad_scale = clip * scale;
}
inline void finish_grad_norm(Context &ctx, StepState *state,
                             const Hyperparameters *hyper,
                             const double *partials, int64_t count,
                             float *loss_scale = nullptr, int64_t targets = 1) {
  launch(ctx, 1, 1024, finish_grad_norm_kernel, state, hyper, partials, count,
         loss_scale, targets);
}

// torch.optim.AdamW, in its order of operations. Scalars are in double until
// they meet a tensor, as torch's are. `copy`, null without, is the parameter in
// half precision, for the products of the next step.
template <class T, class G, class H>
KERNEL void adamw_kernel(const StepState *state, const Hyperparameters *hyper,
                         T *p, T *m, T *v, const G *grad, int64_t n, bool decay,
                         H *copy) {
  if (state->scaler.found_inf)
    return;
  const int64_t begin = block() * kSpan;
  const int64_t end = begin + kSpan < n ? begin + kSpan : n;
  const double rate = state->learning_rate, update = double(state->step + 1);
  const double correction1 = 1 - ::pow(hyper->beta1, update);
  const double correction2 = 1 - ::pow(hyper->beta2, update);
  const T shrink = T(1 - rate * (decay ? hyper->weight_decay : 0));
  const T one_minus_beta1 = T(1 - hyper->beta1);
  const T beta2 = T(hyper->beta2), one_minus_beta2 = T(1 - hyper->beta2);
  const T root = T(::sqrt(correction2)), epsilon = T(hyper->epsilon);
  const T step_size = T(-(rate / correction1)), scale = T(state->grad_scale);
  for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
    const int64_t left = end - i;
    const Lanes<T> g = convert<T>(load(grad + i, left)) * scale;
    const Lanes<T> m_old = load(m + i, left);
    const Lanes<T> m_new = m_old + (g - m_old) * one_minus_beta1;
    const Lanes<T> v_new = load(v + i, left) * beta2 + one_minus_beta2 * g * g;
    const Lanes<T> denominator = sqrt(v_new) / root + epsilon;
    store(m + i, m_new, left);
    store(v + i, v_new, left);
    const Lanes<T> p_new =
        load(p + i, left) * shrink + step_size * m_new / denominator;
    store(p + i, p_new, left);
    if (copy)
      store(copy + i, convert<Compute<H>>(p_new), left);
  }
}
template <class T, class G, class H = T>
void adamw(Context &ctx, const StepState *state, const Hyperparameters *hyper,
           T *p, T *m, T *v, const G *grad, int64_t n, bool decay,
           H *copy = nullptr) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, adamw_kernel<T, G, H>, state,
         hyper, p, m, v, grad, n, decay, copy);
}

// torch.optim.SGD; the momentum buffer starts at zero, which gives torch's
// first step (buffer = gradient) with dampening 0. Null: no momentum.
template <class T, class G, class H>
KERNEL void sgd_kernel(const StepState *state, const Hyperparameters *hyper,
                       T *p, T *buffer, const G *grad, int64_t n, bool decay,
                       H *copy) {
  if (state->scaler.found_inf)
    return;
  const int64_t begin = block() * kSpan;
  const int64_t end = begin + kSpan < n ? begin + kSpan : n;
  const T rate = T(state->learning_rate), scale = T(state->grad_scale);
  const T weight_decay = T(decay ? hyper->weight_decay : 0),
          momentum = T(hyper->momentum);
  const bool nesterov = hyper->nesterov != 0;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
    const int64_t left = end - i;
    const Lanes<T> old = load(p + i, left);
    Lanes<T> g = convert<T>(load(grad + i, left)) * scale + weight_decay * old;
    if (buffer) {
      const Lanes<T> b = load(buffer + i, left) * momentum + g;
      store(buffer + i, b, left);
      g = nesterov ? g + momentum * b : b;
    }
    const Lanes<T> p_new = old - rate * g;
    store(p + i, p_new, left);
    if (copy)
      store(copy + i, convert<Compute<H>>(p_new), left);
  }
}
template <class T, class G, class H = T>
void sgd(Context &ctx, const StepState *state, const Hyperparameters *hyper,
         T *p, T *momentum, const G *grad, int64_t n, bool decay,
         H *copy = nullptr) {
  launch(ctx, ceil_div(n, kSpan), kSpanThreads, sgd_kernel<T, G, H>, state,
         hyper, p, momentum, grad, n, decay, copy);
}

} // namespace gpuopt
