// The settings of a training and the optimizers, each declared once. The
// compiler, the emitted programs and the documentation read these tables:
// nothing else knows a flag's default, range or help, or what an optimizer
// keeps from step to step.
//
//   struct Hyperparameters    what the device reads of them in a step
//   struct TrainingSettings   all of them, with their defaults
//   kSettings                 the flag of each: help, range, and who takes it
//   kOptimizers               the state and the hyperparameters of each
//
// A new optimizer is its hyperparameters in the struct and in kSettings, a row
// of kOptimizers, and a header of its name with its update (see optimizer.h).
// This file is C++17, as the compiler is.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace gpuopt {

//===----------------------------------------------------------------------===//
// What can be set, and the defaults
//===----------------------------------------------------------------------===//

// The loss scale; the names and defaults are those of torch.amp.GradScaler. A
// scale that is not dynamic stays what it is at first; steps that overflow are
// skipped all the same.
struct LossScaling {
  int64_t is_dynamic = 1;
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000; // good steps in a row before the scale grows
  double min_loss_scale = 1;
};

enum Schedule : int64_t { kLinear, kCosine, kConstant, kConstantWithWarmup };
constexpr std::string_view kScheduleNames[] = {"linear", "cosine", "constant",
                                               "constant_with_warmup"};

// The device's copy is written before the first step.
struct Hyperparameters : LossScaling {
  double learning_rate = 5e-5;
  int64_t schedule = kLinear;
  int64_t warmup_steps = 0;
  int64_t max_steps = -1; // on the device: of the whole run
  double max_grad_norm = 1;
  double weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8; // adamw and its kin
  double momentum = 0;                               // sgd
  bool nesterov = false;
  double lion_beta1 = 0.9, lion_beta2 = 0.99;
  double adafactor_epsilon1 = 1e-30, adafactor_epsilon2 = 1e-3;
  double adafactor_clip_threshold = 1, adafactor_decay_rate = -0.8;
  double adafactor_beta1 = 0;
  bool adafactor_scale_parameter = false, adafactor_relative_step = false;
  bool adafactor_warmup_init = false;
};

struct TrainingSettings : Hyperparameters {
  double warmup_ratio = 0, num_train_epochs = 3;
  uint64_t seed = 42;
  bool shuffle = true;
  int64_t logging_steps = 1, eval_steps = 0, save_steps = 0;
  int64_t profile_warmup = 3, profile_active = 10;
  int64_t num_threads = 0, num_workers = 2, prefetch_factor = 2;
  std::string token_type = "uint16", labels, tokens, eval_labels, eval_tokens,
              profile_costs_to, dump_gradients, weights, output_dir = "trained",
              wait_policy = "auto";
};

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

// Which commands have a flag: bits.
enum Takers : unsigned {
  kTrainer = 1,                   // the emitted program
  kTrain = 2,                     // gpuopt train, which hands it to the program
  kCompile = 4,                   // gpuopt compile and plan
  kEverywhere = 7,                // compiled in, and changed by the program's
  kRunning = kTrainer | kTrain,   // of a run alone
  kCompiling = kTrain | kCompile, // decides what the program is
};

// Where --help lists a flag.
enum class Section { Data, Run, Optimizer, LossScale, CompileTime };

template <class T>
using SettingMember = T TrainingSettings::*;

// The member of TrainingSettings that a flag sets; none where a flag has a
// syntax of its own.
struct Field {
  SettingMember<double> number = nullptr;
  SettingMember<int64_t> integer = nullptr;
  SettingMember<uint64_t> natural = nullptr;
  SettingMember<bool> toggle = nullptr;
  SettingMember<std::string> text = nullptr;
  SettingMember<int64_t> schedule = nullptr; // one of kScheduleNames

  constexpr Field() = default;
  constexpr Field(SettingMember<double> member) : number(member) {}
  constexpr Field(SettingMember<int64_t> member) : integer(member) {}
  constexpr Field(SettingMember<uint64_t> member) : natural(member) {}
  constexpr Field(SettingMember<bool> member) : toggle(member) {}
  constexpr Field(SettingMember<std::string> member) : text(member) {}
};
constexpr Field schedule_field(SettingMember<int64_t> member) {
  Field field;
  field.schedule = member;
  return field;
}

