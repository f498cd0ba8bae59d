// Warnings of losses that say nothing of the model, each of which comes once.
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
  const Program &program;
  bool has_told_labels = false, has_told_validation = false;
};

} // namespace gpuopt
