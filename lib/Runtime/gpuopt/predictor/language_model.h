// What --generate needs to know of a language model: which of the program's
// inputs and outputs are tokens, logits, and the keys and values of the tokens
// that it has seen before, if its graph takes and gives them.
#pragma once

#include "gpuopt/data/array.h"
#include "gpuopt/data/sources.h"
#include "gpuopt/program/program.h"

#include <string>
#include <vector>

namespace gpuopt {

// The keys or the values of one layer's attention.
struct CachedTensor {
  // [batch, heads, cache_capacity, size]
  const TensorInfo *past;
  // [batch, heads, cache_capacity + tokens_per_step, size]: behind the past
  // ones, those of this step's tokens.
  const TensorInfo *present;
  // Whether a step reads the past ones in `present`.
  bool is_in_place;
  // Whether the file has both in half precision, in which programs keep inputs
  // but no outputs: `present` is float32, and rounded where it becomes `past`.
  bool is_rounded() const { return past->type != present->type; }
};

// Inputs and outputs have the names that transformers' exporters give them.
class LanguageModel {
public:
  const Program &program;
  const std::vector<CachedTensor> cache;
  const TensorInfo &tokens, &logits;

  // `outputs` names the logits, or is empty.
  LanguageModel(const Program &program, const std::string &outputs)
      : program(program), cache(find_cache()), tokens(find_tokens()),
        logits(find_logits(outputs)) {}

  // Returns the number of tokens that one step computes.
  int64_t tokens_per_step() const { return tokens.shape[1]; }
  int64_t vocabulary() const { return logits.shape[2]; }
  bool has_cache() const { return !cache.empty(); }
  // Whether the earlier keys and values lie where those of this step are
  // written behind them.
  bool has_cache_in_place() const {
    return has_cache() && std::all_of(cache.begin(), cache.end(),
                                      [](const CachedTensor &tensors) {
                                        return tensors.is_in_place;
                                      });
  }
  // Returns the number of earlier tokens whose keys and values a step reads.
  int64_t cache_capacity() const {
    return has_cache() ? cache[0].past->shape[2] : 0;
  }
  // Returns the number that every position is less than, or -1 if there is
  // none.
  int64_t position_limit() const {
    for (const InputInfo &input : program.inputs)
      if (are_positions(input.tensor))
        return input.index_limit;
    return -1;
  }

  static bool is_mask(const TensorInfo &tensor) {
    return tensor.name == std::string("attention_mask");
  }
  static bool are_positions(const TensorInfo &tensor) {
    return tensor.name == std::string("position_ids");
  }
  static bool is_past(const TensorInfo &tensor) {
    return starts_with(tensor.name, "past");
  }

private:
  static bool starts_with(const std::string &text, const std::string &start) {
    return text.compare(0, start.size(), start) == 0;
  }
  static std::string text_of(const TensorInfo &tensor) {
    return "'" + std::string(tensor.name) + "' of shape " +
           shape_text({tensor.shape, tensor.shape + tensor.rank});
  }
  template <class Infos>
  static std::string text_of_all(const Infos &infos) {
    std::string all;
    for (const auto &info : infos)
      all += (all.empty() ? "" : ", ") + text_of(info.tensor);
    return all.empty() ? "none" : all;
  }

  // Returns the name without what distinguishes past and present, such as
  // '.0.key' of 'past_key_values.0.key' and 'present.0.key'.
  static std::string layer_of(const std::string &name) {
    for (const char *start :
         {"past_key_values", "past", "present_key_values", "present"})
      if (starts_with(name, start))
        return name.substr(std::string(start).size());
    return name;
  }
  const TensorInfo *find_present(const TensorInfo &past) const {
    for (const OutputInfo &output : program.outputs)
      if (starts_with(output.tensor.name, "present") &&
          layer_of(output.tensor.name) == layer_of(past.name))
        return &output.tensor;
    return nullptr;
  }
  static bool has_type_of(const TensorInfo &present, const TensorInfo &past) {
    const bool is_half = past.type == Type::F16 || past.type == Type::BF16;
    return present.type == past.type || (is_half && present.type == Type::F32);
  }
  std::vector<CachedTensor> find_cache() const {
    std::vector<CachedTensor> found;
    for (const InputInfo &input : program.inputs) {
      const TensorInfo &past = input.tensor;
      if (!is_past(past))
        continue;
      const TensorInfo *present = find_present(past);
      const bool fits =
          present && past.rank == 4 && present->rank == 4 &&
          has_type_of(*present, past) && past.shape[0] == program.batch_size &&
          present->shape[0] == past.shape[0] &&
          present->shape[1] == past.shape[1] &&
          present->shape[2] > past.shape[2] &&
          present->shape[3] == past.shape[3] &&
          (found.empty() || (past.shape[2] == found[0].past->shape[2] &&
                             present->shape[2] == found[0].present->shape[2]));
      if (!fits)
        throw Error(
            "the input " + text_of(past) +
            " has no output that fits: '--generate' expects one called "
            "'present' with the same ending and type, of shape [batch, heads, "
            "past + tokens, size] where the input's is [batch, heads, past, "
            "size] with as many past tokens in all layers; the model has " +
            (present ? text_of(*present) + " and type " +
                           numpy_name(present->type) +
                           ", where the input has type " + numpy_name(past.type)
                     : text_of_all(program.outputs)));
      found.push_back(
          {&past, present,
           input.placed_in >= 0 &&
               &program.outputs.data[input.placed_in].tensor == present});
    }
    return found;
  }

