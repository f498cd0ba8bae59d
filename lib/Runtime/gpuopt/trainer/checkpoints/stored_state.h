// Which tensors of a program are in which file, and under which names.
#pragma once

#include "gpuopt/data/safetensors.h"
#include "gpuopt/program/program.h"
#include "gpuopt/trainer/not_finite.h"

#include <set>

namespace gpuopt {

// The files that have a part of a program's state.
enum class StateFile {
  Weights,   // and running statistics
  Constants, // of the program
  Optimizer, // what the optimizer keeps for the parameters
  Averages,  // weights and running statistics, with averages of parameters
};

inline bool has_state(StateFile file, StateKind kind) {
  switch (file) {
  case StateFile::Weights:
  case StateFile::Averages:
    return kind == StateKind::Parameter || kind == StateKind::Frozen ||
           kind == StateKind::Buffer;
  case StateFile::Constants:
    return kind == StateKind::Constant;
  case StateFile::Optimizer:
    return kind == StateKind::OptimizerState;
  }
  return false;
}

// The entry of a file's metadata that has Program::graph of the program whose
// weights it has.
constexpr char kGraphEntry[] = "gpuopt_graph";
// The entry that has the step after which a run saved the weights.
constexpr char kStepEntry[] = "global_step";

// Returns the metadata of the weights of a program. Programs of Hugging Face
// look for "format".
inline std::map<std::string, std::string>
metadata_of_weights(const Program &program) {
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  if (program.graph[0])
    metadata[kGraphEntry] = program.graph;
  return metadata;
}

inline std::vector<int64_t> shape_of(const TensorInfo &tensor) {
  return {tensor.shape, tensor.shape + tensor.rank};
}

// Returns the name under which a tensor is read.
inline const char *stored_name(const StateInfo &state) {
  return state.saved_as ? state.saved_as[0] : state.tensor.name;
}

// Returns all names under which a tensor is written: several where weights are
// tied.
inline std::vector<std::string> stored_names(const StateInfo &state) {
  std::vector<std::string> names{stored_name(state)};
  for (int i = 1; state.saved_as && state.saved_as[i]; i++)
    names.push_back(state.saved_as[i]);
  return names;
}

// Whether a tensor in a file has integers or booleans.
inline bool is_of_integers(const StoredTensor &stored) {
  return stored.dtype == "BOOL" || stored.dtype[0] == 'I' ||
         stored.dtype[0] == 'U';
}

// Whether a program rounds a weight as it is loaded: products in half precision
// alone read it, and no optimizer changes it.
inline bool is_rounded(const Program &program, const StateInfo &state) {
  return (!program.update || state.kind == StateKind::Frozen) &&
         (state.tensor.type == Type::F16 || state.tensor.type == Type::BF16);
}

// Throws Error if rounding has made finite elements of a frozen weight
// infinite, which a training cannot begin with.
inline void refuse_overflow(const Program &program, const StateInfo &state,
                            const std::string &path, bool was_finite,
                            bool is_finite) {
  if (program.update && was_finite && !is_finite)
    throw Error("'" + path + "' has numbers in '" + stored_name(state) +
                "' that are too large for " +
                safetensors_name(state.tensor.type) +
                ", the type in which this program keeps that frozen weight; "
                "compile it with another --precision");
}

// Whether training has made a weight or a running statistic infinite or NaN.
inline bool is_lost(const StateInfo &state, const char *data,
                    const std::set<std::string> &infinite_at_first) {
  return has_state(StateFile::Weights, state.kind) &&
         state.kind != StateKind::Frozen &&
         !infinite_at_first.count(state.tensor.name) &&
         !detail::all_finite(state.tensor.type, data, state.tensor.bytes);
}

} // namespace gpuopt