// The numbers that a flag can have. Whole ones need no more: int64_t.
struct Range {
  static constexpr double kMostOfFloat = 1e38;
  double least = 0, most = kMostOfFloat;
  bool without_least = false, without_most = false;

  constexpr bool has(double x) const {
    return (without_least ? x > least : x >= least) &&
           (without_most ? x < most : x <= most);
  }
  // "at least 0 and below 1"
  std::string text(bool is_whole) const {
    char low[40], high[40] = "";
    snprintf(low, sizeof low, without_least ? "more than %g" : "at least %g",
             least);
    if (most != kMostOfFloat || !is_whole)
      snprintf(high, sizeof high,
               without_most ? " and below %g" : " and at most %g", most);
    return std::string(low) + high;
  }
};
constexpr Range at_least(double least, double most = Range::kMostOfFloat) {
  return {least, most, false, false};
}
constexpr Range above(double least, double most = Range::kMostOfFloat) {
  return {least, most, true, false};
}
constexpr Range kBelow1{0, 1, false, true};

struct SettingInfo {
  std::string_view name; // without the dashes
  Field field;
  Range range;
  Section section = Section::Run;
  unsigned takers = 0; // Takers
  std::string_view help;
  std::string_view value = ""; // what stands for it in --help
};

namespace detail {
using S = TrainingSettings;

constexpr SettingInfo data(const char *name, Field field, const char *help,
                           const char *value = "FILE.npy") {
  return {name, field, {}, Section::Data, kRunning, help, value};
}
constexpr SettingInfo run(const char *name, Field field, Range range,
                          const char *help) {
  return {name, field, range, Section::Run, kRunning, help};
}
constexpr SettingInfo file(const char *name, Field field, unsigned takers,
                           const char *help, const char *value) {
  return {name, field, {}, Section::Run, takers, help, value};
}
constexpr SettingInfo step(const char *name, Field field, Range range,
                           const char *help) {
  return {name, field, range, Section::Optimizer, kEverywhere, help};
}
constexpr SettingInfo scale(const char *name, Field field, Range range,
                            const char *help) {
  return {name, field, range, Section::LossScale, kEverywhere, help};
}
constexpr SettingInfo compile_time(const char *name) {
  return {name, {}, {}, Section::CompileTime, kCompiling, ""};
}
} // namespace detail

