// Loss scaling: the loss is multiplied so that small gradients survive half
// precision, and a step whose gradients overflow is skipped. Micikevicius et
// al., "Mixed precision training" (ICLR 2018); names, defaults and rules are
// those of torch.amp.GradScaler, with two differences: the scale has a floor,
// and a skipped step leaves the running statistics unchanged, like the weights.
// Everything happens on the device; the host does not wait.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/settings/settings_table.h"

namespace gpuopt {

HOST_DEVICE bool is_finite(double x) { return x - x == 0; }

// The state of the loss scaling in a step. `found_inf` is 0 in a program
// without it.
struct LossScaler {
  float scale = 0; // of the gradients of the last step
  int64_t found_inf = 0;
  int64_t growth_tracker = 0; // good steps since the scale last changed
  int64_t skipped_steps = 0, skipped_in_a_row = 0;
  int64_t first_overflow =
      -1; // partial sum of squares, in the last one skipped

  // Returns the factor of the loss in the last step: 1 in a program without a
  // scale.
  double factor() const { return scale > 0 ? double(scale) : 1; }

  // Updates the scale when the gradients of a step are known; returns the scale
  // of the next step.
  HOST_DEVICE float update(const LossScaling &scaling, float current,
                           bool overflowed) {
    scale = current;
    found_inf = overflowed ? 1 : 0;
    skipped_steps += found_inf;
    skipped_in_a_row = overflowed ? skipped_in_a_row + 1 : 0;
    if (!scaling.is_dynamic)
      return current;
    if (overflowed) {
      growth_tracker = 0;
      const float lower = float(double(current) * scaling.backoff_factor);
      const float floor = float(scaling.min_loss_scale);
      // An overflow does not raise a scale that began below the floor.
      return lower > floor ? lower : current < floor ? current : floor;
    }
    growth_tracker += 1;
    if (growth_tracker < scaling.growth_interval)
      return current;
    growth_tracker = 0;
    const float higher = float(double(current) * scaling.growth_factor);
    return is_finite(higher) ? higher : current;
  }
};

// Returns the index of the first of `values` that is infinite or NaN, or -1.
// One thread calls it.
DEVICE int64_t first_not_finite(const double *values, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!is_finite(values[i]))
      return i;
  return -1;
}

} // namespace gpuopt
