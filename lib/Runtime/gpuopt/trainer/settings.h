// Reads the flags of a trainer: those of the table that the program takes, on
// top of its own defaults.
#pragma once

#include "gpuopt/data/results_in_data.h"
#include "gpuopt/data/sources.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/device/wait_policy.h"
#include "gpuopt/program/program.h"
#include "gpuopt/settings/compile_table.h"
#include "gpuopt/settings/flag_rules.h"
#include "gpuopt/settings/flags.h"
#include "gpuopt/settings/metric_names.h"
#include "gpuopt/settings/output_files.h"
#include "gpuopt/settings/param_groups.h"
#include "gpuopt/settings/profile_schedule.h"
#include "gpuopt/trainer/checkpoints/other_weights.h"
#include "gpuopt/trainer/checkpoints/resume.h"
#include "gpuopt/trainer/output_folder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gpuopt {

struct Settings : TrainingSettings {
  DataFlags train, eval;
};

namespace detail {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

inline double parse_number(const std::string &flag, const std::string &text) {
  char *end = nullptr;
  const double number = read_number(text.c_str(), &end);
  if (text.empty() || *end || number != number)
    throw Error("'" + flag + "' needs a number, but got '" + text + "'");
  return number;
}

template <class T>
T parse_whole(const std::string &flag, const std::string &text,
              T (*read)(const char *, char **, int)) {
  char *end = nullptr;
  errno = 0;
  const T number = read(text.c_str(), &end, 10);
  if (text.empty() || *end || errno)
    throw Error("'" + flag + "' needs a whole number, but got '" + text + "'");
  return number;
}

// strtoull alone would take -1 as the largest number.
inline uint64_t parse_natural(const std::string &flag,
                              const std::string &text) {
  if (text.find('-') != std::string::npos)
    throw Error("'" + flag + "' needs a whole number of at least 0, but got '" +
                text + "'");
  return parse_whole(flag, text, strtoull);
}

inline int64_t parse_choice(const std::string &flag, const Field &field,
                            const std::string &text) {
  const int64_t number = choice_number(field, text);
  if (number == field.count)
    throw Error("'" + flag + "' must be " +
                wrong_choice(text, field.names, size_t(field.count)));
  return number;
}

// Parses "dynamic" or a number.
inline void parse_loss_scale(const std::string &text, LossScaling &scaling) {
  scaling.is_dynamic = text == "dynamic";
  if (scaling.is_dynamic)
    return;
  char *end = nullptr;
  scaling.init_scale = read_number(text.c_str(), &end);
  if (text.empty() || *end)
    throw Error("'--loss-scale' must be dynamic or a number, but is '" + text +
                "'");
}

inline void set_value(const SettingInfo &setting, const std::string &text,
                      Settings &s) {
  const std::string flag = "--" + std::string(setting.name);
  const Field &field = setting.field;
  if (field.number)
    s.*field.number = parse_number(flag, text);
  else if (field.integer && !field.word.empty() && text == field.word)
    s.*field.integer = field.value_of_word;
  else if (field.integer)
    s.*field.integer = parse_whole(flag, text, strtoll);
  else if (field.natural)
    s.*field.natural = parse_natural(flag, text);
  else if (field.choice)
    s.*field.choice = parse_choice(flag, field, text);
  else if (field.text && text.empty())
    throw Error("'" + flag + "' needs a value, but got ''");
  else if (field.text)
    s.*field.text = text;
  else if (field.texts)
    set_param_group(text, s.*field.texts);
  else if (setting.name == "loss-scale")
    parse_loss_scale(text, s);
  else
    (setting.name == "data" ? s.train : s.eval).add(flag, text);
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

inline std::string help_of(const SettingInfo &setting, const Settings &s) {
  std::string value = setting.field.toggle
                          ? (s.*setting.field.toggle ? "on" : "off")
                          : value_text(setting, s);
  if (setting.name == "loss-scale")
    value = s.is_dynamic ? "dynamic" : "a number: --init-scale";
  std::string help(setting.value);
  help += (help.empty() ? "" : ": ") + std::string(setting.help);
  if (setting.field.choice)
    help += ": " + choices_text(setting.field);
  return value.empty() ? help : help + " (default " + value + ")";
}

inline void declare(const SettingInfo &setting, Flags &flags, Settings &s) {
  const std::string name(setting.name), help = help_of(setting, s);
  if (!setting.short_name.empty())
    flags.short_name(std::string(setting.short_name), name);
  if (SettingMember<bool> toggle = setting.field.toggle)
    return flags.toggle(name, help, [&s, toggle](bool on) { s.*toggle = on; });
  flags.value(
      name, help,
      [&s, &setting](const std::string &text) { set_value(setting, text, s); },
      may_repeat(setting));
}
// Warns of values that later ones replace. An error comes without these.
inline void warn_of_replaced(const Flags &flags, const Program &program) {
  for (const std::string &text : flags.replaced())
    fprintf(stderr, "%s: warning: %s\n", program.name, text.c_str());
}

inline void declare_flags(Flags &flags, Settings &s, const Program &program) {
  const ProgramKind kind = kind_of(program);
  const unsigned taker = kind.trains ? kTrainer : kPredictor;
  const SettingInfo *last = nullptr;
  for (const SettingInfo &setting : kSettings)
    if (const std::string why = why_not_taken(setting, kind); !why.empty()) {
      flags.elsewhere(std::string(setting.name), why);
    } else if (setting.takers & taker) {
      if (!last || setting.section != last->section)
        flags.section(title_of(setting.section));
      last = &setting;
      declare(setting, flags, s);
    }
  for (const CompileSetting &setting : kCompileSettings)
    flags.elsewhere(std::string(setting.name), where_set(setting));
}

// Has nothing but warnings and errors printed where the settings ask for that.
inline void keep_quiet(const Settings &s) {
  if (s.quiet && !freopen("/dev/null", "w", stdout))
    throw Error(std::string("cannot open '/dev/null': ") + strerror(errno));
}

// Sets the defaults that the program was compiled with.
inline void set_defaults(const Program &program, Settings &s) {
  Flags flags;
  declare_flags(flags, s, program);
  for (const char *text : program.defaults)
    flags.parse(text);
}

// Returns the name of the flag for a message. A fixed scale is set by another
// flag than the first dynamic one.
inline std::string name_of_range(const SettingInfo &setting,
                                 const Settings &s) {
  const bool stays = setting.name == "init-scale" && !s.is_dynamic;
  return std::string(stays ? "loss-scale" : setting.name);
}

// Checks the ranges of all values.
inline void check_ranges(const Settings &s, const ProgramKind &kind) {
  for (const SettingInfo &setting : kSettings)
    if (why_not_taken(setting, kind).empty())
      if (const std::string error = range_error(setting, s); !error.empty())
        throw Error("'--" + name_of_range(setting, s) + "' " + error);
}

// Only one of two flags says how long the warm-up or the run is, or what the
// rate never falls below. A given flag replaces the other one's compiled
// default.
inline void choose_given(const Flags &flags, Settings &s) {
  auto is_alone = [&](const char *name, const char *other) {
    return flags.given(name) && !flags.given(other);
  };
  if (is_alone("warmup-steps", "warmup-ratio"))
    s.warmup_ratio = 0;
  if (is_alone("warmup-ratio", "warmup-steps"))
    s.warmup_steps = 0;
  if (is_alone("min-lr", "min-lr-rate"))
    s.min_lr_rate = 0;
  if (is_alone("min-lr-rate", "min-lr"))
    s.min_lr = 0;
  if (is_alone("num-train-epochs", "max-steps"))
    s.max_steps = -1;
  // A relative step replaces a schedule that would need validations.
  if (s.adafactor_relative_step && !flags.given("lr-scheduler-type") &&
      s.lr_scheduler_type == kReduceLrOnPlateau)
    s.lr_scheduler_type = kConstant;
}

// Check that the files that flags name can be read.
inline void check_readable(const std::string &flag, const std::string &path) {
  try {
    if (!path.empty())
      MappedFile file(path);
  } catch (const Error &error) {
    throw Error("'" + flag + "': " + error.what());
  }
}
inline void check_data(const std::string &flag, const std::string &text) {
  for (const std::string &path : files_of(text))
    if (!is_folder(path))
      check_readable(flag, path);
}
inline void check_files(const DataFlags &data, const std::string &prefix) {
  for (const auto &[input, path] : data.files)
    check_data(prefix + "data", path);
  check_data(prefix + "labels", data.labels);
  check_readable(prefix + "tokens", data.tokens);
}

// Checks the file of --weights.
inline void check_weights(const Settings &s) {
  check_readable("--weights", s.weights);
  if (!s.weights.empty())
    refuse_other_weights(MappedFile(s.weights), "--weights");
}

// Refuses to write results where they would be read as data.
inline void refuse_results_in_data(const std::string &output_dir,
                                   const DataFlags &data,
                                   const std::string &prefix) {
  std::vector<std::pair<std::string, std::string>> named = {
      {prefix + "labels", data.labels}};
  for (const auto &[input, path] : data.files)
    named.emplace_back(prefix + "data", path);
  for (const auto &[flag, value] : named)
    if (const std::string why =
            value.empty() ? "" : why_not_in_data(output_dir, flag, value);
        !why.empty())
      throw Error(why);
}

// Checks the groups of --param-group. Which parameters a group has is part of
// the program, so it can have only those that it was compiled with.
inline void check_param_groups(const Settings &s, const Program &program) {
  if (s.param_groups.empty())
    return;
  if (const std::string why = param_groups_error(
          s, *find_optimizer(kind_of(program).optimizer), "'");
      !why.empty())
    throw Error(why);
  std::string known;
  size_t count = 0;
  for (const char *text : program.defaults) {
    const std::string flag = text, prefix = "--param-group=";
    if (flag.rfind(prefix, 0) != 0)
      continue;
    known += (count++ ? ", '" : "'") +
             expression_of_group(flag.substr(prefix.size())) + "'";
  }
  if (s.param_groups.size() > count)
    throw Error("'--param-group' names '" +
                expression_of_group(s.param_groups.back()) +
                "', but the groups of this program are those that it was "
                "compiled with: " +
                (known.empty() ? "none" : known));
}

// Checks for flags of the step that contradict each other.
inline void check_step_settings(const Flags &flags, const Settings &s,
                                const Program &program) {
  auto is_given = [&](const std::string &name) { return flags.given(name); };
  check_param_groups(s, program);
  if (const std::string why = relative_step_error(s, "'", is_given);
      !why.empty())
    throw Error(why);
  if (const std::string why = schedule_error(s, "'", is_given); !why.empty())
    throw Error(why);
  if (s.warmup_steps > 0 && s.warmup_ratio > 0)
    throw Error("'--warmup-steps' and '--warmup-ratio' both say how long "
                "the warm-up is; give one of them");
  if (s.nesterov && s.momentum == 0)
    throw Error("'--nesterov' needs --momentum");
  for (const char *name : {"init-scale", "growth-factor", "backoff-factor",
                           "growth-interval", "min-loss-scale"})
    if (flags.given(name) && !s.is_dynamic)
      throw Error(
          "'--" + std::string(name) +
          "' applies only to --loss-scale=dynamic, but the loss scale is "
          "a fixed number");
}

// Checks for flags that contradict each other or the program.
inline void check_together(const Flags &flags, const Settings &s,
                           const Program &program) {
  if (flags.given("dump-gradients") &&
      !find_state(program, StateKind::Gradient))
    throw Error("'--dump-gradients': this program does not keep its "
                "gradients; compile it with --gradient-accumulation-steps");
  check_step_settings(flags, s, program);
  if (const std::string why = validation_error(s, "'", s.eval.given());
      !why.empty())
    throw Error(why);
  if (const std::string why = missing_flag_error(
          s, "'", /*trains=*/true,
          [&](const char *name) { return flags.given(name); });
      !why.empty())
    throw Error(why);
  if (const std::string why = best_metric_error(
          s.metric_for_best_model,
          {program.eval_metrics.begin(), program.eval_metrics.end()});
      !why.empty())
    throw Error("'--metric-for-best-model' " + why);
  ProfileSchedule schedule;
  if (const std::string why = parse_profile_schedule(s.profile, schedule);
      !s.profile.empty() && !why.empty())
    throw Error("'--profile' " + why);
}

} // namespace detail

// Refuses to mix with the results of an earlier run, or to replace them.
inline void refuse_earlier_results(const Settings &s) {
  if (const std::string why =
          why_not_anew(s.output_dir, s.resume, s.overwrite_output_dir);
      !why.empty())
    throw Error("'--output-dir' " + why);
}

namespace detail {
// Checks what the flags name: the output folder, and files to read and write.
inline void check_paths(const Settings &s) {
  OutputFolder::check(s.output_dir);
  for (const auto &[flag, path] :
       {std::pair("--weights", s.weights),
        std::pair("--init-from", s.init_from), std::pair("--resume", s.resume)})
    if (const std::string why = why_not_read(flag, path, s.output_dir);
        !why.empty())
      throw Error(why);
  refuse_earlier_results(s);
  check_files(s.train, "--");
  check_files(s.eval, "--eval-");
  refuse_results_in_data(s.output_dir, s.train, "--");
  refuse_results_in_data(s.output_dir, s.eval, "--eval-");
  check_weights(s);
  check_readable("--init-from", s.init_from);
  if (const std::string why = unwritable_error(s, s.output_dir, "'");
      !why.empty())
    throw Error(why);
  std::vector<std::string> inputs;
  for (const DataFlags *data : {&s.train, &s.eval})
    for (const auto &[input, path] : data->files)
      inputs.push_back(path);
  if (const std::string why = replaced_input_error(s, inputs, "'");
      !why.empty())
    throw Error(why);
}
// Finds the weights that --init-from names, maybe by the folder of a run.
inline void find_init_weights(Settings &s) {
  const std::string given = s.init_from;
  s.init_from = weights_at(given);
  if (s.init_from.empty() && !given.empty())
    throw Error("'--init-from': " + no_weights_text(given));
}
inline void parse_flags(int argc, char **argv, const Program &program,
                        Settings &s) {
  Flags flags;
  declare_flags(flags, s, program);
  flags.parse_all(argc, argv);
  s.train.labels = s.labels, s.train.tokens = s.tokens;
  s.eval.labels = s.eval_labels, s.eval.tokens = s.eval_tokens;
  s.train.transform = s.transform;
  s.eval.transform = s.eval_transform;
  s.eval.training_transform = s.transform;
  if (!s.eval.given())
    s.train.eval_transform = s.eval_transform;
  choose_given(flags, s);
  check_ranges(s, kind_of(program));
  check_together(flags, s, program);
  find_init_weights(s);
  check_paths(s);
  warn_of_replaced(flags, program);
}
} // namespace detail

inline Settings parse_settings(int argc, char **argv, const Program &program) {
  Settings s;
  detail::set_defaults(program, s);
  try {
    detail::parse_flags(argc, argv, program, s);
  } catch (const std::exception &) {
    // A run that does not begin leaves nothing, but one that is to start a
    // killed run anew; the flag that tells so may stand behind a wrong one.
    if (std::find(argv, argv + argc, std::string("--resume=auto")) ==
            argv + argc &&
        waits_in_next_folder(s.weights, s.output_dir))
      remove_next_folder(s.output_dir);
    throw;
  }
  return s;
}

} // namespace gpuopt