// Names and defaults are those of the Hugging Face Trainer where it has them.
inline constexpr SettingInfo kSettings[] = {
    detail::data("data", {},
                 "file for an input; docs/training.md has the formats",
                 "INPUT=FILE.npy"),
    detail::data("labels", &detail::S::labels, "labels"),
    detail::data("tokens", &detail::S::tokens,
                 "file of tokens, for the input that --data does not name; the "
                 "label is the next token",
                 "FILE"),
    detail::data("token-type", &detail::S::token_type,
                 "uint8, uint16 or uint32, for token files without a header",
                 ""),
    detail::data("shuffle", &detail::S::shuffle, "samples in random order", ""),
    detail::data("eval-data", {}, "file for an input, for validation",
                 "INPUT=FILE.npy"),
    detail::data("eval-labels", &detail::S::eval_labels,
                 "labels for validation"),
    detail::data("eval-tokens", &detail::S::eval_tokens,
                 "file of tokens for validation", "FILE"),

    detail::file("output-dir", &detail::S::output_dir, kTrainer,
                 "where weights and metrics go", "DIR"),
    detail::file("weights", &detail::S::weights, kTrainer,
                 "model.safetensors to start from (default: that of the "
                 "program)",
                 "FILE"),
    detail::run("logging-steps", &detail::S::logging_steps, at_least(0),
                "steps between lines on the terminal; 0: none"),
    detail::run("eval-steps", &detail::S::eval_steps, at_least(0),
                "steps between validations; 0: at the end alone"),
    detail::run("save-steps", &detail::S::save_steps, at_least(0),
                "steps between saves; 0: at the end alone"),
    detail::run("num-threads", &detail::S::num_threads, at_least(0, 4096),
                "threads of the host target; 0: as many as cores"),
    detail::run("wait-policy", &detail::S::wait_policy, {},
                "how threads of the host target wait for the next kernel: "
                "active (they spin), passive (they sleep) or auto, which "
                "measures what is faster"),
    detail::run("num-workers", &detail::S::num_workers, at_least(1, 1024),
                "threads that prepare batches"),
    detail::run("prefetch-factor", &detail::S::prefetch_factor,
                at_least(1, 1024), "batches ahead, for each of them"),
    detail::file("dump-gradients", &detail::S::dump_gradients, kTrainer,
                 "the gradients of the first step", "FILE.safetensors"),
    detail::file("profile-costs-to", &detail::S::profile_costs_to, kRunning,
                 "how long each op of a step takes, for gpuopt --profile-costs",
                 "FILE.json"),
    detail::run("profile-warmup", &detail::S::profile_warmup, at_least(0, 1e9),
                "steps before those that are timed"),
    detail::run("profile-active", &detail::S::profile_active, at_least(1, 1e6),
                "steps that are timed"),

    detail::step("max-steps", &detail::S::max_steps, at_least(-1),
                 "steps to attempt; -1: as many as --num-train-epochs needs"),
    detail::step("num-train-epochs", &detail::S::num_train_epochs,
                 above(0, 1e9), "passes over the data where --max-steps is -1"),
    detail::step("seed", &detail::S::seed, {}, "of order and dropout"),
    detail::step("learning-rate", &detail::S::learning_rate, at_least(0),
                 "of the first step after warm-up"),
    detail::step("lr-scheduler-type", schedule_field(&detail::S::schedule), {},
                 "linear, cosine, constant or constant_with_warmup"),
    detail::step("warmup-steps", &detail::S::warmup_steps, at_least(0),
                 "steps of linear warm-up"),
    detail::step("warmup-ratio", &detail::S::warmup_ratio, at_least(0, 1),
                 "the same as a share of all steps"),
    detail::step("max-grad-norm", &detail::S::max_grad_norm, at_least(0),
                 "norm to clip gradients to; 0: none"),
    detail::step("weight-decay", &detail::S::weight_decay, at_least(0),
                 "share of the weights that a learning rate of 1 takes off; "
                 "of adam and sgd: added to the gradient"),
    detail::step("adam-beta1", &detail::S::beta1, kBelow1, // 1 divides by 0
                 "decay of the first moment"),
    detail::step("adam-beta2", &detail::S::beta2, kBelow1,
                 "decay of the second moment"),
    detail::step("adam-epsilon", &detail::S::epsilon, at_least(0),
                 "added to the root of the second moment"),
    detail::step("momentum", &detail::S::momentum, at_least(0),
                 "share of the last step that is taken again"),
    detail::step("nesterov", &detail::S::nesterov, {}, "Nesterov's momentum"),
    detail::step("lion-beta1", &detail::S::lion_beta1, kBelow1,
                 "share of the momentum in the sign of a step"),
    detail::step("lion-beta2", &detail::S::lion_beta2, kBelow1,
                 "decay of lion's momentum"),
    detail::step("adafactor-epsilon1", &detail::S::adafactor_epsilon1,
                 at_least(0), "added to squares of the gradient"),
    detail::step("adafactor-epsilon2", &detail::S::adafactor_epsilon2,
                 at_least(0), "least scale of a parameter"),
    detail::step("adafactor-clip-threshold",
                 &detail::S::adafactor_clip_threshold, above(0),
                 "most that the root mean square of an update is"),
    detail::step("adafactor-decay-rate", &detail::S::adafactor_decay_rate,
                 at_least(-10, 0),
                 "squares decay by 1 - step to the power of this"),
    detail::step("adafactor-beta1", &detail::S::adafactor_beta1, kBelow1,
                 "decay of a first moment; 0: none"),
    detail::step("adafactor-scale-parameter",
                 &detail::S::adafactor_scale_parameter, {},
                 "steps in proportion to the parameter"),
    detail::step("adafactor-relative-step", &detail::S::adafactor_relative_step,
                 {},
                 "a learning rate of 1 / sqrt(step), at most 0.01, in place of "
                 "--learning-rate"),
    detail::step("adafactor-warmup-init", &detail::S::adafactor_warmup_init, {},
                 "at most 1e-6 * step, for --adafactor-relative-step"),

    detail::scale("loss-scale", {}, {}, "dynamic, or a number that stays"),
    detail::scale("init-scale", &detail::S::init_scale, at_least(1e-37),
                  "the first dynamic loss scale"),
    detail::scale("growth-factor", &detail::S::growth_factor, at_least(1),
                  "of the loss scale after growth-interval good steps"),
    detail::scale("backoff-factor", &detail::S::backoff_factor, above(0, 1),
                  "of the loss scale after a step that overflows"),
    detail::scale("growth-interval", &detail::S::growth_interval, at_least(1),
                  "good steps in a row before the loss scale grows"),
    detail::scale("min-loss-scale", &detail::S::min_loss_scale, at_least(1e-37),
                  "what the loss scale never falls below"),

    // The driver declares them; a trainer says where they are set.
    detail::compile_time("batch-size"),
    detail::compile_time("dim"),
    detail::compile_time("batch-norm"),
    detail::compile_time("frozen-params"),
    detail::compile_time("inference"),
    detail::compile_time("loss"),
    detail::compile_time("logits"),
    detail::compile_time("ignore-index"),
    detail::compile_time("label-smoothing"),
    detail::compile_time("loss-chunks"),
    detail::compile_time("optimizer"),
    detail::compile_time("no-decay"),
    detail::compile_time("gradient-accumulation-steps"),
    detail::compile_time("precision"),
    detail::compile_time("precision-override"),
    detail::compile_time("precision-policy"),
    detail::compile_time("debug-overflow"),
    detail::compile_time("memory-budget"),
    detail::compile_time("activation-budget"),
    detail::compile_time("device"),
    detail::compile_time("target"),
    detail::compile_time("profile-costs"),
};

