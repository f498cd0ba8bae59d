// The consequences of validations: a lower learning rate by their losses
// (--lr-scheduler-type=reduce_lr_on_plateau), or the end of the run by their
// losses or another metric (--early-stopping-patience).
#pragma once

#include "gpuopt/settings/settings_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuopt {

// The state of the validations so far; it is part of a checkpoint.
struct ValidationHistory {
  int64_t count = 0;
  // These are best, num_bad_epochs and cooldown_counter of torch's
  // ReduceLROnPlateau, and what it has multiplied the learning rate by. They
  // stay as they are here under any other schedule.
  double lr_factor = 1, plateau_best = std::numeric_limits<double>::max();
  int64_t plateau_bad = 0, plateau_cooldown = 0;
  // As in transformers' EarlyStoppingCallback, stopping_bad counts the
  // validations in a row that were not better by more than the threshold.
  double stopping_best = 0;
  int64_t stopping_bad = 0;
  // The step of stopping_best; 0 in checkpoints that do not know it.
  int64_t best_step = 0;
};

// Copies what reduce_lr_on_plateau knows of the validations, without what the
// end of the run depends on.
inline void copy_plateaus(const ValidationHistory &from,
                          ValidationHistory &to) {
  to.lr_factor = from.lr_factor;
  to.plateau_best = from.plateau_best;
  to.plateau_bad = from.plateau_bad;
  to.plateau_cooldown = from.plateau_cooldown;
}

// Takes note of a validation, as torch.optim.lr_scheduler.ReduceLROnPlateau
// does in its mode `min` with a relative threshold.
inline void note_for_plateau(const TrainingSettings &s, double loss,
                             ValidationHistory &history) {
  constexpr double kLeastChange = 1e-8; // of the rate, torch's eps
  if (loss < history.plateau_best * (1 - s.lr_threshold)) {
    history.plateau_best = loss;
    history.plateau_bad = 0;
  } else {
    history.plateau_bad++;
  }
  if (history.plateau_cooldown > 0) {
    history.plateau_cooldown--;
    history.plateau_bad = 0;
  }
  if (history.plateau_bad <= s.lr_patience)
    return;
  const double old_rate = s.learning_rate * history.lr_factor;
  const double rate = std::max(old_rate * s.lr_factor, s.min_lr);
  if (old_rate - rate > kLeastChange)
    history.lr_factor = rate / s.learning_rate;
  history.plateau_cooldown = s.lr_cooldown;
  history.plateau_bad = 0;
}

// Takes note of a validation after a step, as
// transformers.EarlyStoppingCallback does. Less is better.
inline void note_for_stopping(const TrainingSettings &s, int64_t step,
                              double score, ValidationHistory &history) {
  const bool is_better =
      history.count == 0 ||
      (score < history.stopping_best &&
       std::abs(score - history.stopping_best) > s.early_stopping_threshold);
  history.stopping_bad = is_better ? 0 : history.stopping_bad + 1;
  if (history.count == 0 || score < history.stopping_best) {
    history.stopping_best = score;
    history.best_step = step;
  }
}

// `score` is the loss or the negative of a metric of which more is better. What
// is not finite is worse than any other.
inline void note_validation(const TrainingSettings &s, int64_t step,
                            double loss, double score,
                            ValidationHistory &history) {
  for (double *number : {&loss, &score})
    if (!std::isfinite(*number))
      *number = std::numeric_limits<double>::max();
  if (s.lr_scheduler_type == kReduceLrOnPlateau)
    note_for_plateau(s, loss, history);
  note_for_stopping(s, step, score, history);
  history.count++;
}

// Whether the run ends because too many validations were not better.
inline bool ends_run(const TrainingSettings &s,
                     const ValidationHistory &history) {
  return s.early_stopping_patience > 0 &&
         history.stopping_bad >= s.early_stopping_patience;
}

} // namespace gpuopt
