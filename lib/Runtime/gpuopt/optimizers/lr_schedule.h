// The schedules of the learning rate: those of transformers, in the order of
// their operations (transformers/optimization.py).
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/settings/settings_table.h"

namespace gpuopt {

namespace detail {

constexpr double kPi = 3.141592653589793;

// Returns what a cosine of so many waves is at a share of its way.
HOST_DEVICE double cosine_factor(double cycles, double progress) {
  return 0.5 * (1 + ::cos(kPi * cycles * 2 * progress));
}

HOST_DEVICE double least_rate(const Hyperparameters &hyper) {
  return hyper.min_lr > 0 && hyper.learning_rate > 0
             ? hyper.min_lr / hyper.learning_rate
             : hyper.min_lr_rate;
}

HOST_DEVICE double polynomial_factor(const Hyperparameters &hyper, double step,
                                     double warmup, double total) {
  const double first = hyper.learning_rate, last = hyper.lr_end;
  if (first <= 0)
    return 0;
  if (step > total)
    return last / first;
  const double rest = total - warmup > 0 ? total - warmup : 1;
  const double left = 1 - (step - warmup) / rest;
  return ((first - last) * ::pow(left, hyper.lr_power) + last) / first;
}

// The warm-up, the plateau and the descent of warmup_stable_decay.
HOST_DEVICE double ramp_up(int64_t type, double progress) {
  return type == kLinearRamp   ? progress
         : type == kCosineRamp ? 0.5 * (1 - ::cos(kPi * progress))
                               : 1 - ::sqrt(1 - progress);
}
HOST_DEVICE double ramp_down(int64_t type, double cycles, double progress) {
  return type == kLinearRamp   ? 1 - progress
         : type == kCosineRamp ? cosine_factor(cycles, progress)
                               : 1 - ::sqrt(progress);
}
HOST_DEVICE double stable_factor(const Hyperparameters &hyper, double step,
                                 double warmup, double total, double cycles) {
  const double least = hyper.min_lr_rate, decay = double(hyper.lr_decay_steps);
  const double stable = total - warmup - decay;
  double factor = 0;
  if (step < warmup)
    factor = ramp_up(hyper.lr_warmup_type, step / (warmup > 1 ? warmup : 1));
  else if (step < warmup + stable)
    return 1;
  else if (step < warmup + stable + decay)
    factor = ramp_down(hyper.lr_decay_type, cycles,
                       (step - warmup - stable) / (decay > 1 ? decay : 1));
  else
    return least;
  factor = factor * (1 - least) + least;
  return factor > 0 ? factor : 0;
}

} // namespace detail

// Returns the factor on the learning rate of update `step`, which counts from
// 0. That of reduce_lr_on_plateau depends on validations: it is 1 here, and
// StepState has it.
HOST_DEVICE double schedule_factor(const Hyperparameters &hyper, int64_t step) {
  const double warmup = double(hyper.warmup_steps),
               total = double(hyper.max_steps), at = double(step);
  const int64_t type = hyper.lr_scheduler_type;
  if (type == kConstant || type == kReduceLrOnPlateau) // see has_warmup
    return 1;
  double cycles = hyper.lr_num_cycles;
  if (cycles <= 0)
    cycles = type == kCosineWithRestarts ? 1 : 0.5;
  if (type == kWarmupStableDecay)
    return detail::stable_factor(hyper, at, warmup, total, cycles);
  if (step < hyper.warmup_steps)
    return at / (warmup > 1 ? warmup : 1);
  if (type == kPolynomial)
    return detail::polynomial_factor(hyper, at, warmup, total);
  if (type == kInverseSqrt) {
    const double scale = hyper.lr_timescale > 0 ? double(hyper.lr_timescale)
                         : warmup > 0           ? warmup
                                                : 10000;
    return 1 / ::sqrt((at + (scale - warmup)) / scale);
  }
  const double rest = total - warmup > 1 ? total - warmup : 1;
  const double progress = (at - warmup) / rest;
  double factor = 1;
  if (type == kLinear)
    factor = (total - at) / rest;
  else if (type == kCosine)
    factor = detail::cosine_factor(cycles, progress);
  else if (type == kCosineWithRestarts)
    factor =
        progress >= 1
            ? 0
            : 0.5 * (1 + ::cos(detail::kPi * ::fmod(cycles * progress, 1.0)));
  else if (type == kCosineWithMinLr) {
    const double least = detail::least_rate(hyper);
    factor = detail::cosine_factor(cycles, progress) * (1 - least) + least;
  }
  return factor > 0 ? factor : 0;
}

// Returns the learning rate of update `step`, which counts from 0, that
// adafactor sets by itself (`relative_step` of transformers.Adafactor).
HOST_DEVICE double relative_rate(const Hyperparameters &hyper, int64_t step) {
  const double count = double(step + 1);
  const double most = hyper.adafactor_warmup_init ? 1e-6 * count : 1e-2;
  const double rate = 1 / ::sqrt(count);
  return rate < most ? rate : most;
}

} // namespace gpuopt