constexpr const SettingInfo *find_setting(std::string_view name) {
  for (const SettingInfo &setting : kSettings)
    if (setting.name == name)
      return &setting;
  return nullptr;
}

// The fewest digits that are read back as the same number.
inline std::string number_text(double number) {
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, nullptr) == number)
      break;
  }
  return text;
}

// The value as a flag has it.
inline std::string value_text(const SettingInfo &setting,
                              const TrainingSettings &s) {
  const Field &field = setting.field;
  if (field.number)
    return number_text(s.*field.number);
  return field.integer    ? std::to_string(s.*field.integer)
         : field.natural  ? std::to_string(s.*field.natural)
         : field.toggle   ? (s.*field.toggle ? "true" : "false")
         : field.text     ? s.*field.text
         : field.schedule ? std::string(kScheduleNames[s.*field.schedule])
                          : "";
}

// What is wrong with a value: "must be at least 0 and finite, but is -1"; empty
// where nothing is.
inline std::string range_error(const SettingInfo &setting,
                               const TrainingSettings &s) {
  const Field &field = setting.field;
  if (!field.number && !field.integer)
    return "";
  const double x = field.number ? s.*field.number : double(s.*field.integer);
  const bool is_max_steps = field.integer == &TrainingSettings::max_steps;
  if (is_max_steps ? x >= 1 || x == -1 : setting.range.has(x))
    return "";
  return "must be " +
         (is_max_steps ? "at least 1, or -1 for as many as --num-train-epochs "
                         "needs"
                       : setting.range.text(!field.number)) +
         ", but is " + value_text(setting, s);
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

constexpr int kMaxDims = 8;

// The shape of a parameter.
struct ParameterShape {
  const int64_t *dims;
  int rank;

  constexpr int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
      n *= dims[i];
    return n;
  }
};

enum class StateType { LikeParameter, I8 };
enum class StateShape {
  LikeParameter,
  WithoutLast,       // without the last dimension
  WithoutSecondLast, // without the one before
  PerBlock // one element for each kQuantizedBlock of the parameter, in order
};
constexpr int64_t kQuantizedBlock = 256;

