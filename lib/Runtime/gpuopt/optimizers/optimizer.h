// The end of a step, all of it on the device: learning rate, gradient norm,
// clipping, and what the updates of all optimizers share. The host never waits
// for any of its values.
//
// Gradients are sums over targets; dividing by the number of valid ones and
// clipping is one factor, `grad_scale`, that the update kernels apply.
//
//   begin_step(ctx, state, hyper);            first thing in each micro step
//   ... forward, add_loss(ctx, state, ...), backward ...
//   sum_of_squares(ctx, g, n, partials);      for each gradient, or
//   sum_of_squares(ctx, m, kGradients, spans, partials);    for all at once
//   finish_grad_norm(ctx, state, hyper, partials, count);
//   begin_adamw(ctx, state, hyper);           adamw.h; or another optimizer's
//   adamw(ctx, state, p, m, v, g, n, group);  for each parameter, or
//   adamw(ctx, state, m, kUpdates, spans);    for all of a table in one launch
//   end_step(ctx, state);                     last thing in the update
//
// An optimizer is a header of its name. It has a struct of what all elements of
// a step share, made from the state and the hyperparameters by one thread, in
// double, which names the optimizer as kOptimizer; a function begin_<name> that
// has it made, also for each parameter group; and a function <name>, which
// takes the parameter, the tensors that kOptimizers declares, in their order
// and null where there is none, the gradient, the number of elements, and the
// UpdateGroup, which says whether the weight decays and whose scalars count.
// Another function of that name takes a table of UpdateRow, which is one launch
// (spans.h), or of ShapedUpdateRow, whose rows follow one another.
//
// One that has scratch memory or a direction takes the shape in place of the
// number. One that has a direction has a function <name>_direction as well, to
// which the declared tensors go instead (muon.h).
//
// With a loss scale, gradients are `loss_scale` times too large; the same
// factor undoes that, and the sum of squares that the norm needs tells whether
// one of them is infinite or NaN. Then the step is skipped: see loss_scale.h.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/elementary.h"
#include "gpuopt/optimizers/loss_scale.h"
#include "gpuopt/optimizers/lr_schedule.h"
#include "gpuopt/optimizers/spans.h"

#include <iterator>

namespace gpuopt {

// The first index that a program has computed outside of its dimension.
struct IndexOutside {
  int32_t is_taken = 0;
  int32_t number = 0; // of the index in the program's table `indexed`
  int64_t index = 0, position = 0;
};

// What --param-group says of some parameters: their hyperparameters, and what
// an optimizer makes of them for a step.
struct ParamGroup {
  Hyperparameters hyper;
  alignas(8) char update_scalars[std::size(kOptimizers)][80] = {}; // see below
};
static_assert(sizeof(ParamGroup) <= kParamGroupBytes);

// One of several losses whose sum is minimised: its total over the targets that
// count, and theirs.
struct LossSums {
  double sum = 0, weight = 0; // of this step
  double evaluation_sum = 0, evaluation_weight = 0;
};

// The scalars that a step knows about itself.
struct StepState {
  int64_t step = 0;       // updates done: drives the schedule
  int64_t micro_step = 0; // micro steps begun in this step
  int64_t draw = 0; // micro steps ever begun: what random_uniform takes as step
  uint64_t seed = 42;
  double loss_sum = 0, weight_sum = 0; // over the valid targets of this step
  double evaluation_loss_sum = 0, evaluation_weight_sum = 0;
  double lr_factor = 1; // beside the schedule's: what validations made of it
  double learning_rate = 0, muon_learning_rate = 0;
  double rate_factor = 1; // of this step, on all learning rates
  double grad_norm = 0;   // of the mean loss's gradient, before clipping
  double grad_weight = 0; // gradients are this many times the mean loss's
  double grad_scale = 0;  // clip coefficient / grad_weight
  LossScaler scaler;
  alignas(8) char update_scalars[std::size(kOptimizers)][80] = {}; // see below
  int64_t first_not_finite = -1; // of the results that check_finite looks at
  IndexOutside outside;          // stays until the state is written anew
  // The first parameter group, on the device, if there are any; they are
  // kParamGroupBytes apart.
  char *param_groups = nullptr;
  int64_t param_group_count = 0;
  // Those that loss_sum adds up, on the device, if there are several losses.
  LossSums *losses = nullptr;
  int64_t loss_count = 0;

