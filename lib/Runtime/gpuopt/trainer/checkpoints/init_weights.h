// --init-from: weights of another file in place of the program's own.
#pragma once

#include "gpuopt/data/checksum.h"
#include "gpuopt/trainer/advice.h"
#include "gpuopt/trainer/checkpoints/originals.h"
#include "gpuopt/trainer/checkpoints/other_weights.h"
#include "gpuopt/trainer/not_finite.h"

#include <set>

namespace gpuopt {

namespace detail {

// Returns the type of a tensor in a file if it can be converted to a program's
// tensor; otherwise nothing.
inline std::optional<Type> convertible_type(const StoredTensor &stored,
                                            const TensorInfo &tensor) {
  if (stored.shape != shape_of(tensor))
    return std::nullopt;
  for (const Type type :
       {tensor.type, Type::F64, Type::F32, Type::F16, Type::BF16})
    if (stored.dtype == safetensors_name(type) &&
        stored.bytes == size_t(tensor.elements()) * size_of(type) &&
        (type == tensor.type || is_floating_point(tensor.type)))
      return type;
  return std::nullopt;
}

// Returns the elements of a tensor in a file, converted to a program's type.
inline std::string converted(const StoredTensor &stored, Type from, Type type) {
  if (from == type)
    return {reinterpret_cast<const char *>(stored.data), stored.bytes};
  const size_t count = stored.bytes / size_of(from);
  std::string bytes(count * size_of(type), '\0');
  convert_elements(from, stored.data, type, bytes.data(), count);
  return bytes;
}

// Returns what the names of a file and those of a program differ by at their
// beginning, as those of a module in a wrapper do; empty if that is nothing.
inline std::string
describe_prefix(const std::vector<std::string> &of_program,
                const std::map<std::string, StoredTensor> &of_file) {
  const auto prefix_of = [](const std::string &longer,
                            const std::string &shorter) {
    const size_t rest = longer.size() - shorter.size();
    return longer.size() > shorter.size() && longer[rest - 1] == '.' &&
                   longer.compare(rest, shorter.size(), shorter) == 0
               ? longer.substr(0, rest)
               : "";
  };
  for (const std::string &own : of_program)
    for (const auto &[name, tensor] : of_file) {
      if (const std::string prefix = prefix_of(name, own); !prefix.empty())
        return "; names of the file have '" + prefix +
               "' before those of the program, as '" + name +
               "' has: write a file without it";
      if (const std::string prefix = prefix_of(own, name); !prefix.empty())
        return "; names of the program have '" + prefix +
               "' before those of the file, as '" + own +
               "' has: write a file with it";
    }
  return "";
}

} // namespace detail

// The tensors of a file that a program takes as its own.
struct InitWeights {
  struct Taken {
    const StateInfo *state;
    StoredTensor stored;
    Type type; // of what is stored
  };
  std::vector<Taken> taken;
  bool is_whole = true; // each tensor of the file and of the program is taken
  std::string text;     // what is taken and what is not, for a message
};

// Finds the weights and running statistics that a file has under any of their
// names, in f64, f32, f16 or bf16. A file of which no tensor fits is an
// error and, with `is_strict`, so is one that lacks a tensor, has it in another
// shape or type, or has others. Integers and booleans may be others: a
// program's own are constants, but a state_dict() has those of the module's
// buffers, as `num_batches_tracked`.
inline InitWeights match_init_weights(const MappedFile &file,
                                      Table<StateInfo> states, bool is_strict) {
  refuse_other_weights(file, "--init-from");
  auto tensors = read_safetensors(file);
  InitWeights found;
  constexpr int kMostNames = 8;
  NameList lacking(kMostNames), unfit(kMostNames), others(kMostNames);
  size_t all = 0;
  std::vector<std::string> used, not_found;
  for (const StateInfo &state : states) {
    if (!has_state(StateFile::Weights, state.kind))
      continue;
    all++;
    const StoredTensor *stored = nullptr;
    for (const std::string &name : stored_names(state))
      if (const auto tensor = tensors.find(name); tensor != tensors.end()) {
        used.push_back(name);
        stored = stored ? stored : &tensor->second;
      }
    if (!stored) {
      lacking.add(stored_name(state));
      not_found.push_back(stored_name(state));
    } else if (const auto type =
                   detail::convertible_type(*stored, state.tensor)) {
      found.taken.push_back({&state, *stored, *type});
    } else {
      unfit.add(stored_name(state),
                stored->dtype + " " + shape_text(stored->shape) +
                    ", but the program has " +
                    safetensors_name(state.tensor.type) + " " +
                    shape_text(shape_of(state.tensor)));
    }
  }
  for (const std::string &name : used)
    tensors.erase(name);
  for (auto tensor = tensors.begin(); tensor != tensors.end();)
    tensor = is_of_integers(tensor->second) ? tensors.erase(tensor)
                                            : std::next(tensor);
  for (const auto &[name, tensor] : tensors)
    others.add(name.c_str());
  found.is_whole = found.taken.size() == all && tensors.empty();
  found.text = "'--init-from' '" + file.path +
               "': " + std::to_string(found.taken.size()) + " of " +
               std::to_string(all) + " tensors are taken";
  for (const auto &[what, names] :
       {std::pair<const char *, const NameList &>("lacks ", lacking),
        {"does not fit: ", unfit},
        {"is not of the program: ", others}})
    if (!names.empty())
      found.text += std::string("; ") + what + names.text();
  found.text += detail::describe_prefix(not_found, tensors);
  if (found.taken.empty() || (is_strict && !found.is_whole))
    throw Error(found.text);
  return found;
}

// Loads the tensors that a file has for a program. The others stay as they are:
// a warning lists them, unless gpuopt has done so before it built the program.
// Elements that are infinite or NaN are an error, unless the program's own
// tensor has such elements, too. `infinite` names the tensors that have them,
// before the call and after it.
inline void load_init_weights(Context &ctx, const Program &program,
                              char *memory, const std::string &path,
                              bool is_strict, Originals &originals,
                              std::set<std::string> &infinite) {
  check_listed(path);
  const MappedFile file(path);
  const InitWeights found = match_init_weights(file, program.states, is_strict);
  NameList not_finite;
  originals.begin_loading(file);
  for (const auto &[state, stored, type] : found.taken) {
    const std::string bytes =
                          detail::converted(stored, type, state->tensor.type),
                      name = state->tensor.name;
    const bool was_finite = detail::all_finite(type, stored.data, stored.bytes),
               is_finite = detail::all_finite(state->tensor.type, bytes.data(),
                                              bytes.size());
    if (is_rounded(program, *state))
      refuse_overflow(program, *state, path, was_finite, is_finite);
    if (is_finite)
      infinite.erase(name);
    else if (!infinite.count(name))
      not_finite.add(stored_name(*state));
    copy_to_device(ctx, memory + state->tensor.offset, bytes.data(),
                   bytes.size());
    originals.loaded(*state, stored, type);
  }
  if (!not_finite.empty())
    throw Error("'--init-from' '" + path +
                "' has elements that are infinite or NaN in " +
                not_finite.text() +
                "; training cannot begin with them: mend the file, or leave "
                "these tensors out of it");
  printf("begins with the weights of '%s'\n", path.c_str());
  if (!found.is_whole && !is_started_by_gpuopt())
    fprintf(stderr, "%s: warning: %s\n", program.name, found.text.c_str());
}

} // namespace gpuopt
