// Where a run stands, beside its tensors: trainer_state.json of a checkpoint.
// Names are those of Hugging Face's Trainer where it has them.
#pragma once

#include "gpuopt/data/json.h"
#include "gpuopt/data/mapped_file.h"
#include "gpuopt/program/program.h"
#include "gpuopt/trainer/validations.h"

namespace gpuopt {

struct RunState {
  int64_t step = 0;      // of the run, steps that were skipped among them
  int64_t max_steps = 0; // of the whole run; 0: not known
  // The batches that were taken: the place in the order of samples, and the
  // counter from which the program draws its random numbers.
  int64_t batches = 0;
  int64_t updates = 0; // steps that were not skipped
  int64_t growth_tracker = 0, skipped_steps = 0, skipped_in_a_row = 0;
  int64_t batch_size = 0, accumulation_steps = 0;
  int64_t samples = 0;   // of the training data
  double epoch = 0;      // passes over the data so far
  double loss_scale = 0; // of the next step; 0: the program has none
  // The best validation so far by the metric of --metric-for-best-model, and
  // the step of its checkpoint; 0: there is none.
  double best_metric = 0;
  int64_t best_step = 0;
  ValidationHistory validations;
  // Whether a validation was due after the step, but an interrupt or an error
  // kept it from ending; `validations` does not have it.
  bool awaits_validation = false;
  // Whether the checkpoint was written for its validation alone, and goes when
  // a better one comes.
  bool is_for_best = false;
  std::string optimizer; // of kOptimizers
  std::string model;     // Program::model
  // Flags that decide what a run computes, as their texts.
  std::map<std::string, std::string> settings;
};

namespace detail {
// A name of its own for the type: g++ warns of what nvcc makes of it otherwise.
template <class T>
using RunMember = T RunState::*;
template <class T>
struct RunField {
  const char *name;
  RunMember<T> member;
};
template <class T>
using HistoryMember = T ValidationHistory::*;
template <class T>
struct HistoryField {
  const char *name;
  HistoryMember<T> member;
};
inline constexpr HistoryField<int64_t> kHistoryIntegers[] = {
    {"validations", &ValidationHistory::count},
    {"plateau_bad_validations", &ValidationHistory::plateau_bad},
    {"plateau_cooldown", &ValidationHistory::plateau_cooldown},
    {"early_stopping_patience_counter", &ValidationHistory::stopping_bad},
    {"best_validation_step", &ValidationHistory::best_step},
};
inline constexpr HistoryField<double> kHistoryNumbers[] = {
    {"lr_factor", &ValidationHistory::lr_factor},
    {"plateau_best", &ValidationHistory::plateau_best},
    {"early_stopping_best", &ValidationHistory::stopping_best},
};
inline constexpr RunField<int64_t> kRunIntegers[] = {
    {"global_step", &RunState::step},
    {"max_steps", &RunState::max_steps},
    {"batches", &RunState::batches},
    {"updates", &RunState::updates},
    {"growth_tracker", &RunState::growth_tracker},
    {"skipped_steps", &RunState::skipped_steps},
    {"skipped_in_a_row", &RunState::skipped_in_a_row},
    {"train_batch_size", &RunState::batch_size},
    {"gradient_accumulation_steps", &RunState::accumulation_steps},
    {"samples", &RunState::samples},
    {"best_global_step", &RunState::best_step},
};
inline constexpr RunField<double> kRunNumbers[] = {
    {"epoch", &RunState::epoch},
    {"loss_scale", &RunState::loss_scale},
    {"best_metric", &RunState::best_metric},
};
} // namespace detail

// The flags besides those of the optimizer and of the loss scale that decide
// what a run computes. They are for the loop that reads data: who calls a
// program's steps has none of them.
inline constexpr std::string_view kSettingsOfTheLoop[] = {
    "shuffle",    "transform",         "mixup",     "cutmix",
    "mixup-prob", "mixup-switch-prob", "ema-decay", "metric-for-best-model"};
inline bool is_of_the_loop(std::string_view name) {
  for (const std::string_view each : kSettingsOfTheLoop)
    if (name == each)
      return true;
  return false;
}

// Returns the flags that decide what a run computes, as texts.
inline std::map<std::string, std::string>
deciding_settings(const TrainingSettings &s, const Program &program) {
  const ProgramKind kind = kind_of(program);
  std::map<std::string, std::string> settings;
  for (const char *compiled : program.compiled) {
    const std::string text = compiled;
    const size_t equals = text.find('=');
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (kind.scales_loss)
    settings["loss-scale"] =
        s.is_dynamic ? "dynamic" : number_text(s.init_scale);
  for (const SettingInfo &setting : kSettings) {
    const bool decides = setting.section == Section::Optimizer ||
                         setting.section == Section::LossScale ||
                         is_of_the_loop(setting.name);
    const std::string value = value_text(setting, s);
    if (decides && !value.empty() && why_not_taken(setting, kind).empty())
      settings[std::string(setting.name)] = value;
  }
  return settings;
}

// Copies what a step knows of the run, between two steps.
inline void read_counters(const StepState &state, RunState &run) {
  run.batches = state.draw;
  run.updates = state.step;
  run.growth_tracker = state.scaler.growth_tracker;
  run.skipped_steps = state.scaler.skipped_steps;
  run.skipped_in_a_row = state.scaler.skipped_in_a_row;
}
inline void write_counters(const RunState &run, StepState &state) {
  state.draw = run.batches;
  state.step = run.updates;
  state.scaler.growth_tracker = run.growth_tracker;
  state.scaler.skipped_steps = run.skipped_steps;
  state.scaler.skipped_in_a_row = run.skipped_in_a_row;
}

// Returns the text of the file.
inline std::string json_of(const RunState &run) {
  std::string text = "{\n";
  for (const auto &[name, member] : detail::kRunIntegers)
    text += " \"" + std::string(name) + "\": " + std::to_string(run.*member) +
            ",\n";
  for (const auto &[name, member] : detail::kRunNumbers)
    text +=
        " \"" + std::string(name) + "\": " + number_text(run.*member) + ",\n";
  for (const auto &[name, member] : detail::kHistoryIntegers)
    text += " \"" + std::string(name) +
            "\": " + std::to_string(run.validations.*member) + ",\n";
  for (const auto &[name, member] : detail::kHistoryNumbers)
    text += " \"" + std::string(name) +
            "\": " + number_text(run.validations.*member) + ",\n";
  if (run.awaits_validation)
    text += " \"awaits_validation\": 1,\n";
  if (run.is_for_best)
    text += " \"is_for_best\": 1,\n";
  return text + " \"optimizer\": " + json_quoted(run.optimizer) +
         ",\n \"model\": " + json_quoted(run.model) +
         ",\n \"settings\": " + json_object(run.settings) + "\n}\n";
}

// Reads the file. Members that this version does not know are an error, as
// they might change what the run computes.
inline RunState read_run_state(const std::string &path) {
  const MappedFile file(path);
  JsonParser parser(reinterpret_cast<const char *>(file.data), file.bytes,
                    "'" + path + "' is not the state of a training run");
  RunState run;
  parser.object([&](const std::string &name) {
    // Callers of steps who do not tell how many there are once saved -1.
    if (name == "max_steps") {
      run.max_steps = std::max<int64_t>(parser.signed_integer(), 0);
      return;
    }
    for (const auto &[known, member] : detail::kRunIntegers)
      if (name == known) {
        run.*member = parser.integer();
        return;
      }
    for (const auto &[known, member] : detail::kRunNumbers)
      if (name == known) {
        run.*member = parser.number();
        return;
      }
    for (const auto &[known, member] : detail::kHistoryIntegers)
      if (name == known) {
        run.validations.*member = parser.integer();
        return;
      }
    for (const auto &[known, member] : detail::kHistoryNumbers)
      if (name == known) {
        run.validations.*member = parser.number();
        return;
      }
    if (name == "awaits_validation")
      run.awaits_validation = parser.integer() != 0;
    else if (name == "is_for_best")
      run.is_for_best = parser.integer() != 0;
    else if (name == "optimizer")
      run.optimizer = parser.string();
    else if (name == "model")
      run.model = parser.string();
    else if (name == "settings")
      parser.object([&](const std::string &setting) {
        run.settings[setting] = parser.string();
      });
    else
      parser.fail();
  });
  return run;
}

} // namespace gpuopt
