// Frozen weights that a training has in half precision alone. Files of weights
// have them as they were before that: in f32, with the bits of the file from
// which they were loaded, which is read again whenever they are saved. Elements
// that a caller has written since then are saved as they are in memory.
#pragma once

#include "gpuopt/trainer/checkpoints/stored_state.h"
#include "gpuopt/trainer/folder_marks.h"

#include <cstdio>
#include <memory>

namespace gpuopt {

class Originals {
public:
  explicit Originals(const Program &program) : program(program) {}
  Originals(const Originals &) = delete;

  // Whether a weight is saved as it was before it was rounded.
  bool has(const StateInfo &state) const {
    return program.update && is_rounded(program, state);
  }

  // Remembers the file from which weights are loaded until the next call.
  void begin_loading(const MappedFile &file) {
    mapped = file.data;
    opened.reset();
    for (const StateInfo &state : program.states)
      if (has(state)) {
        opened = std::make_shared<const OpenedFile>(file);
        return;
      }
  }
  // Says that a weight has been loaded from that file.
  void loaded(const StateInfo &state, const StoredTensor &from, Type type) {
    if (opened && has(state))
      originals[&state.tensor] =
          std::make_unique<Original>(opened, size_t(from.data - mapped), type);
  }
  // Returns a tensor under a name, for a file; `data` has its elements in
  // memory.
  TensorToSave to_save(const StateInfo &state, const std::string &name,
                       const char *data) const {
    TensorToSave tensor{name, state.tensor.type, shape_of(state.tensor), data,
                        state.tensor.bytes};
    if (has(state)) {
      tensor.type = Type::F32;
      tensor.bytes = size_t(state.tensor.elements()) * sizeof(float);
      tensor.rounded_to = state.tensor.type;
      const auto found = originals.find(&state.tensor);
      tensor.original =
          found == originals.end() ? nullptr : found->second.get();
    }
    return tensor;
  }

  // Warns, once, of what has been saved as it is in memory.
  void warn_of_rounded() {
    if (has_warned)
      return;
    for (const auto &[tensor, original] : originals)
      if (!original->was_readable()) {
        fprintf(stderr,
                "%s: warning: frozen weights such as '%s' are saved as they "
                "are in memory, rounded to half precision, because '%s', which "
                "they were loaded from, has been written to since then or "
                "cannot be read\n",
                program.name, tensor->name,
                in_its_place(original->path()).c_str());
        has_warned = true;
        return;
      }
  }

private:
  const Program &program;
  const uint8_t *mapped = nullptr;          // the start of what is being loaded
  std::shared_ptr<const OpenedFile> opened; // the same
  std::map<const TensorInfo *, std::unique_ptr<Original>> originals;
  std::atomic<bool> has_warned{false}; // by what writes checkpoints, too
};

} // namespace gpuopt
