// --init-from: weights of another file in place of the program's own.
#pragma once

#include "gpuopt/trainer/checkpoints/stored_state.h"
#include "gpuopt/trainer/not_finite.h"

#include <set>

namespace gpuopt {

namespace detail {

// Converts elements of a file to doubles; returns false if the type is none of
// floating-point numbers.
inline bool read_numbers(const StoredTensor &stored,
                         std::vector<double> &numbers) {
  auto read = [&](auto element) {
    using T = decltype(element);
    numbers.resize(stored.bytes / sizeof(T));
    for (size_t i = 0; i < numbers.size(); i++) {
      memcpy(static_cast<void *>(&element), stored.data + i * sizeof(T),
             sizeof element);
      numbers[i] = double(load_scalar(&element));
    }
    return true;
  };
  return stored.dtype == "F64"    ? read(double())
         : stored.dtype == "F32"  ? read(float())
         : stored.dtype == "F16"  ? read(f16())
         : stored.dtype == "BF16" ? read(bf16())
                                  : false;
}

// Returns the tensor's elements in a program's type; empty if they cannot be
// converted to it.
inline std::string converted(const StoredTensor &stored, Type type) {
  if (stored.dtype == safetensors_name(type))
    return {reinterpret_cast<const char *>(stored.data), stored.bytes};
  std::vector<double> numbers;
  const bool is_float = type == Type::F32 || type == Type::F64;
  if (!is_float || !read_numbers(stored, numbers))
    return "";
  std::string bytes(numbers.size() * size_of(type), '\0');
  for (size_t i = 0; i < numbers.size(); i++) {
    const float narrow = float(numbers[i]);
    if (type == Type::F32)
      memcpy(&bytes[i * sizeof narrow], &narrow, sizeof narrow);
    else
      memcpy(&bytes[i * sizeof(double)], &numbers[i], sizeof(double));
  }
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
                              bool is_strict, std::set<std::string> &infinite) {
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
    const std::string bytes = detail::converted(*stored, state.tensor.type);
    if (stored->shape != shape_of(state.tensor) ||
        bytes.size() != state.tensor.bytes) {
      add(unfit, stored_name(state));
      unfit += " (" + stored->dtype + " " + shape_text(stored->shape) +
               ", but the program has " + safetensors_name(state.tensor.type) +
               " " + shape_text(shape_of(state.tensor)) + ")";
      continue;
    }
    const std::string name = state.tensor.name;
    if (detail::all_finite(state.tensor.type, bytes.data(), bytes.size()))
      infinite.erase(name);
    else if (!infinite.count(name))
      not_finite.add(stored_name(state));
    copy_to_device(ctx, memory + state.tensor.offset, bytes.data(),
                   bytes.size());
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
