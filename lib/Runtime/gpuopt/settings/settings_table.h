// The settings of a training or a prediction, each declared once. The compiler,
// the emitted programs and the documentation read this table: nothing else
// knows a flag's default, range or help.
//
//   training_settings.h   what can be set, with the defaults
//   kSettings             the flag of each: help, range, and who takes it
//
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/device/list_text.h"
#include "gpuopt/device/plain_numbers.h"
#include "gpuopt/settings/training_settings.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

namespace gpuopt {

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

// Bits that say which commands have a flag.
enum Takers : unsigned {
  kTrainer = 1,      // the emitted program
  kTrain = 2,        // gpuopt train, which hands it to the program
  kCompileAlone = 4, // gpuopt compile
  kPlan = 8,         // gpuopt plan
  kPredictor = 16,   // the emitted program of gpuopt compile --inference
  kPredict = 32,     // gpuopt predict, which hands it to that program
  kCompile = kCompileAlone | kPlan,
  kEverywhere = kTrainer | kTrain | kCompile, // the program's flag wins
  kRunning = kTrainer | kTrain,               // flags of a run alone
  kCompiling = kTrain | kCompile,             // decide what the program is
  kPredicting = kPredictor | kPredict,
};

// The heading under which --help lists a flag.
enum class Section { Data, Run, Prediction, Optimizer, LossScale };

// Returns the text of the heading.
constexpr const char *title_of(Section section) {
  switch (section) {
  case Section::Data:
    return "The data (docs/training.md)";
  case Section::Run:
    return "The run";
  case Section::Prediction:
    return "The prediction";
  case Section::Optimizer:
    return "The optimizer";
  case Section::LossScale:
    return "The loss scale (torch.amp.GradScaler's names)";
  }
  return "";
}

template <class T>
using SettingMember = T TrainingSettings::*;
using Field = FieldOf<TrainingSettings>;

struct SettingInfo {
  std::string_view name; // without the dashes
  Field field;
  Range range;
  Section section = Section::Run;
  unsigned takers = 0; // Takers
  std::string_view help;
  std::string_view value = ""; // what stands for it in --help
  std::string_view short_name = "";
  // What holds if the flag is not given, where no member has a default.
  std::string_view otherwise = "";
};

namespace detail {
using S = TrainingSettings;

constexpr SettingInfo data(const char *name, Field field, const char *help,
                           const char *value = "FILE") {
  return {name, field, {}, Section::Data, kRunning, help, value};
}
constexpr SettingInfo number(const char *name, Field field, Range range,
                             const char *help) {
  return {name, field, range, Section::Data, kRunning, help};
}
constexpr SettingInfo count(const char *name, Field field, const char *help) {
  return number(name, field, at_least(0), help);
}
constexpr SettingInfo run(const char *name, Field field, Range range,
                          const char *help) {
  return {name, field, range, Section::Run, kRunning, help};
}
constexpr SettingInfo file(const char *name, Field field, unsigned takers,
                           const char *help, const char *value) {
  return {name, field, {}, Section::Run, takers, help, value};
}
constexpr SettingInfo prediction(const char *name, Field field, Range range,
                                 const char *help, const char *value = "") {
  return {name, field, range, Section::Prediction, kPredicting, help, value};
}
// A flag of predictions as well.
constexpr SettingInfo shared(SettingInfo setting) {
  setting.takers |= setting.takers & kTrain ? kPredicting : kPredictor;
  return setting;
}
constexpr SettingInfo step(std::string_view name, Field field, Range range,
                           std::string_view help, std::string_view value = "") {
  return {name, field, range, Section::Optimizer, kEverywhere, help, value};
}
constexpr SettingInfo scale(const char *name, Field field, Range range,
                            const char *help) {
  return {name, field, range, Section::LossScale, kEverywhere, help};
}
} // namespace detail

// Names and defaults are those of the Hugging Face Trainer where it has them.
namespace detail {
inline constexpr SettingInfo kRunSettings[] = {
    detail::shared(
        detail::data("data", {},
                     "samples of an input: a .npy or IDX file, FILE.npz:NAME, "
                     "FILE.safetensors:NAME, a folder of pictures by class, or "
                     "members of tar files, as train-{0000..0007}.tar:jpg",
                     "INPUT=FILE")),
    detail::data("labels", &detail::S::labels,
                 "labels, as --data takes them; of a folder of pictures, the "
                 "numbers of its sub-folders"),
    detail::shared(detail::data(
        "tokens", &detail::S::tokens,
        "file of tokens, for the input that --data does not name; the "
        "label is the next token")),
    detail::shared(detail::data(
        "token-type", &detail::S::token_type,
        "uint8, uint16 or uint32, for token files without a header", "")),
    detail::shared(
        detail::data("transform", &detail::S::transform,
                     "what is done to pictures, by torchvision's names: "
                     "random_resized_crop, random_horizontal_flip, resize, "
                     "center_crop, rand_augment, normalize",
                     "TRANSFORMS")),
    detail::number("mixup", &detail::S::mixup, at_least(0, 1e6),
                   "mixes pairs of samples as timm does, by a share from "
                   "Beta(A, A), where A is this value; 0: no mixup"),
    detail::number("cutmix", &detail::S::cutmix, at_least(0, 1e6),
                   "exchanges a box between pairs of pictures as timm does, "
                   "which leaves a share from Beta(A, A); 0: no cutmix"),
    detail::number("mixup-prob", &detail::S::mixup_prob, at_least(0, 1),
                   "probability that --mixup or --cutmix mixes a batch"),
    detail::number("mixup-switch-prob", &detail::S::mixup_switch_prob,
                   at_least(0, 1),
                   "probability that cutmix mixes a batch, where both are on"),
    detail::data("shuffle", &detail::S::shuffle, "samples in random order", ""),
    detail::data("eval-data", {}, "file for an input, for validation",
                 "INPUT=FILE"),
    detail::data("eval-labels", &detail::S::eval_labels,
                 "file of labels for validation"),
    detail::data("eval-tokens", &detail::S::eval_tokens,
                 "file of tokens for validation"),
    detail::data("eval-transform", &detail::S::eval_transform,
                 "what is done to pictures for validation", "TRANSFORMS"),
    detail::data("on-bad-record",
                 Field(&detail::S::on_bad_record, kOnBadRecordNames),
                 "what becomes of a record that is damaged or does not fit: it "
                 "ends the run, or a sample that is drawn replaces it",
                 ""),
    detail::count("max-bad-records", &detail::S::max_bad_records,
                  "records that are skipped before the run ends with an error"),

    {"output-dir",
     &detail::S::output_dir, // "trained" is the default of the programs alone
     {},
     Section::Run,
     kRunning | kCompileAlone | kPredicting,
     "where the results go, or the program of gpuopt compile",
     "DIR",
     "o"},
    detail::run(
        "overwrite-output-dir", &detail::S::overwrite_output_dir, {},
        "the results of an earlier run in the output folder, "
        "checkpoints among them, are set aside, and removed once the new run "
        "has saved a checkpoint or its weights; without it, a run that would "
        "replace weights is refused"),
    detail::file("weights", &detail::S::weights, kTrainer | kPredicting,
                 "model.safetensors to start from (default: that of the "
                 "program)",
                 "FILE"),
    detail::file("constants", &detail::S::constants, kPredictor,
                 "constants.safetensors of the program (default: the file in "
                 "the executable's folder or the one above)",
                 "FILE"),
    detail::run(
        "logging-steps",
        Field::integer_or_word(&detail::S::logging_steps, "auto", kAuto),
        at_least(0),
        "steps between lines of progress; a terminal shows a bar "
        "instead; 0: neither; auto: about 10 to 20 lines, the first and the "
        "last step among them, or one for every 500 steps of a very long run"),
    detail::shared(
        detail::run("quiet", &detail::S::quiet, {},
                    "nothing on the terminal but warnings and errors")),
    detail::run("report-to", Field(&detail::S::report_to, kReportToNames), {},
                "what gets the numbers of every --logging-steps steps, or of "
                "each step with auto and 0: tensorboard writes event files to "
                "the folder tensorboard of the results"),
    detail::run("eval-steps", &detail::S::eval_steps, at_least(0),
                "steps between validations; 0: at the end alone"),
    detail::run("save-steps", &detail::S::save_steps, at_least(0),
                "steps between checkpoints; 0: only if the run is "
                "interrupted"),
    detail::run("save-total-limit", &detail::S::save_total_limit, at_least(0),
                "checkpoints that are kept, the last ones; 0: all"),
    detail::run("save-best", &detail::S::save_best, {},
                "a checkpoint after each validation whose loss is the lowest "
                "so far, or whose metric is the best one, which is kept until "
                "a better one comes"),
    detail::file("metric-for-best-model", &detail::S::metric_for_best_model,
                 kRunning,
                 "what --save-best and --early-stopping-patience go by: loss, "
                 "or one of --eval-metrics",
                 "NAME"),
    detail::file("resume", &detail::S::resume, kRunning,
                 "the checkpoint from which the run goes on; auto: the last "
                 "one in the output folder, or none if it has none",
                 "auto|FOLDER"),
    detail::run("ema-decay", &detail::S::ema_decay, kBelow1,
                "share of an average of the weights that a step leaves as it "
                "is; the averages are saved as ema.safetensors; 0: none"),
    detail::run("early-stopping-patience", &detail::S::early_stopping_patience,
                at_least(0),
                "validations in a row without a lower loss that end the run; "
                "0: none do"),
    detail::run("early-stopping-threshold",
                &detail::S::early_stopping_threshold, at_least(0),
                "by how much the loss has to be lower to count"),
    detail::file("init-from", &detail::S::init_from, kRunning,
                 "weights to begin with in place of the model's, by their "
                 "names; those that lack or do not fit are listed; of the "
                 "folder of a run, its weights or those of its last checkpoint",
                 "FILE.safetensors|RUN"),
    detail::run("init-strict", &detail::S::init_strict, {},
                "an error where --init-from lacks a tensor, or has another "
                "one"),
    detail::shared(detail::run(
        "num-threads", &detail::S::num_threads, at_least(0, kMostThreads),
        "threads of the host target; 0: as many as cores")),
    detail::shared(
        detail::run("wait-policy", &detail::S::wait_policy, {},
                    "how threads of the host target wait for the next kernel: "
                    "active (they spin), passive (they sleep) or auto, which "
                    "measures what is faster")),
    detail::shared(detail::run(
        "flush-denormals", &detail::S::flush_denormals, {},
        "arithmetic of the host target with zero in place of "
        "numbers nearer to it than 1.2e-38, which processors are slow with")),
    detail::shared(detail::run(
        "autotune", &detail::S::autotune, {},
        "the choice of a library's algorithms for products and "
        "convolutions, and of attention's library, by their time in the "
        "first step, on CUDA; without it, the library's heuristic chooses")),
    detail::shared(detail::file(
        "autotune-file", &detail::S::autotune_file, kRunning,
        "where these choices are kept, for the same bits in the next "
        "run (default: autotune.txt beside the program)",
        "FILE")),
    detail::shared(detail::run(
        "attention-library", &detail::S::attention_library, {},
        "what computes the forward of attention on CUDA: own (the runtime's "
        "kernels), cudnn (cuDNN for the shapes that it takes, own for "
        "others) or auto: auto takes the one that --autotune has measured to "
        "be "
        "faster, and own without --autotune")),
    detail::shared(detail::run(
        "num-workers",
        Field::integer_or_word(&detail::S::num_workers, "auto", kAuto),
        at_least(0, 1024),
        "threads that prepare batches; 0: the step waits while its "
        "own thread does; auto: as many as keep the step from "
        "waiting, which the first 200 batches tell")),
    detail::shared(detail::run("prefetch-factor", &detail::S::prefetch_factor,
                               at_least(1, 1024),
                               "batches ahead, for each of them")),
    detail::file("dump-gradients", &detail::S::dump_gradients, kTrainer,
                 "the gradients of the first step", "FILE.safetensors"),
    detail::file("profile", &detail::S::profile, kRunning,
                 "which steps are profiled, by the names of "
                 "torch.profiler.schedule; a table and a trace of what each "
                 "kernel takes go to the folder profile of the results "
                 "(docs/profiling.md)",
                 "wait=N,warmup=N,active=N,repeat=N"),
    detail::run("nvtx", &detail::S::nvtx, {},
                "each call of a step is a range with its ONNX nodes in Nsight "
                "Systems and Nsight Compute, on CUDA"),
    detail::file("profile-costs-to", &detail::S::profile_costs_to, kRunning,
                 "how long each op of a step takes, for gpuopt --profile-costs",
                 "FILE.json"),
    detail::file("checksums-to", &detail::S::checksums_to, kRunning,
                 "a checksum of the memory after each call of each step: two "
                 "runs that should be equal differ from the first line that "
                 "does (docs/troubleshooting.md)",
                 "FILE.jsonl"),
    detail::run("profile-warmup", &detail::S::profile_warmup, at_least(0, 1e9),
                "steps before those that are timed"),
    detail::run("profile-active", &detail::S::profile_active, at_least(1, 1e6),
                "steps that are timed"),

    detail::prediction("outputs", &detail::S::outputs, {},
                       "the outputs that are written, with commas between them "
                       "(default: all)",
                       "NAMES"),
    detail::prediction("top-k", &detail::S::top_k, at_least(0),
                       "classes of each sample that are written, those with "
                       "the highest values, as lines of JSON in place of "
                       "arrays; 0: arrays. With --generate and --temperature, "
                       "the likeliest tokens that one is drawn from; 0: all"),
    detail::prediction("class-names", &detail::S::class_names, {},
                       "a line for each class, which --top-k writes beside "
                       "its number (default: the folders of pictures that a "
                       "run has learnt from)",
                       "FILE"),
    detail::prediction("generate", &detail::S::generate, at_least(0, 1e9),
                       "tokens that a language model adds to each of "
                       "--prompts; 0: predictions for --data"),
    detail::prediction("prompts", &detail::S::prompts, {},
                       "tokens that --generate continues: a .npy file of "
                       "integers [prompts, tokens], or a .jsonl file with a "
                       "list in each line",
                       "FILE"),
    detail::prediction("temperature", &detail::S::temperature, at_least(0),
                       "what logits are divided by before a token is drawn; "
                       "0: the likeliest token is taken"),
    detail::prediction("eos-token-id", &detail::S::eos_token_id, at_least(-1),
                       "the token that ends a text; -1: none"),

    detail::step("max-steps", &detail::S::max_steps, at_least(-1),
                 "steps to attempt; -1: as many as --num-train-epochs needs"),
    detail::step("num-train-epochs", &detail::S::num_train_epochs,
                 above(0, 1e9), "passes over the data where --max-steps is -1"),
    detail::shared(
        detail::step("seed", &detail::S::seed, {},
                     "seed of the order of samples and of dropout, or of the "
                     "tokens that --generate draws")),
    detail::step("learning-rate", &detail::S::learning_rate, at_least(0),
                 "learning rate of the first step after warm-up"),
    detail::step("lr-scheduler-type",
                 Field(&detail::S::lr_scheduler_type, kLrSchedulerNames), {},
                 "how the learning rate changes, as in Hugging Face"),
    detail::step("warmup-steps", &detail::S::warmup_steps, at_least(0),
                 "steps of linear warm-up"),
    detail::step("warmup-ratio", &detail::S::warmup_ratio, at_least(0, 1),
                 "steps of linear warm-up, as a share of all steps"),
    detail::step("lr-num-cycles", &detail::S::lr_num_cycles, at_least(0),
                 "waves of a cosine schedule; 0: 0.5, or 1 restart"),
    detail::step("min-lr", &detail::S::min_lr, at_least(0),
                 "what the learning rate never falls below"),
    detail::step("min-lr-rate", &detail::S::min_lr_rate, at_least(0, 1),
                 "the same, as a share of --learning-rate"),
    detail::step("lr-end", &detail::S::lr_end, at_least(0),
                 "learning rate at the end of a polynomial schedule"),
    detail::step("lr-power", &detail::S::lr_power, at_least(0),
                 "power of a polynomial schedule"),
    detail::step("lr-timescale", &detail::S::lr_timescale, at_least(0),
                 "timescale of an inverse_sqrt schedule; 0: "
                 "--warmup-steps or, without them, 10000"),
    detail::step("lr-decay-steps", &detail::S::lr_decay_steps, at_least(0),
                 "steps at the end in which warmup_stable_decay falls"),
    detail::step("lr-warmup-type",
                 Field(&detail::S::lr_warmup_type, kLrRampNames), {},
                 "how warmup_stable_decay rises"),
    detail::step("lr-decay-type",
                 Field(&detail::S::lr_decay_type, kLrRampNames), {},
                 "how warmup_stable_decay falls"),
    detail::step("lr-factor", &detail::S::lr_factor, above(0, 1),
                 "what reduce_lr_on_plateau multiplies the rate by"),
    detail::step("lr-patience", &detail::S::lr_patience, at_least(0),
                 "validations without a lower loss before reduce_lr_on_plateau "
                 "lowers the rate"),
    detail::step("lr-threshold", &detail::S::lr_threshold, kBelow1,
                 "share by which a loss has to be lower to count"),
    detail::step("lr-cooldown", &detail::S::lr_cooldown, at_least(0),
                 "validations that do not count after reduce_lr_on_plateau has "
                 "lowered the rate"),
    detail::step("max-grad-norm", &detail::S::max_grad_norm, at_least(0),
                 "norm to clip gradients to; 0: none"),
    detail::step("param-group", &detail::S::param_groups, {},
                 "hyperparameters of the parameters whose name a regular "
                 "expression matches; once for each group, the first that "
                 "matches counts",
                 "REGEX:lr=...,weight_decay=..."),
};
inline constexpr SettingInfo kLossScaleSettings[] = {
    {"loss-scale",
     Field::with_names(kLossScaleNames), // two members have it
     at_least(1e-37), Section::LossScale, kEverywhere,
     "how the loss is scaled: dynamic or by a fixed number; none, which "
     "gpuopt alone takes: not at all",
     "", "", "dynamic for fp16, else none"},
    detail::scale("init-scale", &detail::S::init_scale, at_least(1e-37),
                  "the first dynamic loss scale"),
    detail::scale("growth-factor", &detail::S::growth_factor, at_least(1),
                  "factor of the loss scale after growth-interval good steps"),
    detail::scale("backoff-factor", &detail::S::backoff_factor, above(0, 1),
                  "factor of the loss scale after a step that overflows"),
    detail::scale("growth-interval", &detail::S::growth_interval, at_least(1),
                  "good steps in a row before the loss scale grows"),
    detail::scale("min-loss-scale", &detail::S::min_loss_scale, at_least(1e-37),
                  "what the loss scale never falls below"),
};

constexpr auto all_settings() {
  std::array<SettingInfo, std::size(kRunSettings) +
                              std::size(kHyperparameters) +
                              std::size(kLossScaleSettings)>
      all{};
  size_t count = 0;
  for (const SettingInfo &setting : kRunSettings)
    all[count++] = setting;
  for (const HyperparameterInfo &row : kHyperparameters)
    all[count++] = step(row.name, row.field, row.range, row.help);
  for (const SettingInfo &setting : kLossScaleSettings)
    all[count++] = setting;
  return all;
}
} // namespace detail

// The hyperparameters of optimizers are in optimizer_table.h.
inline constexpr auto kSettings = detail::all_settings();

// Whether each of several flags of a name counts, and not the last one alone.
constexpr bool may_repeat(const SettingInfo &setting) {
  return setting.field.texts || setting.name == "data" ||
         setting.name == "eval-data";
}

constexpr const SettingInfo *find_setting(std::string_view name) {
  for (const SettingInfo &setting : kSettings)
    if (setting.name == name)
      return &setting;
  return nullptr;
}

// Returns the fewest digits that are read back as the same number: 40, not
// 4e+01.
inline std::string number_text(double number) {
  const PlainNumbers plain;
  const double size = std::fabs(number);
  char text[40];
  for (int digits = size >= 1 && size < 1e15 ? int(std::log10(size)) + 1 : 1;
       digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, nullptr) == number)
      break;
  }
  return text;
}

