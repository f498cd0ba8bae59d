// The losses of several outputs, as a trainer reports them beside their sum.
#pragma once

#include "gpuopt/device/loss_text.h"
#include "gpuopt/trainer/eval_metrics.h"
#include "gpuopt/trainer/session.h"

namespace gpuopt {

// Returns the mean of each loss, which is named as Keras names it: "aux_loss"
// is that of the output 'aux'.
inline std::vector<MetricValue> losses_of(const Program &program,
                                          const std::vector<LossSums> &sums,
                                          bool of_evaluation) {
  std::vector<MetricValue> losses;
  for (size_t i = 0; i < sums.size(); i++)
    losses.push_back({std::string(program.losses.data[i].output) + "_loss",
                      of_evaluation ? mean_of(sums[i].evaluation_sum,
                                              sums[i].evaluation_weight)
                                    : mean_of(sums[i].sum, sums[i].weight)});
  return losses;
}

// Returns "  aux_loss 0.1234" for each value.
inline std::string text_of(const std::vector<MetricValue> &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += "  " + name + " " + loss_text(value);
  return text;
}

// What evaluations add up: the loss and, if it is the sum of several ones, each
// of them.
struct EvaluationSums {
  double loss = 0, weight = 0;
  std::vector<LossSums> parts;

  // Takes off a share of what another evaluation has added up.
  void take_off(const EvaluationSums &other, double share) {
    loss -= other.loss * share;
    weight -= other.weight * share;
    for (size_t i = 0; i < parts.size(); i++) {
      parts[i].evaluation_sum -= other.parts[i].evaluation_sum * share;
      parts[i].evaluation_weight -= other.parts[i].evaluation_weight * share;
    }
  }

  // Returns the mean over all targets. The sum of several losses is that of
  // their means over all targets: batches may have different numbers of them.
  double mean(const Program &program) const {
    if (parts.empty())
      return mean_of(loss, weight);
    double sum = 0;
    for (size_t i = 0; i < parts.size(); i++)
      sum += program.losses.data[i].weight *
             mean_of(parts[i].evaluation_sum, parts[i].evaluation_weight);
    return sum;
  }
};

} // namespace gpuopt
