// What a trainer says at the end of a run: which weights are the best ones, and
// why there were no more steps.
#pragma once

#include "gpuopt/device/loss_text.h"
#include "gpuopt/settings/metric_names.h"
#include "gpuopt/trainer/settings.h"
#include "gpuopt/trainer/validations.h"

namespace gpuopt {

namespace detail {
// Returns "loss 0.1234" of the best validation; empty if there is none with a
// finite number.
inline std::string best_metric_text(const TrainingSettings &s,
                                    const ValidationHistory &history) {
  const double worst = std::numeric_limits<double>::max();
  if (history.count == 0 || history.stopping_best == worst)
    return "";
  return s.metric_for_best_model + " " +
         loss_text(is_greater_better(s.metric_for_best_model)
                       ? -history.stopping_best
                       : history.stopping_best);
}
// Returns the flag that a run with more steps needs a higher value of.
inline const char *flag_of_steps(const TrainingSettings &s) {
  return s.max_steps > 0 ? "--max-steps" : "--num-train-epochs";
}
} // namespace detail

// Returns the best validation of a run that ends after `step`, and where the
// weights of its step are, or that none had a finite number; empty if there was
// none. `checkpoint` is the folder with these weights; empty if there is none.
inline std::string describe_best(const TrainingSettings &s,
                                 const ValidationHistory &history, int64_t step,
                                 const std::string &checkpoint) {
  const std::string metric = detail::best_metric_text(s, history);
  const int64_t best = history.best_step;
  if (metric.empty() && history.count > 0)
    return "best validation: none, because no validation had a finite " +
           s.metric_for_best_model;
  if (metric.empty() || best == 0)
    return "";
  const std::string text =
      "best validation: " + metric + " after step " + std::to_string(best);
  if (!checkpoint.empty())
    return text + ", checkpoint '" + checkpoint + "'";
  if (best == step)
    return text + ", the last one";
  return text + ", which has no checkpoint" +
         (s.save_best ? "" : "; --save-best keeps one");
}

// Says why a run ends that validations end.
inline std::string describe_early_stop(const TrainingSettings &s,
                                       const ValidationHistory &history,
                                       int64_t step, int64_t steps) {
  const std::string metric = detail::best_metric_text(s, history),
                    text = "stops early after step " + std::to_string(step) +
                           " of " + std::to_string(steps) + ": ";
  const bool is_loss = s.metric_for_best_model == kLossMetric;
  if (metric.empty())
    return text + "none of the validations had a finite " +
           s.metric_for_best_model;
  return text + "the last " + std::to_string(history.stopping_bad) +
         " validations were not better than " +
         (is_loss ? metric.substr(metric.find(' ') + 1) : metric);
}

// Says that a run which goes on from a checkpoint has no step to do, and what
// gives it some.
inline std::string describe_nothing_left(const TrainingSettings &s,
                                         bool stopped_early, int64_t step,
                                         int64_t steps) {
  const std::string why =
      stopped_early ? "its validations have ended the run"
                    : "the run ends after step " + std::to_string(steps);
  return "nothing is left to do: the checkpoint is of step " +
         std::to_string(step) + ", and " + why + "; a higher " +
         (stopped_early ? "--early-stopping-patience"
                        : detail::flag_of_steps(s)) +
         " takes it further";
}

// Says that weights were lost in a step, and what is left.
inline std::string describe_divergence(int64_t step,
                                       const std::string &weights_file,
                                       const std::string &last_checkpoint) {
  return "error: training diverged in step " + std::to_string(step) + "; '" +
         weights_file + "' is not written" +
         (last_checkpoint.empty()
              ? ""
              : ", the last checkpoint is '" + last_checkpoint + "'");
}

} // namespace gpuopt
