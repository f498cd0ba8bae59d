// --init-from: weights of another file in place of the program's own.
#pragma once

#include "gpuopt/trainer/checkpoints/originals.h"
#include "gpuopt/trainer/not_finite.h"

#include <set>

namespace gpuopt {

namespace detail {

// Returns the type of the elements of a file that can become elements of a
// program's type; nothing if they cannot.
inline std::optional<Type> type_that_becomes(const StoredTensor &stored,
                                             Type type) {
  if (stored.dtype == safetensors_name(type))
    return type;
  for (const Type from : {Type::F64, Type::F32, Type::F16, Type::BF16})
    if (stored.dtype == safetensors_name(from) && is_floating_point(type))
      return from;
  return std::nullopt;
}

// Returns the tensor's elements in a program's type.
inline std::string converted(const StoredTensor &stored, Type from, Type type) {
  if (from == type)
    return {reinterpret_cast<const char *>(stored.data), stored.bytes};
  const size_t count = stored.bytes / size_of(from);
  std::string bytes(count * size_of(type), '\0');
  convert_elements(from, stored.data, type, bytes.data(), count);
  return bytes;
}

} // namespace detail

// Loads the weights and running statistics that a file has under any of their
// names, in f64, f32, f16 or bf16. What the file lacks, or has in another shape
// or type, stays as it is: a warning lists these tensors and those that the
// program does not have or, with `is_strict`, an error does. A file that fits
// in no tensor is an error in any case, and so are elements that are infinite
// or NaN, unless the program's own are: `infinite` names those tensors, and
// does so afterwards.
inline void load_init_weights(Context &ctx, const Program &program,
                              char *memory, const std::string &path,
                              bool is_strict, Originals &originals,
                              std::set<std::string> &infinite) {
  check_listed(path);
  const MappedFile file(path);
  auto tensors = read_safetensors(file);
  std::string lacking, unfit, others;
  auto add = [](std::string &list, const std::string &name) {
    list += (list.empty() ? "'" : ", '") + name + "'";
  };
  int64_t taken = 0, all = 0;
  std::vector<std::string> used;
  NameList not_finite;
  originals.begin_loading(file);
  for (const StateInfo &state : program.states) {
    if (!has_state(StateFile::Weights, state.kind))
      continue;
    all++;
    const StoredTensor *stored = nullptr;
    for (const std::string &name : stored_names(state))
      if (const auto found = tensors.find(name); found != tensors.end()) {
        used.push_back(name);
        stored = stored ? stored : &found->second;
      }
    if (!stored) {
      add(lacking, stored_name(state));
      continue;
    }
    const Type type = state.tensor.type;
    const std::optional<Type> from = detail::type_that_becomes(*stored, type);
    if (stored->shape != shape_of(state.tensor) || !from ||
        stored->bytes != size_t(state.tensor.elements()) * size_of(*from)) {
      add(unfit, stored_name(state));
      unfit += " (" + stored->dtype + " " + shape_text(stored->shape) +
               ", but the program has " + safetensors_name(type) + " " +
               shape_text(shape_of(state.tensor)) + ")";
      continue;
    }
    const std::string bytes = detail::converted(*stored, *from, type);
    const std::string name = state.tensor.name;
    if (detail::all_finite(type, bytes.data(), bytes.size()))
      infinite.erase(name);
    else if (!infinite.count(name))
      not_finite.add(stored_name(state));
    copy_to_device(ctx, memory + state.tensor.offset, bytes.data(),
                   bytes.size());
    originals.loaded(state, *stored, *from);
    taken++;
  }
  if (!not_finite.empty())
    throw Error("'--init-from' '" + path +
                "' has elements that are infinite or NaN in " +
                not_finite.text() +
                "; training cannot begin with them: mend the file, or leave "
                "these tensors out of it");
  for (const std::string &name : used)
    tensors.erase(name);
  for (const auto &[name, tensor] : tensors)
    add(others, name);
  std::string text = "'--init-from' '" + path + "': " + std::to_string(taken) +
                     " of " + std::to_string(all) + " tensors are taken";
  for (const auto &[what, names] :
       {std::pair<const char *, const std::string &>("lacks ", lacking),
        {"does not fit: ", unfit},
        {"is not of the program: ", others}})
    if (!names.empty())
      text += std::string("; ") + what + names;
  if (taken == 0 || (is_strict && (taken < all || !tensors.empty())))
    throw Error(text);
  if (taken < all || !tensors.empty())
    fprintf(stderr, "%s: warning: %s\n", program.name, text.c_str());
}

} // namespace gpuopt
