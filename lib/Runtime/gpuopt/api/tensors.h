// The tensors of a program under the names of the C API, and the checks of what
// a caller gives for them.
#pragma once

#include "gpuopt/api/status.h"
#include "gpuopt/device/device.h"
#include "gpuopt/program/program.h"
#include "gpuopt/trainer/checkpoints/stored_state.h"

namespace gpuopt::api {

constexpr gpuopt_type api_type(Type type) {
  return static_cast<gpuopt_type>(static_cast<int>(type) + 1);
}
static_assert(api_type(Type::F64) == GPUOPT_F64 &&
                  api_type(Type::I64) == GPUOPT_I64 &&
                  api_type(Type::Bool) == GPUOPT_BOOL,
              "the types are in the same order");

struct Entry {
  const TensorInfo *tensor;
  gpuopt_role role;
  const InputInfo *input = nullptr; // of an input
  std::vector<const char *> names;  // all of them
  bool is_folded_in_place = false;  // of a state (program.h)
};

inline std::string describe(const Entry &entry) {
  return "'" + std::string(entry.names[0]) + "' " +
         name_of(entry.tensor->type) + " " +
         shape_text(shape_of(*entry.tensor));
}

// Entries of one group.
class Group {
public:
  explicit Group(const char *noun) : noun(noun) {}

  void add(Entry entry) { entries.push_back(std::move(entry)); }

  const Entry &at(size_t index) const {
    if (index >= entries.size())
      throw invalid("there is no " + noun + " " + std::to_string(index) +
                    ": the program has " + std::to_string(entries.size()));
    return entries[index];
  }
  const Entry &find(const char *name) const {
    for (const Entry &entry : entries)
      for (const char *each : entry.names)
        if (!strcmp(each, name))
          return entry;
    throw invalid("the program has no " + noun + " '" + name + "'; " + list());
  }
  // Returns the entry that the caller's tensor number `place` is for.
  const Entry &of(const gpuopt_tensor &given, size_t place) const {
    return given.name ? find(given.name) : at(place);
  }
  // Returns "its inputs are 'x' f32 [8, 4], 'labels' i64 [8]".
  std::string list() const {
    constexpr size_t kMost = 8;
    std::string text;
    for (size_t i = 0; i < entries.size() && i < kMost; i++)
      text += (i ? ", " : "") + describe(entries[i]);
    if (entries.size() > kMost)
      text += " and " + std::to_string(entries.size() - kMost) + " more";
    return entries.empty() ? "it has no " + noun + "s"
                           : "its " + noun + "s are " + text;
  }

  std::vector<Entry> entries;
  const std::string noun; // "input"
};

// Checks that the caller's tensor fits; `batches` of them lie one after the
// other.
inline void check_tensor(const Group &group, const Entry &entry,
                         const gpuopt_tensor &given, int64_t batches = 1) {
  const TensorInfo &tensor = *entry.tensor;
  const std::string name = group.noun + " '" + entry.names[0] + "'";
  if (given.type != api_type(tensor.type)) {
    const bool is_type = given.type >= GPUOPT_F64 && given.type <= GPUOPT_BOOL;
    throw invalid(name + " must be of type " + name_of(tensor.type) +
                  ", but is " +
                  (is_type ? name_of(static_cast<Type>(given.type - 1))
                           : "of no type: " + std::to_string(given.type)));
  }
  const size_t bytes = tensor.bytes * size_t(batches);
  if (given.size_in_bytes != bytes)
    throw invalid(
        name + " needs " + std::to_string(bytes) + " bytes, " +
        (batches > 1 ? std::to_string(batches) + " batches of " : "") +
        name_of(tensor.type) + " " + shape_text(shape_of(tensor)) +
        ", but got " + std::to_string(given.size_in_bytes));
  if (bytes > 0 && !given.data)
    throw invalid(name + " has no data: its pointer is null");
  if (given.memory != GPUOPT_HOST && given.memory != GPUOPT_DEVICE)
    throw invalid(name +
                  " must lie in memory of GPUOPT_HOST or GPUOPT_DEVICE, "
                  "but got " +
                  std::to_string(given.memory));
  if (given.memory == GPUOPT_DEVICE && kStagingIsDevice)
    throw invalid(name + " lies on a device, but the program is of target "
                         "host, which has none: give GPUOPT_HOST");
}

// Returns the caller's inputs in the program's order: each of them once.
inline std::vector<const gpuopt_tensor *>
match_inputs(const Group &group, const gpuopt_tensor *given, size_t count,
             int64_t batches) {
  if (count > 0)
    refuse_null(given, "inputs");
  const std::vector<Entry> &entries = group.entries;
  if (count != entries.size())
    throw invalid("the program takes " + std::to_string(entries.size()) +
                  " inputs, but got " + std::to_string(count) + "; " +
                  group.list());
  std::vector<const gpuopt_tensor *> matched(count);
  for (size_t i = 0; i < count; i++) {
    const Entry &entry = group.of(given[i], i);
    const gpuopt_tensor *&place = matched[size_t(&entry - entries.data())];
    if (place)
      throw invalid(group.noun + " '" + entry.names[0] + "' is given twice");
    check_tensor(group, entry, given[i], batches);
    place = &given[i];
  }
  return matched;
}

// All groups of a program.
struct Tensors {
  explicit Tensors(const Program &program) {
    for (const InputInfo &input : program.inputs)
      inputs.add({&input.tensor,
                  input.is_label ? GPUOPT_LABELS : GPUOPT_INPUT,
                  &input,
                  {input.tensor.name}});
    // Those of an evaluation are what its metrics are computed from.
    for (const OutputInfo &output :
         program.forward ? program.outputs : Table<OutputInfo>())
      outputs.add(
          {&output.tensor, GPUOPT_OUTPUT, nullptr, {output.tensor.name}});
    for (const StateInfo &state : program.states)
      if (const gpuopt_role role = role_of(state.kind); role)
        states.add({&state.tensor, role, nullptr, names_of(state),
                    state.is_folded_in_place});
  }

  const Group &group(gpuopt_group which) const {
    switch (which) {
    case GPUOPT_INPUTS:
      return inputs;
    case GPUOPT_OUTPUTS:
      return outputs;
    case GPUOPT_STATES:
      return states;
    }
    throw invalid("there is no group " + std::to_string(which) +
                  " of tensors: give GPUOPT_INPUTS, GPUOPT_OUTPUTS or "
                  "GPUOPT_STATES");
  }

  Group inputs{"input"}, outputs{"output"}, states{"state"};

private:
  // Returns 0 for what callers have no use for.
  static gpuopt_role role_of(StateKind kind) {
    switch (kind) {
    case StateKind::Parameter:
      return GPUOPT_PARAMETER;
    case StateKind::Frozen:
      return GPUOPT_FROZEN;
    case StateKind::Buffer:
      return GPUOPT_BUFFER;
    case StateKind::OptimizerState:
      return GPUOPT_OPTIMIZER_STATE;
    case StateKind::LossScale:
      return GPUOPT_LOSS_SCALE;
    default:
      return gpuopt_role(0);
    }
  }
  // Returns the names that the tensor has in files.
  static std::vector<const char *> names_of(const StateInfo &state) {
    std::vector<const char *> names{stored_name(state)};
    for (int i = 1; state.saved_as && state.saved_as[i]; i++)
      names.push_back(state.saved_as[i]);
    return names;
  }
};

} // namespace gpuopt::api
