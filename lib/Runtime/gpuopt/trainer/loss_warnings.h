// Warnings of losses that say nothing of the model, and of gradients that
// change nothing, each of which comes once.
#pragma once

#include "gpuopt/trainer/metrics.h"
#include "gpuopt/trainer/not_finite.h"

namespace gpuopt {

class LossWarnings {
public:
  explicit LossWarnings(const Program &program) : program(program) {}

  // No label of a step or a validation counts.
  void no_labels(int64_t step) {
    if (!has_told_labels)
      fprintf(stderr,
              "%s: warning: step %lld: no label counts, all are the index to "
              "ignore; the loss is reported as 0\n",
              program.name, static_cast<long long>(step));
    has_told_labels = true;
  }
  // A step is done.
  void step(int64_t step, const StepState &state) {
    if (state.weight_sum == 0)
      return no_labels(step);
    steps_without_gradient =
        state.grad_norm == 0 ? steps_without_gradient + 1 : 0;
    if (steps_without_gradient != kStepsWithoutGradient || has_told_gradient)
      return;
    has_told_gradient = true;
    fprintf(stderr,
            "%s: warning: step %lld: the gradient of all parameters has been "
            "exactly 0 for %d steps, in which nothing has been learned: the "
            "loss no longer depends on them, as behind steps that were too "
            "long; --learning-rate, --warmup-steps and --max-grad-norm make "
            "them shorter\n",
            program.name, static_cast<long long>(step), kStepsWithoutGradient);
  }
  // A validation is done.
  void validation(int64_t step, double loss) {
    if (is_finite(loss) || has_told_validation)
      return;
    has_told_validation = true;
    fprintf(stderr,
            "%s: warning: step %lld: the validation loss is %g, which is null "
            "in '%s' and never the best one. The validation data, or the "
            "model's outputs for them, are infinite or NaN\n",
            program.name, static_cast<long long>(step), without_nan_sign(loss),
            kMetricsFile);
  }

private:
  static constexpr int kStepsWithoutGradient = 10;
  const Program &program;
  int steps_without_gradient = 0; // until now
  bool has_told_labels = false, has_told_validation = false,
       has_told_gradient = false;
};

} // namespace gpuopt
