// The optimizers, each declared once: what it keeps from step to step, and the
// hyperparameters that it reads, with their defaults and flags. The compiler,
// the emitted programs and the documentation read these tables.
//
//   OptimizerHyperparameters   the values, with their defaults
//   kHyperparameters           the flag of each: help and range
//   kOptimizers                the optimizers
//
// A new optimizer is a row of kOptimizers, its hyperparameters here, and a
// header of its name with its update (see optimizer.h).
// This file is C++17, as the compiler is.
#pragma once

#include "gpuopt/settings/field.h"
#include "gpuopt/settings/limits.h"

#include <cstdint>
#include <string_view>

namespace gpuopt {

//===----------------------------------------------------------------------===//
// Hyperparameters
//===----------------------------------------------------------------------===//

// How muon's learning rate depends on a matrix's rows and columns: times
// sqrt(max(1, rows / columns)), or 0.2 * sqrt(max(rows, columns)).
enum MuonAdjustLr : int64_t { kOriginal, kMatchRmsAdamw };
constexpr std::string_view kMuonAdjustLrNames[] = {"original",
                                                   "match_rms_adamw"};

// The hyperparameters that optimizers read, beside those of the schedule.
struct OptimizerHyperparameters {
  double weight_decay = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8; // adamw and its kin
  double momentum = 0;                               // sgd
  bool nesterov = false;
  double lion_beta1 = 0.9, lion_beta2 = 0.99;
  double muon_learning_rate = 0; // 0: learning_rate
  double muon_momentum = 0.95;
  bool muon_nesterov = true;
  int64_t muon_adjust_lr = kOriginal;
  double adafactor_epsilon1 = 1e-30, adafactor_epsilon2 = 1e-3;
  double adafactor_clip_threshold = 1, adafactor_decay_rate = -0.8;
  double adafactor_beta1 = 0;
  bool adafactor_scale_parameter = false, adafactor_relative_step = false;
  bool adafactor_warmup_init = false;
};

struct HyperparameterInfo {
  std::string_view name; // of the flag, without the dashes
  FieldOf<OptimizerHyperparameters> field;
  Range range; // of a number
  std::string_view help;
  // Whether --param-group can set it for some of the parameters alone.
  bool is_of_groups = false;
};

namespace detail {
using H = OptimizerHyperparameters;
constexpr bool kOfGroups = true;
} // namespace detail

inline constexpr HyperparameterInfo kHyperparameters[] = {
    {"weight-decay", &detail::H::weight_decay, at_least(0),
     "share of the weights that a learning rate of 1 takes off; of adam and "
     "sgd: added to the gradient",
     detail::kOfGroups},
    {"adam-beta1", &detail::H::beta1, kBelow1, // 1 divides by 0
     "decay of the first moment", detail::kOfGroups},
    {"adam-beta2", &detail::H::beta2, kBelow1, "decay of the second moment",
     detail::kOfGroups},
    {"adam-epsilon", &detail::H::epsilon, at_least(0),
     "added to the root of the second moment", detail::kOfGroups},
    {"momentum", &detail::H::momentum, at_least(0),
     "share of the last update that is added to the next", detail::kOfGroups},
    {"nesterov", &detail::H::nesterov, {}, "Nesterov's momentum"},
    {"lion-beta1", &detail::H::lion_beta1, kBelow1,
     "share of the momentum in the sign of a step", detail::kOfGroups},
    {"lion-beta2", &detail::H::lion_beta2, kBelow1, "decay of lion's momentum",
     detail::kOfGroups},
    {"muon-learning-rate", &detail::H::muon_learning_rate, at_least(0),
     "learning rate of what muon updates; 0: --learning-rate",
     detail::kOfGroups},
    {"muon-momentum", &detail::H::muon_momentum, kBelow1,
     "decay of muon's momentum"},
    {"muon-nesterov",
     &detail::H::muon_nesterov,
     {},
     "Nesterov's momentum for muon"},
    {"muon-adjust-lr",
     {&detail::H::muon_adjust_lr, kMuonAdjustLrNames},
     {},
     "how muon's learning rate depends on a matrix's shape"},
    {"adafactor-epsilon1", &detail::H::adafactor_epsilon1, at_least(0),
     "added to squares of the gradient", detail::kOfGroups},
    {"adafactor-epsilon2", &detail::H::adafactor_epsilon2, at_least(0),
     "least scale of a parameter", detail::kOfGroups},
    {"adafactor-clip-threshold", &detail::H::adafactor_clip_threshold, above(0),
     "most that the root mean square of an update is", detail::kOfGroups},
    {"adafactor-decay-rate", &detail::H::adafactor_decay_rate, at_least(-10, 0),
     "squares decay by 1 - step to the power of this"},
    {"adafactor-beta1", &detail::H::adafactor_beta1, kBelow1,
     "decay of a first moment; 0: none", detail::kOfGroups},
    {"adafactor-scale-parameter",
     &detail::H::adafactor_scale_parameter,
     {},
     "steps in proportion to the parameter"},
    {"adafactor-relative-step",
     &detail::H::adafactor_relative_step,
     {},
     "a learning rate of 1 / sqrt(step), at most 0.01, in place of "
     "--learning-rate"},
    {"adafactor-warmup-init",
     &detail::H::adafactor_warmup_init,
     {},
     "at most 1e-6 * step, for --adafactor-relative-step"},
};

//===----------------------------------------------------------------------===//
// Parameters and states
//===----------------------------------------------------------------------===//

// The shape of a parameter, and how the model reads it.
struct ParameterShape {
  const int64_t *dims;
  int rank;
  // Rows of it are taken by index, as those of an embedding.
  bool is_table = false;

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
  // The state exists only if this hyperparameter is not 0 at compile time.
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
  // The parameters that it updates, null: all; and what updates the others.
  bool (*of)(ParameterShape) = nullptr;
  std::string_view others = "";
  // Whether <name>_direction reads the gradient and the states, and <name>
  // takes what the step's products have made of its result. If not, <name>
  // takes the gradient and the states itself.
  bool has_direction = false;

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

// Whether adamw_8bit quantises the moments of this parameter. Those of smaller
// ones would save next to nothing.
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

// Whether torch.optim.Muon takes a parameter, except for embeddings: it
// recommends AdamW for those, as a step changes only the rows that a batch has
// taken.
constexpr bool is_hidden_matrix(ParameterShape parameter) {
  return parameter.rank == 2 && !parameter.is_table;
}

// The memory that an update by adafactor needs for itself, in doubles: two
// scalars, the means of the rows' state, partial sums of the columns by pieces
// of kPiece rows, and partial sums of squares of the update and the parameter.
struct AdafactorScratch {
  static constexpr int64_t kPiece = 256, kElements = kSpan; // of a block
  int64_t pieces, rows_of_block, blocks; // of a matrix; of all rows
  int64_t row_means, columns, squares, size;

