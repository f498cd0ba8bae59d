// --resume: which checkpoint a run goes on from, and whether it is of this run.
#pragma once

#include "gpuopt/settings/metric_names.h"
#include "gpuopt/trainer/checkpoints/checkpoint_folder.h"
#include "gpuopt/trainer/checkpoints/model_hash.h"
#include "gpuopt/trainer/checkpoints/resume_text.h"
#include "gpuopt/trainer/checkpoints/run_state.h"

namespace gpuopt {

// Says that --resume=auto finds checkpoints, but none to go on from.
inline std::string describe_no_whole(const std::string &output_dir) {
  return "no checkpoint in '" + output_dir +
         "' is whole; remove them to begin anew";
}

// Returns the checkpoint that `resume` names. For "auto", that is the last one
// of the output folder that is whole; nothing if there is none at all.
inline std::string find_checkpoint(const std::string &resume,
                                   const std::string &output_dir,
                                   const char *program) {
  if (const std::string why = resume == "auto" ? "" : why_no_checkpoint(resume);
      !why.empty())
    throw Error(why);
  if (resume != "auto")
    try {
      check_whole(resume);
      return resume;
    } catch (const Error &error) {
      throw Error(std::string(error.what()) +
                  "; name another checkpoint, or let --resume=auto take the "
                  "last one that is whole");
    }
  const auto found = checkpoints_in(output_dir);
  for (size_t i = found.size(); i-- > 0;)
    try {
      check_whole(found[i].path);
      return found[i].path;
    } catch (const Error &error) {
      fprintf(stderr, "%s: warning: %s; --resume=auto takes an earlier one\n",
              program, error.what());
    }
  if (!found.empty())
    throw Error(describe_no_whole(output_dir));
  return "";
}

namespace detail {
inline void refuse_difference(const std::string &checkpoint,
                              const std::string &what, const std::string &saved,
                              const std::string &now) {
  if (saved != now)
    throw Error("'" + checkpoint + "' is of a run with " + what + " " + saved +
                ", but this one has " + now);
}
// Says of which model a checkpoint is, and what to do. `source` is the file of
// that model; empty: not known.
inline std::string describe_other_model(const std::string &checkpoint,
                                        const RunState &saved,
                                        const RunState &now,
                                        const std::string &source) {
  return "'" + checkpoint +
         "' is of another model: its graph and constants have the hash " +
         read_model_hash(saved.model).digits +
         ", but those of this program have " +
         read_model_hash(now.model).digits + "; it was saved after step " +
         std::to_string(saved.step) +
         (saved.max_steps > 0 ? " of " + std::to_string(saved.max_steps) : "") +
         " of a run" +
         (source.empty() ? "" : " of the model '" + source + "'") +
         "; go on with that model, name a checkpoint of this one by --resume, "
         "or begin a new run in another --output-dir, with the weights that "
         "fit by --init-from='" +
         checkpoint + "/" + kModelFile + "'";
}
// The settings that give each batch its samples, and what is minimised: the
// best loss so far is of the same kind.
inline constexpr const char *kFixedSettings[] = {"seed", "shuffle", "loss"};
} // namespace detail

// Refuses a checkpoint whose place in the data, or whose optimizer, means
// something else in this run. `source` is the file of the checkpoint's model;
// empty: not known.
inline void refuse_other_run(const std::string &checkpoint,
                             const RunState &saved, const RunState &now,
                             const std::string &source = "") {
  auto refuse = [&](const char *what, int64_t a, int64_t b) {
    detail::refuse_difference(checkpoint, what, std::to_string(a),
                              std::to_string(b));
  };
  detail::refuse_difference(checkpoint, "--optimizer", saved.optimizer,
                            now.optimizer);
  refuse("--batch-size", saved.batch_size, now.batch_size);
  refuse("--gradient-accumulation-steps", saved.accumulation_steps,
         now.accumulation_steps);
  if (are_other_models(saved.model, now.model))
    throw Error(detail::describe_other_model(checkpoint, saved, now, source));
  if (saved.samples > 0) // programs that others call know of no samples
    refuse("a number of samples of", saved.samples, now.samples);
  for (const char *name : detail::kFixedSettings)
    if (saved.settings.count(name) && now.settings.count(name))
      detail::refuse_difference(checkpoint, "--" + std::string(name),
                                saved.settings.at(name), now.settings.at(name));
}

// Whether the best validation of a checkpoint is one by the metric of this run.
inline bool has_same_metric(const RunState &saved, const TrainingSettings &s) {
  const auto metric = saved.settings.find("metric-for-best-model");
  return (metric == saved.settings.end() ? kLossMetric : metric->second) ==
         s.metric_for_best_model;
}

// Returns what the validations of a checkpoint mean for a run that goes on from
// it. What a plateau has made of the learning rate counts only if both have
// that schedule, and the patience that is left only if both have the same
// metric; otherwise it begins anew.
inline ValidationHistory resumed_validations(const RunState &saved,
                                             const RunState &now,
                                             const TrainingSettings &s) {
  auto follows_plateaus = [](const RunState &run) {
    const auto schedule = run.settings.find("lr-scheduler-type");
    return schedule != run.settings.end() &&
           schedule->second == kLrSchedulerNames[kReduceLrOnPlateau];
  };
  ValidationHistory history = saved.validations;
  const ValidationHistory first;
  if (!has_same_metric(saved, s)) {
    history.count = first.count;
    history.stopping_best = first.stopping_best;
    history.stopping_bad = first.stopping_bad;
    history.best_step = first.best_step;
  }
  if (!follows_plateaus(saved) || !follows_plateaus(now))
    copy_plateaus(first, history);
  return history;
}

// Whether the learning rate of a run with these settings depends on where the
// run ends.
inline bool depends_on_end(const std::map<std::string, std::string> &settings) {
  auto is = [&](const char *name, std::string_view value) {
    const auto found = settings.find(name);
    return found != settings.end() && found->second == value;
  };
  for (const int64_t type :
       {kConstant, kConstantWithWarmup, kInverseSqrt, kReduceLrOnPlateau})
    if (is("lr-scheduler-type", kLrSchedulers[type].name))
      return has_warmup(type) && !is("warmup-ratio", "0");
  return true;
}

// Warns of settings that differ and may: the run goes on with its own. One that
// is in one of them alone is not comparable, except for parameter groups and
// what a loop does to its data, of which there may be none. Also warns if only
// the tensors show whether the checkpoint is of this model.
inline void warn_of_changes(const std::string &checkpoint,
                            const RunState &saved, const RunState &now,
                            const char *program) {
  if (have_other_versions(saved.model, now.model))
    fprintf(stderr,
            "%s: warning: '%s' is of another version of gpuopt, which hashes "
            "models in another way: only the names, shapes and types of its "
            "tensors are compared with those of this model\n",
            program, checkpoint.c_str());
  std::map<std::string, std::string> before = saved.settings,
                                     after = now.settings;
  for (auto *settings : {&before, &after}) {
    settings->emplace("param-group", "none");
    if (settings->count("shuffle")) // which each loop has
      settings->emplace("transform", "none");
  }
  // Whichever of its flags was given, what counts is where the run ends.
  for (auto *settings : {&before, &after})
    for (const char *steps : {"max-steps", "num-train-epochs"})
      settings->erase(steps);
  if (depends_on_end(after) && saved.max_steps > 0 && now.max_steps > 0 &&
      saved.max_steps != now.max_steps)
    fprintf(stderr,
            "%s: warning: the run ends after step %lld, but that of '%s' after "
            "step %lld: so does the schedule of its learning rate\n",
            program, (long long)now.max_steps, checkpoint.c_str(),
            (long long)saved.max_steps);
  for (const auto &[name, value] : after) {
    const auto old = before.find(name);
    if (old != before.end() && old->second != value)
      fprintf(stderr,
              "%s: warning: '--%s' is %s, but '%s' is of a run with %s\n",
              program, name.c_str(), value.c_str(), checkpoint.c_str(),
              old->second.c_str());
  }
}

} // namespace gpuopt