// A tensor that an optimizer keeps for a parameter; it is zero at first.
struct OptimizerState {
  std::string_view name; // the parameter's, a dot, and this
  StateShape shape = StateShape::LikeParameter;
  StateType type = StateType::LikeParameter;
  // The parameters that have it; null: all.
  bool (*of)(ParameterShape) = nullptr;
  // The hyperparameter without which, 0 at compile time, there is no state.
  std::string_view needs = "";
};

struct StateDims {
  bool exists = false;
  int rank = 0;
  int64_t dims[kMaxDims] = {};
};
constexpr StateDims dims_of(const OptimizerState &state,
                            ParameterShape parameter) {
  StateDims result;
  result.exists = !state.of || state.of(parameter);
  if (state.shape == StateShape::PerBlock) {
    result.rank = 1;
    result.dims[0] =
        (parameter.elements() + kQuantizedBlock - 1) / kQuantizedBlock;
    return result;
  }
  const int left_out =
      state.shape == StateShape::WithoutLast         ? parameter.rank - 1
      : state.shape == StateShape::WithoutSecondLast ? parameter.rank - 2
                                                     : -1;
  for (int i = 0; i < parameter.rank; i++)
    if (i != left_out)
      result.dims[result.rank++] = parameter.dims[i];
  return result;
}

constexpr int kMaxOptimizerStates = 6, kMaxOptimizerSettings = 10;

struct OptimizerInfo {
  // The name of the flag's value, of the header with its update, and of the
  // function there.
  std::string_view name;
  std::string_view help;
  OptimizerState states[kMaxOptimizerStates];       // nameless at the end
  std::string_view settings[kMaxOptimizerSettings]; // nameless at the end
  // How many doubles an update needs for itself; null: none.
  int64_t (*scratch)(ParameterShape) = nullptr;

  constexpr const OptimizerState *find_state(std::string_view wanted) const {
    for (const OptimizerState &state : states)
      if (!wanted.empty() && state.name == wanted)
        return &state;
    return nullptr;
  }
  // In ProgramKind; 0 where there is no such state.
  constexpr unsigned state_bit(std::string_view wanted) const {
    const OptimizerState *state = find_state(wanted);
    return state ? 1u << (state - states) : 0;
  }
  constexpr bool reads(std::string_view setting) const {
    for (std::string_view read : settings)
      if (!setting.empty() && read == setting)
        return true;
    return false;
  }
};

// Whose moments adamw_8bit quantises; the others are too small to matter.
constexpr bool is_quantized(ParameterShape parameter) {
  return parameter.elements() >= 4096;
}
constexpr bool is_not_quantized(ParameterShape parameter) {
  return !is_quantized(parameter);
}

// A parameter as matrices of its last two dimensions; a vector is one row.
struct Matrices {
  int64_t count, rows, columns;
};
constexpr Matrices matrices_of(ParameterShape parameter) {
  const int rank = parameter.rank;
  Matrices m{1, 1, rank > 0 ? parameter.dims[rank - 1] : 1};
  if (rank > 1)
    m.rows = parameter.dims[rank - 2];
  for (int i = 0; i < rank - 2; i++)
    m.count *= parameter.dims[i];
  return m;
}
constexpr bool is_matrix(ParameterShape parameter) {
  return parameter.rank >= 2;
}
constexpr bool is_vector(ParameterShape parameter) {
  return parameter.rank < 2;
}

// The memory that an update by adafactor needs for itself, in doubles: two
// scalars, the means of the rows' state, partial sums of the columns by pieces
// of kPiece rows, and partial sums of squares of the update and the parameter.
struct AdafactorScratch {
  static constexpr int64_t kPiece = 256, kElements = 8192; // of a block
  int64_t pieces, rows_of_block, blocks; // of a matrix; of all rows
  int64_t row_means, columns, squares, size;