  constexpr AdafactorScratch(Matrices m, bool is_factored)
      : pieces((m.rows + kPiece - 1) / kPiece),
        rows_of_block(
            m.columns > 0 && m.columns < kElements ? kElements / m.columns : 1),
        blocks((m.count * m.rows + rows_of_block - 1) / rows_of_block),
        row_means(2), columns(row_means + (is_factored ? m.count : 0)),
        squares(columns + (is_factored ? pieces * m.count * m.columns : 0)),
        size(squares + 2 * blocks) {}
};
constexpr int64_t adafactor_scratch(ParameterShape parameter) {
  return AdafactorScratch(matrices_of(parameter), is_matrix(parameter)).size;
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

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
    {"muon",
     "torch.optim.Muon for matrices that are no embeddings, adamw for the rest",
     {{"momentum_buffer"}},
     {"weight-decay", "muon-learning-rate", "muon-momentum", "muon-nesterov",
      "muon-adjust-lr", "adam-beta1", "adam-beta2", "adam-epsilon"},
     nullptr,
     is_hidden_matrix,
     "adamw",
     /*has_direction=*/true},
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

// The optimizer that updates `parameter` where `chosen` was asked for.
constexpr const OptimizerInfo &optimizer_of(const OptimizerInfo &chosen,
                                            ParameterShape parameter) {
  return chosen.of && !chosen.of(parameter) ? *find_optimizer(chosen.others)
                                            : chosen;
}

} // namespace gpuopt