inline std::string joined_text(const std::vector<std::string> &texts) {
  std::string joined;
  for (const std::string &text : texts)
    joined += (joined.empty() ? "" : " ") + text;
  return joined;
}

// Returns the value as a flag has it; of a flag that may be repeated, all of
// them.
inline std::string value_text(const SettingInfo &setting,
                              const TrainingSettings &s) {
  const Field &field = setting.field;
  if (field.number)
    return number_text(s.*field.number);
  if (!field.word.empty() && s.*field.integer == field.value_of_word)
    return std::string(field.word);
  return field.integer   ? std::to_string(s.*field.integer)
         : field.natural ? std::to_string(s.*field.natural)
         : field.toggle  ? (s.*field.toggle ? "true" : "false")
         : field.text    ? s.*field.text
         : field.texts   ? joined_text(s.*field.texts)
         : field.choice  ? std::string(field.names[s.*field.choice])
                         : "";
}

inline std::string choices_text(const Field &field) {
  return list_text(field.names, size_t(field.count));
}

// Returns the number of a choice by its name; field.count if there is none.
constexpr int64_t choice_number(const Field &field, std::string_view name) {
  int64_t number = 0;
  while (number < field.count && field.names[number] != name)
    number++;
  return number;
}

// Returns what a value can be: "at least 0 and below 1", "linear or cosine";
// empty if the flag takes neither a number nor one of several names.
inline std::string range_text(const SettingInfo &setting) {
  if (setting.field.choice)
    return choices_text(setting.field);
  if (setting.field.names) { // "dynamic, none or a number, at least 1e-37"
    std::string text;
    for (int64_t i = 0; i < setting.field.count; i++)
      text += (i ? ", " : "") + std::string(setting.field.names[i]);
    return text + " or a number, " + setting.range.text(/*is_whole=*/false);
  }
  if (!setting.field.number && !setting.field.integer)
    return "";
  if (setting.field.integer == &TrainingSettings::max_steps)
    return "at least 1, or -1 for as many as --num-train-epochs needs";
  const std::string range =
      setting.range.text(/*is_whole=*/!setting.field.number);
  const std::string_view word = setting.field.word;
  return word.empty() ? range : std::string(word) + ", or " + range;
}

// Returns what is wrong with a value: "must be at least 0 and below 1, but is
// -1"; empty if nothing is.
inline std::string range_error(const SettingInfo &setting,
                               const TrainingSettings &s) {
  const Field &field = setting.field;
  if (!field.number && !field.integer)
    return "";
  const double x = field.number ? s.*field.number : double(s.*field.integer);
  const bool is_max_steps = field.integer == &TrainingSettings::max_steps;
  const bool is_word = !field.word.empty() && x == double(field.value_of_word);
  if (is_word || (is_max_steps ? x >= 1 || x == -1 : setting.range.has(x)))
    return "";
  return "must be " + range_text(setting) + ", but is " +
         value_text(setting, s);
}

} // namespace gpuopt
