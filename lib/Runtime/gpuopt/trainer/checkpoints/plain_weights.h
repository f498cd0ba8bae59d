// Weights as they are in their file, of a program whose `prepare` writes
// products of weights and running statistics over them. So they are in memory
// once, and callers still find and write the weights of the file.
#pragma once

#include "gpuopt/trainer/checkpoints/weights_file.h"

namespace gpuopt {

class PlainWeights {
public:
  PlainWeights(Context &ctx, const Program &program, Originals &originals)
      : ctx(ctx), program(program), originals(originals) {
    for (const StateInfo &state : program.states)
      if (state.is_folded_in_place)
        states.push_back(&state);
  }

  // Says that all weights have been loaded from a file. It stays open, because
  // another may take its place before its weights are needed again. It must not
  // be written to.
  void loaded(std::unique_ptr<MappedFile> file) {
    are_folded = false;
    copies.clear();
    source = states.empty() ? nullptr : std::move(file);
  }
  // Says that a caller has written weights over those of the file, which have
  // been restored before.
  void written() { are_written = !states.empty(); }

  // To be called before `prepare`: it begins from the weights themselves.
  void begin_prepare(char *memory) {
    restore(memory);
    if (are_written) {
      copies.clear();
      for (const StateInfo *state : states) {
        copies.emplace_back(state->tensor.bytes);
        copy_to_host(ctx, copies.back().data(), memory + state->tensor.offset,
                     copies.back().size());
      }
      source.reset();
      are_written = false;
    }
    are_folded = !states.empty();
  }

  // Returns whether any weight had to be restored. `prepare` must run before
  // the next forward then.
  bool restore(char *memory) {
    if (!are_folded)
      return false;
    if (source && source->was_written())
      throw Error("'" + source->path +
                  "' has been written to since its weights were loaded, so "
                  "they cannot be read from it again; load them again");
    for (size_t i = 0; i < copies.size(); i++)
      copy_to_device(ctx, memory + states[i]->tensor.offset, copies[i].data(),
                     copies[i].size());
    if (source)
      WeightsFile(ctx, program, memory, originals)
          .load_folded_in_place(*source);
    are_folded = false;
    return true;
  }

private:
  Context &ctx;
  const Program &program;
  Originals &originals;
  std::vector<const StateInfo *> states; // that `prepare` changes
  std::unique_ptr<MappedFile> source;    // what has their values, or
  std::vector<std::vector<char>> copies; // those that a caller has written
  bool are_written = false;              // since the last `prepare`
  bool are_folded = false;               // in memory
};

} // namespace gpuopt
