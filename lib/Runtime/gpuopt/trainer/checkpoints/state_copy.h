// A copy of what a run needs to go on, in the host's memory, so that it can be
// written while training changes the original.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/trainer/averages.h"
#include "gpuopt/trainer/checkpoints/originals.h"

namespace gpuopt {

// Gradients, copies in half precision and copies of running statistics are not
// part of it: each step makes them anew, or `prepare` does.
class StateCopy {
public:
  // `way_out` says, in an error, what can be done where there is no memory for
  // the copy.
  StateCopy(const Program &program, const Averages &averages,
            Originals &originals, const char *way_out)
      : averages(averages), originals(originals), way_out(way_out),
        metadata(metadata_of_weights(program)) {
    auto add = [&](const StateInfo &state, bool is_average) {
      parts.push_back({&state, bytes, is_average});
      bytes += state.tensor.bytes;
    };
    for (const StateInfo &state : program.states) {
      if (has_state(StateFile::Weights, state.kind) ||
          has_state(StateFile::Optimizer, state.kind))
        add(state, false);
      if (state.kind == StateKind::Parameter && averages.are_kept())
        add(state, true);
    }
  }

  // Allocates the memory of the copy, which take does if this has not.
  void allocate() {
    try {
      data.resize(bytes);
    } catch (const std::bad_alloc &) {
      throw Error("the host has too little memory for the copy of weights and "
                  "optimizer states from which a checkpoint is written, which "
                  "takes " +
                  human_bytes(double(bytes)) + "; " + way_out);
    }
  }

  // Copies from the memory of the program. Frozen weights, which no step
  // changes, are copied once.
  void take(Context &ctx, const char *memory) {
    allocate();
    for (const Part &part : parts)
      if (!was_taken || part.state->kind != StateKind::Frozen)
        copy_to_host(ctx, data.data() + part.begin,
                     part.is_average ? averages.place_of(part.state->tensor)
                                     : memory + part.state->tensor.offset,
                     part.state->tensor.bytes);
    was_taken = true;
  }

  // Returns what a file has; valid until the next copy is taken.
  std::vector<TensorToSave> tensors(StateFile file) const {
    std::vector<TensorToSave> tensors;
    for (const Part &part : parts)
      if (has_state(file, part.state->kind) &&
          part.is_average == (file == StateFile::Averages &&
                              part.state->kind == StateKind::Parameter))
        for (const std::string &name : stored_names(*part.state))
          tensors.push_back(
              originals.to_save(*part.state, name, data.data() + part.begin));
    return tensors;
  }
  // Warns of what could not be written as it should have been.
  void warn() const { originals.warn_of_rounded(); }

  // Returns the metadata of each file.
  const std::map<std::string, std::string> &get_metadata() const {
    return metadata;
  }

  // Returns the names of weights that training has lost; empty if none is.
  std::string lost(const std::set<std::string> &infinite_at_first) const {
    NameList names;
    for (const Part &part : parts)
      if (is_lost(*part.state, data.data() + part.begin, infinite_at_first))
        names.add(part.state->tensor.name);
    return names.text();
  }

private:
  struct Part {
    const StateInfo *state;
    size_t begin;
    bool is_average;
  };
  const Averages &averages;
  Originals &originals;
  const char *const way_out;
  const std::map<std::string, std::string> metadata;
  std::vector<Part> parts;
  size_t bytes = 0;
  bool was_taken = false;
  std::vector<char> data;
};

} // namespace gpuopt