  constexpr AdafactorScratch(Matrices m, bool is_factored)
      : pieces((m.rows + kPiece - 1) / kPiece),
        rows_of_block(m.columns > 0 && m.columns < kElements
                          ? kElements / m.columns
                          : 1),
        blocks((m.count * m.rows + rows_of_block - 1) / rows_of_block),
        row_means(2), columns(row_means + (is_factored ? m.count : 0)),
        squares(columns + (is_factored ? pieces * m.count * m.columns : 0)),
        size(squares + 2 * blocks) {}
};
constexpr int64_t adafactor_scratch(ParameterShape parameter) {
  return AdafactorScratch(matrices_of(parameter), is_matrix(parameter)).size;
}

inline constexpr OptimizerInfo kOptimizers[] = {
    {"adamw",
     "torch.optim.AdamW",
     {{"exp_avg"}, {"exp_avg_sq"}},
     {"weight-decay", "adam-beta1", "adam-beta2", "adam-epsilon"}},
    {"adam",
     "torch.optim.Adam, whose weight decay is part of the gradient",
     {{"exp_avg"}, {"exp_avg_sq"}},
     {"weight-decay", "adam-beta1", "adam-beta2", "adam-epsilon"}},
    {"adamw_8bit",
     "AdamW whose moments are quantised to 8 bits in blocks of 256",
     {{"exp_avg", StateShape::LikeParameter, StateType::LikeParameter,
       is_not_quantized},
      {"exp_avg_sq", StateShape::LikeParameter, StateType::LikeParameter,
       is_not_quantized},
      {"exp_avg_codes", StateShape::LikeParameter, StateType::I8, is_quantized},
      {"exp_avg_scales", StateShape::PerBlock, StateType::LikeParameter,
       is_quantized},
      {"exp_avg_sq_codes", StateShape::LikeParameter, StateType::I8,
       is_quantized},
      {"exp_avg_sq_scales", StateShape::PerBlock, StateType::LikeParameter,
       is_quantized}},
     {"weight-decay", "adam-beta1", "adam-beta2", "adam-epsilon"}},
    {"adafactor",
     "transformers.Adafactor: of a matrix, squares by row and by column",
     {{"exp_avg_sq_row", StateShape::WithoutLast, StateType::LikeParameter,
       is_matrix},
      {"exp_avg_sq_col", StateShape::WithoutSecondLast,
       StateType::LikeParameter, is_matrix},
      {"exp_avg_sq", StateShape::LikeParameter, StateType::LikeParameter,
       is_vector},
      {"exp_avg", StateShape::LikeParameter, StateType::LikeParameter, nullptr,
       "adafactor-beta1"}},
     {"weight-decay", "adafactor-epsilon1", "adafactor-epsilon2",
      "adafactor-clip-threshold", "adafactor-decay-rate", "adafactor-beta1",
      "adafactor-scale-parameter", "adafactor-relative-step",
      "adafactor-warmup-init"},
     adafactor_scratch},
    {"lion",
     "Lion (Chen et al. 2023): the sign of a momentum",
     {{"exp_avg"}},
     {"weight-decay", "lion-beta1", "lion-beta2"}},
    {"sgd",
     "torch.optim.SGD",
     {{"momentum_buffer", StateShape::LikeParameter, StateType::LikeParameter,
       nullptr, "momentum"}},
     {"weight-decay", "momentum", "nesterov"}},
};

constexpr const OptimizerInfo *find_optimizer(std::string_view name) {
  for (const OptimizerInfo &optimizer : kOptimizers)
    if (optimizer.name == name)
      return &optimizer;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Which flags a program takes
//===----------------------------------------------------------------------===//

struct ProgramKind {
  std::string_view optimizer; // empty where a program has none
  unsigned states = 0;        // a bit for each of the optimizer's that there is
  bool scales_loss = false;
};

// Why a program does not take a flag that others take: what follows the flag's
// name in an error. Empty where it does.
inline std::string why_not_taken(const SettingInfo &setting,
                                 const ProgramKind &program) {
  if (setting.section == Section::CompileTime)
    return "is set at compile time: gpuopt compile --" +
           std::string(setting.name);
  if (setting.section == Section::LossScale && !program.scales_loss)
    return "is of programs that scale their loss: gpuopt compile "
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
  return "is of programs that were compiled with --optimizer=" + readers +
         state;
}

} // namespace gpuopt