  // Whether the input has a number for each token that a step computes or, of
  // a mask, sees.
  bool has_places(const TensorInfo &tensor, int64_t tokens) const {
    const bool are_integers = tensor.type == Type::I64 ||
                              tensor.type == Type::I32 ||
                              (tensor.type == Type::Bool && is_mask(tensor));
    return are_integers && tensor.rank == 2 &&
           tensor.shape[0] == program.batch_size && tensor.shape[1] == tokens;
  }
  const TensorInfo &find_tokens() const {
    const TensorInfo *found = nullptr;
    for (const InputInfo &input : program.inputs) {
      const TensorInfo &tensor = input.tensor;
      const bool is_beside =
          is_mask(tensor) || are_positions(tensor) || is_past(tensor);
      if (!is_beside && tensor.rank == 2 && !found)
        found = &tensor;
      else if (!is_beside)
        refuse_inputs();
    }
    bool is_known = found && has_places(*found, found->shape[1]);
    bool has_mask = false, has_positions = false;
    for (const InputInfo &input : program.inputs) {
      const TensorInfo &tensor = input.tensor;
      if (!is_known || is_past(tensor))
        continue;
      is_known = has_places(
          tensor, found->shape[1] + (is_mask(tensor) ? cache_capacity() : 0));
      has_mask |= is_mask(tensor);
      has_positions |= are_positions(tensor);
    }
    if (!is_known)
      refuse_inputs();
    if (has_cache() && !(has_mask && has_positions))
      throw Error("'--generate' needs the inputs 'attention_mask' and "
                  "'position_ids' of a model with a cache, which tell which "
                  "past tokens are valid, but its inputs are " +
                  text_of_all(program.inputs));
    if (has_cache())
      check_length(*cache[0].present, cache_capacity() + found->shape[1],
                   *found);
    return *found;
  }
  void check_length(const TensorInfo &present, int64_t expected,
                    const TensorInfo &found_tokens) const {
    if (present.shape[2] != expected)
      throw Error("'--generate' expects the keys and values of " +
                  std::to_string(expected) + " tokens in the output " +
                  text_of(present) + ": those of the input " +
                  text_of(*cache[0].past) + ", and behind them those of " +
                  text_of(found_tokens) +
                  "; export a model whose 'present' outputs have both");
  }
  [[noreturn]] void refuse_inputs() const {
    throw Error(
        "'--generate' needs a model whose inputs are tokens, integers of shape "
        "[batch, tokens], and, if it has them, 'attention_mask' and "
        "'position_ids' of that shape" +
        std::string(has_cache() ? ", the mask with the past tokens before it"
                                : "") +
        ", but this one has " + text_of_all(program.inputs));
  }
  const TensorInfo &find_logits(const std::string &name) const {
    for (const OutputInfo &output : program.outputs) {
      const TensorInfo &tensor = output.tensor;
      const bool are_logits = tensor.rank == 3 && is_fraction(tensor.type) &&
                              tensor.shape[0] == program.batch_size &&
                              tensor.shape[1] == tokens.shape[1];
      if (are_logits && (name.empty() || name == tensor.name))
        return tensor;
    }
    throw Error("'--generate' needs an output of logits, of shape [batch, "
                "tokens, vocabulary]" +
                (name.empty() ? "" : " and named '" + name + "'") +
                ", but the model has " + text_of_all(program.outputs));
  }
};

} // namespace gpuopt
