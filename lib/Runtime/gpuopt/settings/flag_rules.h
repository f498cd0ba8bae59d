// Which flags of the table a program takes, and which of them go together: the
// driver and the programs report the same errors.
#pragma once

#include "gpuopt/settings/settings_table.h"

namespace gpuopt {

struct ProgramKind {
  bool trains = true;         // it predicts where this is false
  std::string_view optimizer; // empty where a program has none
  unsigned states = 0;        // one bit per state that exists
  bool scales_loss = false;
};

// Returns why a program does not take a flag that others take, as the text
// after the flag's name in an error; empty if it does.
inline std::string why_not_taken(const SettingInfo &setting,
                                 const ProgramKind &program) {
  if (!program.trains)
    return setting.takers & kPredictor
               ? ""
               : "applies only to programs that train, but this one was "
                 "compiled with --inference";
  if (!(setting.takers & ~kPredicting))
    return "applies only to programs that predict: gpuopt compile --inference";
  if (setting.section == Section::LossScale && !program.scales_loss)
    return "applies only to programs that scale their loss: gpuopt compile "
           "--precision=fp16 or --loss-scale";
  std::string readers, state;
  bool is_read = false;
  for (const OptimizerInfo &optimizer : kOptimizers) {
    if (!optimizer.reads(setting.name))
      continue;
    readers += (readers.empty() ? "" : " or ") + std::string(optimizer.name);
    bool has_state = true;
    for (int i = 0; i < kMaxOptimizerStates; i++)
      if (optimizer.states[i].needs == setting.name) {
        state = " and a --" + std::string(setting.name);
        has_state = (program.states >> i & 1) != 0;
      }
    is_read |= optimizer.name == program.optimizer && has_state;
  }
  if (readers.empty() || is_read)
    return "";
  return "applies only to programs that were compiled with --optimizer=" +
         readers + state;
}

// Returns what is wrong with the schedule's own flags, `is_given` of which says
// whether they are given; empty if nothing is. `quote` is put around the flag
// that the text begins with.
template <class IsGiven>
std::string schedule_error(const TrainingSettings &s, const std::string &quote,
                           IsGiven is_given) {
  auto flag = [&](std::string_view name) {
    return quote + "--" + std::string(name) + quote;
  };
  const LrSchedulerInfo &chosen = kLrSchedulers[s.lr_scheduler_type];
  for (const SettingInfo &setting : kSettings) {
    std::string readers;
    for (const LrSchedulerInfo &scheduler : kLrSchedulers)
      if (scheduler.reads(setting.name))
        readers +=
            (readers.empty() ? "" : " or ") + std::string(scheduler.name);
    if (!readers.empty() && !chosen.reads(setting.name) &&
        is_given(std::string(setting.name)))
      return flag(setting.name) +
             " applies only to --lr-scheduler-type=" + readers +
             ", but the schedule is " + std::string(chosen.name);
  }
  if (!has_warmup(s.lr_scheduler_type))
    for (const bool is_ratio : {false, true})
      if (const std::string name = is_ratio ? "warmup-ratio" : "warmup-steps";
          is_given(name) && (is_ratio ? s.warmup_ratio : s.warmup_steps) > 0)
        return flag(name) + " has no effect on --lr-scheduler-type=" +
               std::string(chosen.name) +
               ", which has no warm-up; constant_with_warmup has one";
  if (s.lr_scheduler_type == kWarmupStableDecay && s.lr_decay_steps == 0)
    return flag("lr-scheduler-type=warmup_stable_decay") +
           " needs --lr-decay-steps";
  if (s.lr_scheduler_type == kCosineWithMinLr && s.min_lr == 0 &&
      s.min_lr_rate == 0 && is_given("lr-scheduler-type") &&
      !is_given("min-lr") && !is_given("min-lr-rate"))
    return flag("lr-scheduler-type=cosine_with_min_lr") +
           " needs --min-lr or --min-lr-rate";
  if (s.lr_scheduler_type == kCosineWithMinLr && s.min_lr > 0 &&
      s.min_lr_rate > 0)
    return flag("min-lr") + " and --min-lr-rate both say what the rate never "
                            "falls below; give one of them";
  if (s.lr_scheduler_type == kPolynomial && s.lr_end >= s.learning_rate)
    return flag("lr-end") + " must be below --learning-rate, which is " +
           number_text(s.learning_rate) + ", but is " + number_text(s.lr_end);
  return "";
}

// This follows the name of a flag in an error.
constexpr char kNoRateBesideRelativeStep[] =
    " has no effect with --adafactor-relative-step, by which adafactor chooses "
    "the learning rate itself; leave it out, or give "
    "--no-adafactor-relative-step";

// Returns which of the flags that are given would set the learning rate, which
// adafactor chooses by itself with a relative step, in the same way; empty if
// none does. transformers.Adafactor refuses a rate beside a relative step too.
template <class IsGiven>
std::string relative_step_error(const TrainingSettings &s,
                                const std::string &quote, IsGiven is_given) {
  if (!s.adafactor_relative_step)
    return "";
  auto asks_for_rate = [&](const std::string &name) {
    return name == "lr-scheduler-type" ? s.lr_scheduler_type != kConstant
           : name == "warmup-steps"    ? s.warmup_steps > 0
           : name == "warmup-ratio"    ? s.warmup_ratio > 0
                                       : true;
  };
  std::vector<std::string> names = {"learning-rate", "lr-scheduler-type",
                                    "warmup-steps", "warmup-ratio"};
  for (const LrSchedulerInfo &scheduler : kLrSchedulers)
    for (const std::string_view name : scheduler.settings)
      names.emplace_back(name);
  for (const std::string &name : names)
    if (!name.empty() && is_given(name) && asks_for_rate(name))
      return quote + "--" + name + quote + kNoRateBesideRelativeStep;
  return "";
}

// This follows the name of a flag in an error.
constexpr char kNeedsValidationData[] =
    " needs data to validate on: --eval-data and --eval-labels, or "
    "--eval-tokens";

// Returns which flag needs validations that there are not, in the same way.
inline std::string validation_error(const TrainingSettings &s,
                                    const std::string &quote,
                                    bool has_validation) {
  const bool on_plateau = s.lr_scheduler_type == kReduceLrOnPlateau;
  const std::string flag =
      quote +
      (s.early_stopping_patience > 0 ? "--early-stopping-patience"
       : on_plateau       ? "--lr-scheduler-type=reduce_lr_on_plateau"
       : s.eval_steps > 0 ? "--eval-steps"
                          : "--save-best") +
      quote;
  const bool is_periodic = s.early_stopping_patience > 0 || on_plateau;
  if (!has_validation && (is_periodic || s.eval_steps > 0 || s.save_best))
    return flag + kNeedsValidationData;
  if (is_periodic && s.eval_steps == 0)
    return flag + " needs validations after every --eval-steps steps";
  if (s.metric_for_best_model != "loss" && !s.save_best &&
      s.early_stopping_patience == 0)
    return quote + "--metric-for-best-model" + quote +
           " has no effect without --save-best or --early-stopping-patience";
  return "";
}

// Returns which flag of a prediction lacks another one or contradicts it, in
// the same way.
template <class IsGiven>
std::string generation_error(const TrainingSettings &s,
                             const std::string &quote, IsGiven is_given) {
  auto flag = [&](const char *name) {
    return quote + "--" + std::string(name) + quote;
  };
  if (s.generate > 0) {
    if (s.prompts.empty())
      return flag("generate") + " needs --prompts";
    for (const char *name : {"data", "tokens", "transform", "class-names"})
      if (is_given(std::string(name)))
        return flag(name) + " has no effect with --generate, which reads "
                            "--prompts";
    if (s.top_k > 0 && s.temperature == 0)
      return flag("top-k") + " has no effect with --generate unless "
                             "--temperature is above 0";
    return "";
  }
  if (is_given(std::string("class-names")) && s.top_k == 0)
    return flag("class-names") + " has no effect without --top-k";
  for (const char *name : {"prompts", "temperature", "eos-token-id", "seed"})
    if (is_given(std::string(name)))
      return flag(name) + " has no effect without --generate";
  return "";
}

// Returns which flag has no effect without another one, in the same way.
// `trains` says that the program is a trainer, which may have data to validate
// on as well.
template <class IsGiven>
std::string missing_flag_error(const TrainingSettings &s,
                               const std::string &quote, bool trains,
                               IsGiven is_given) {
  auto flag = [&](const char *name) { return quote + "--" + name + quote; };
  for (const char *name : {"profile-warmup", "profile-active"})
    if (is_given(name) && !is_given("profile-costs-to"))
      return flag(name) + " has no effect without --profile-costs-to";
  if (!s.checksums_to.empty() && !s.profile_costs_to.empty())
    return flag("checksums-to") +
           " adds kernels of its own to the calls that --profile-costs-to "
           "times; give one of them";
  if (is_given("mixup-prob") && s.mixup == 0 && s.cutmix == 0)
    return flag("mixup-prob") + " has no effect without --mixup or --cutmix";
  if (is_given("mixup-switch-prob") && (s.mixup == 0 || s.cutmix == 0))
    return flag("mixup-switch-prob") +
           " has no effect without both --mixup and --cutmix";
  if (s.adafactor_warmup_init && !s.adafactor_relative_step)
    return flag("adafactor-warmup-init") +
           " has no effect without --adafactor-relative-step";
  if (is_given("early-stopping-threshold") && s.early_stopping_patience == 0)
    return flag("early-stopping-threshold") +
           " has no effect without --early-stopping-patience";
  if (is_given("max-bad-records") && s.on_bad_record != kSkipBadRecord)
    return flag("max-bad-records") +
           " has no effect without --on-bad-record=skip";
  if (s.overwrite_output_dir && s.resume == "auto")
    return flag("overwrite-output-dir") +
           " removes what --resume=auto goes on from; give one of them";
  if (s.init_strict && s.init_from.empty())
    return flag("init-strict") + " has no effect without --init-from";
  if (is_given("token-type") && s.tokens.empty() && s.eval_tokens.empty())
    return flag("token-type") + " describes files of tokens, but " +
           (trains ? "neither --tokens nor --eval-tokens is given"
                   : "--tokens is not given");
  return "";
}

} // namespace gpuopt
