// The schedules of the learning rate, each declared once: those of
// transformers, under its names. lr_schedule.h computes them.
//
// This file is C++17, as the compiler is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace gpuopt {

// In the order of kLrSchedulers.
enum LrSchedulerType : int64_t {
  kLinear,
  kCosine,
  kCosineWithRestarts,
  kCosineWithMinLr,
  kPolynomial,
  kConstant,
  kConstantWithWarmup,
  kInverseSqrt,
  kWarmupStableDecay,
  kReduceLrOnPlateau
};

struct LrSchedulerInfo {
  std::string_view name;
  std::string_view settings[6] = {}; // the flags that it alone reads

  constexpr bool reads(std::string_view setting) const {
    for (const std::string_view each : settings)
      if (!each.empty() && each == setting)
        return true;
    return false;
  }
};

inline constexpr LrSchedulerInfo kLrSchedulers[] = {
    {"linear"},
    {"cosine", {"lr-num-cycles"}},
    {"cosine_with_restarts", {"lr-num-cycles"}},
    {"cosine_with_min_lr", {"lr-num-cycles", "min-lr", "min-lr-rate"}},
    {"polynomial", {"lr-end", "lr-power"}},
    {"constant"},
    {"constant_with_warmup"},
    {"inverse_sqrt", {"lr-timescale"}},
    {"warmup_stable_decay",
     {"lr-decay-steps", "lr-warmup-type", "lr-decay-type", "min-lr-rate",
      "lr-num-cycles"}},
    {"reduce_lr_on_plateau",
     {"lr-factor", "lr-patience", "lr-threshold", "lr-cooldown", "min-lr"}},
};

// Whether a schedule begins with the steps of a warm-up.
constexpr bool has_warmup(int64_t type) {
  return type != kConstant && type != kReduceLrOnPlateau;
}

namespace detail {
constexpr auto names_of_schedulers() {
  std::array<std::string_view, std::size(kLrSchedulers)> names{};
  for (size_t i = 0; i < names.size(); i++)
    names[i] = kLrSchedulers[i].name;
  return names;
}
} // namespace detail
inline constexpr auto kLrSchedulerNames = detail::names_of_schedulers();

// How warmup_stable_decay rises and falls.
enum LrRampType : int64_t { kLinearRamp, kCosineRamp, kOneMinusSqrtRamp };
inline constexpr std::array<std::string_view, 3> kLrRampNames = {
    "linear", "cosine", "1-sqrt"};

} // namespace gpuopt