  // Returns a parameter group by its number, which counts from 1.
  DEVICE ParamGroup &param_group(int64_t number) const {
    return *reinterpret_cast<ParamGroup *>(param_groups +
                                           (number - 1) * kParamGroupBytes);
  }
  // Sets the learning rates to those of this step.
  DEVICE void set_learning_rates(const Hyperparameters &hyper) {
    learning_rate = hyper.adafactor_relative_step
                        ? relative_rate(hyper, step)
                        : hyper.learning_rate * rate_factor;
    muon_learning_rate = hyper.muon_learning_rate > 0
                             ? hyper.muon_learning_rate * rate_factor
                             : learning_rate;
  }
};

KERNEL void begin_step_kernel(StepState *state, const Hyperparameters *hyper) {
  if (!first_thread())
    return;
  if (state->micro_step == 0) {
    state->loss_sum = state->weight_sum = 0;
    for (int64_t i = 0; i < state->loss_count; i++)
      state->losses[i].sum = state->losses[i].weight = 0;
    state->first_not_finite = -1;
    state->rate_factor =
        schedule_factor(*hyper, state->step) * state->lr_factor;
    state->set_learning_rates(*hyper);
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

// Adds up n numbers in double; one block does it.
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

template <class T>
KERNEL void add_loss_part_kernel(StepState *state, int64_t part,
                                 const T *losses, const T *weights, int64_t n,
                                 bool evaluating) {
  const double loss = sum_in_double(losses, n);
  const double weight = weights ? sum_in_double(weights, n) : double(n);
  if (!first_thread())
    return;
  LossSums &sums = state->losses[part];
  (evaluating ? sums.evaluation_sum : sums.sum) += loss;
  (evaluating ? sums.evaluation_weight : sums.weight) += weight;
}
// The same for one of several losses, by its number: what is minimised is not
// what is added here.
template <class T>
void add_loss_part(Context &ctx, StepState *state, int64_t part,
                   const T *losses, const T *weights, int64_t n,
                   bool evaluating = false) {
  launch(ctx, 1, 256, add_loss_part_kernel<T>, state, part, losses, weights, n,
         evaluating);
}

// A processor's own guesses of what is read next end with a page. In one stream
// that nothing is written beside, that is half of the time; so what is some
// lines ahead is asked for.
template <class T>
DEVICE void prefetch_ahead([[maybe_unused]] const T *p) {
#ifndef __CUDACC__
  constexpr int64_t kBytesAhead = 4096;
  __builtin_prefetch(reinterpret_cast<const char *>(p) + kBytesAhead);
#endif
}

template <class T>
DEVICE void sum_of_squares_span(int64_t span, const T *g, int64_t n,
                                double *partial) {
  Lanes<double> sum(0.0);
  for_span(span, n, [&](int64_t i, int64_t left) {
    prefetch_ahead(g + i);
    const auto x = convert<double>(load(g + i, left));
    sum += x * x;
  });
  const double total = block_sum(sum);
  if (first_thread())
    *partial = total;
}
template <class T>
KERNEL void sum_of_squares_kernel(const T *g, int64_t n, double *partials) {
  sum_of_squares_span(block(), g, n, partials + block());
}
// Writes sum_of_squares_partials(n) partial sums.
template <class T>
void sum_of_squares(Context &ctx, const T *g, int64_t n, double *partials) {
  launch(ctx, sum_of_squares_partials(n), kSpanThreads,
         sum_of_squares_kernel<T>, g, n, partials);
}

// A row of a table of gradients, of type T or H.
template <class T, class H>
struct GradientRow {
  EitherBuffer<T, H> gradient;
  int64_t elements, first_span;
};
struct SumOfSquares {
  double *partials;
  template <class T, class H>
  DEVICE void operator()(Memory m, const GradientRow<T, H> &row,
                         int64_t span) const {
    row.gradient.visit(m, [&](const auto *g) {
      sum_of_squares_span(span, g, row.elements,
                          partials + row.first_span + span);
    });
  }
};
// Writes a sum for each span of all gradients of a table, in their order.
template <class T, class H, size_t kRows>
void sum_of_squares(Context &ctx, Memory m,
                    const GradientRow<T, H> (&table)[kRows], int64_t spans,
                    double *partials) {
  for_rows(ctx, m, table, spans, SumOfSquares{partials});
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
    *loss_scale = state->scaler.update(*hyper, *loss_scale, found_inf);
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

//===----------------------------------------------------------------------===//
// What the optimizers share
//===----------------------------------------------------------------------===//

// Returns the place of an optimizer's scalars in the state, by the optimizer's
// number.
template <class Scalars>
inline constexpr int kPlaceOf =
    int(find_optimizer(Scalars::kOptimizer) - kOptimizers);

template <class Scalars>
KERNEL void begin_update_kernel(StepState *state,
                                const Hyperparameters *hyper) {
  static_assert(sizeof(Scalars) <= sizeof state->update_scalars[0]);
  static_assert(std::is_trivially_copyable_v<Scalars>);
  if (!first_thread())
    return;
  const Scalars scalars(*state, *hyper);
  memcpy(state->update_scalars[kPlaceOf<Scalars>], &scalars, sizeof scalars);
  for (int64_t number = 1; number <= state->param_group_count; number++) {
    ParamGroup &group = state->param_group(number);
    StepState of_group = *state;
    of_group.set_learning_rates(group.hyper);
    const Scalars others(of_group, group.hyper);
    memcpy(group.update_scalars[kPlaceOf<Scalars>], &others, sizeof others);
  }
}
// Makes the scalars of an optimizer, before its first update of a step: those
// of all parameters and those of each parameter group.
template <class Scalars>
void begin_update(Context &ctx, StepState *state,
                  const Hyperparameters *hyper) {
  launch(ctx, 1, 32, begin_update_kernel<Scalars>, state, hyper);
}

// How a parameter is updated: whether its weights decay, and the number of its
// parameter group, 0 for none. A bool alone stands for no group.
struct UpdateGroup {
  HOST_DEVICE constexpr UpdateGroup(bool decays, int32_t number = 0)
      : decays(decays), number(number) {}
  bool decays;
  int32_t number;
};

template <class Scalars>
DEVICE Scalars update_scalars(const StepState *state,
                              UpdateGroup group = false) {
  const char *from =
      group.number > 0
          ? state->param_group(group.number).update_scalars[kPlaceOf<Scalars>]
          : state->update_scalars[kPlaceOf<Scalars>];
  Scalars scalars;
  memcpy(&scalars, from, sizeof scalars);
  return scalars;
}

// A row of a table of updates. It has the states that the optimizer declares,
// in their order, and is at kNowhere for those that the parameter has not; so
// is `copy`, the parameter in half precision.
template <class T, class H, int kStates>
struct UpdateRow {
  Buffer<T> parameter;
  size_t states[kStates];
  EitherBuffer<T, H> gradient;
  Buffer<H> copy;
  int64_t elements, first_span;
  UpdateGroup group;

  template <class S>
  DEVICE S *state(Memory m, int i) const {
    return m.find(Buffer<S>(states[i]));
  }
};

// The same for an optimizer that takes a parameter's shape and has scratch
// memory. The host reads the table.
template <class T, class H, int kStates>
struct ShapedUpdateRow {
  Buffer<T> parameter;
  size_t states[kStates];
  EitherBuffer<T, H> gradient;
  Buffer<H> copy;
  Matrices shape;
  UpdateGroup group;
  Buffer<double> scratch;

  template <class S>
  S *state(Memory m, int i) const {
    return m.find(Buffer<S>(states[i]));
  }
};

// Stores elements of a parameter and, unless that is null, of its copy in half
// precision.
template <class T, class H>
DEVICE void store_parameter(T *p, H *copy, int64_t i, Lanes<T> value,
                            int64_t left) {
  store(p + i, value, left);
  if (copy)
    store(copy + i, convert<Compute<H>>(value), left);
}

} // namespace gpuopt
