// --generate: a language model continues prompts. The program computes the
// logits of a whole window for each token, as the graph has no cache of keys
// and values; a causal model does not see the places behind the last token,
// which may hold anything.
#pragma once

#include "gpuopt/device/wait_policy.h"
#include "gpuopt/predictor/prompts.h"
#include "gpuopt/predictor/sampling.h"
#include "gpuopt/predictor/settings.h"
#include "gpuopt/trainer/session.h"

namespace gpuopt {

class Generator {
public:
  Generator(const Program &program, const Settings &s, Session &session)
      : program(program), s(s), session(session),
        waiting(parse_wait_policy(s.wait_policy), session.ctx.num_threads),
        tokens(find_tokens()), logits(find_logits()), window(tokens.shape[1]),
        vocabulary(logits.shape[2]) {}

  // Returns what comes after each prompt. `is_interrupted` is asked before each
  // token.
  template <class IsInterrupted>
  std::vector<Tokens> run(const std::vector<Tokens> &prompts,
                          IsInterrupted is_interrupted) {
    std::vector<Tokens> generated(prompts.size());
    const auto batch = size_t(program.batch_size);
    for (size_t first = 0; first < prompts.size(); first += batch) {
      const size_t last = std::min(first + batch, prompts.size());
      std::vector<Tokens> texts(prompts.begin() + ptrdiff_t(first),
                                prompts.begin() + ptrdiff_t(last));
      for (int64_t done = 0; done < s.generate; done++) {
        if (is_interrupted())
          throw Error("interrupted after " + std::to_string(first) + " of " +
                      std::to_string(prompts.size()) +
                      " prompts; no results are written");
        if (!add_token(texts, generated, first))
          break;
      }
    }
    return generated;
  }

  // Returns the number of tokens that the model knows.
  int64_t vocabulary_size() const { return vocabulary; }

private:
  using Clock = std::chrono::steady_clock;

  static std::string text_of(const TensorInfo &tensor) {
    return "'" + std::string(tensor.name) + "' of shape " +
           shape_text({tensor.shape, tensor.shape + tensor.rank});
  }
  static bool is_mask(const TensorInfo &tensor) {
    return tensor.name == std::string("attention_mask");
  }
  static bool are_positions(const TensorInfo &tensor) {
    return tensor.name == std::string("position_ids");
  }
  // Whether the input has a number for each token.
  bool has_places(const TensorInfo &tensor) const {
    const bool are_integers = tensor.type == Type::I64 ||
                              tensor.type == Type::I32 ||
                              (tensor.type == Type::Bool && is_mask(tensor));
    return are_integers && tensor.rank == 2 &&
           tensor.shape[0] == program.batch_size;
  }
  // Returns the input of tokens. Others can be the mask and the positions that
  // transformers' models have.
  const TensorInfo &find_tokens() const {
    const TensorInfo *found = nullptr;
    bool is_known = true;
    std::string all;
    for (const InputInfo &input : program.inputs) {
      const TensorInfo &tensor = input.tensor;
      all += (all.empty() ? "" : ", ") + text_of(tensor);
      const bool is_beside = is_mask(tensor) || are_positions(tensor);
      is_known &= has_places(tensor) && (is_beside || !found);
      if (!is_beside)
        found = &tensor;
    }
    for (const InputInfo &input : program.inputs)
      is_known = is_known && found && input.tensor.shape[1] == found->shape[1];
    if (!found || !is_known)
      throw Error("'--generate' needs a model whose inputs are tokens, "
                  "integers of shape [batch, tokens], and, if it has them, "
                  "'attention_mask' and 'position_ids' of that shape, but this "
                  "one has " +
                  (all.empty() ? "none" : all));
    return *found;
  }
  const TensorInfo &find_logits() const {
    std::string all;
    for (const OutputInfo &output : program.outputs) {
      const TensorInfo &tensor = output.tensor;
      all += (all.empty() ? "" : ", ") + text_of(tensor);
      const bool are_logits = tensor.rank == 3 && is_fraction(tensor.type) &&
                              tensor.shape[0] == program.batch_size &&
                              tensor.shape[1] == tokens.shape[1];
      if (are_logits && (s.outputs.empty() || s.outputs == tensor.name))
        return tensor;
    }
    throw Error("'--generate' needs an output of logits, of shape [batch, "
                "tokens, vocabulary]" +
                (s.outputs.empty() ? "" : " and named '" + s.outputs + "'") +
                ", but the model has " + all);
  }

  // Returns how many tokens of a text the model sees: its end, of a text that
  // is longer than the window.
  int64_t seen(const Tokens &text) const {
    return std::min(int64_t(text.size()), window);
  }
  bool is_finished(const Tokens &generated) const {
    return s.eos_token_id >= 0 && !generated.empty() &&
           generated.back() == s.eos_token_id;
  }

  // Adds a token to each text that is not finished. Returns whether there was
  // one.
  bool add_token(std::vector<Tokens> &texts, std::vector<Tokens> &generated,
                 size_t first) {
    bool any = false;
    for (size_t i = 0; i < texts.size(); i++)
      any |= !is_finished(generated[first + i]);
    if (!any)
      return false;
    const auto start = Clock::now();
    write_inputs(texts);
    session.forward();
    session.refuse_outside(session.read_state(), "a step of the generation");
    if (const std::string news = waiting.step(
            std::chrono::duration<double, std::milli>(Clock::now() - start)
                .count());
        !news.empty())
      printf("%s\n", news.c_str());
    for (size_t i = 0; i < texts.size(); i++) {
      Tokens &added = generated[first + i];
      if (is_finished(added))
        continue;
      // A draw is a function of the prompt and of the token's place alone.
      const Draws draws(s.seed, uint64_t(added.size()), uint64_t(first + i));
      added.push_back(next_token(read_logits(int64_t(i), seen(texts[i]) - 1),
                                 {s.temperature, s.top_k}, draws));
      texts[i].push_back(added.back());
    }
    return true;
  }

  // The rows behind the last text are copies of it.
  void write_inputs(const std::vector<Tokens> &texts) {
    for (const InputInfo &input : program.inputs) {
      const TensorInfo &tensor = input.tensor;
      std::vector<int64_t> values(size_t(tensor.elements()), 0);
      for (int64_t row = 0; row < program.batch_size; row++) {
        const Tokens &text =
            texts[size_t(std::min(row, int64_t(texts.size()) - 1))];
        const int64_t begin = int64_t(text.size()) - seen(text);
        for (int64_t i = 0; i < window; i++)
          values[size_t(row * window + i)] = are_positions(tensor) ? i
                                             : i >= seen(text)     ? 0
                                             : is_mask(tensor)
                                                 ? 1
                                                 : text[size_t(begin + i)];
      }
      write(tensor, values);
    }
  }
  void write(const TensorInfo &tensor, const std::vector<int64_t> &values) {
    char *to = session.memory + tensor.offset;
    auto copy_as = [&](auto like) {
      const std::vector<decltype(like)> converted(values.begin(), values.end());
      copy_to_device(session.ctx, to, converted.data(), tensor.bytes);
    };
    if (tensor.type == Type::I64)
      copy_as(int64_t(0));
    else if (tensor.type == Type::I32)
      copy_as(int32_t(0));
    else
      copy_as(uint8_t(0)); // a mask of bool
  }

  std::vector<double> read_logits(int64_t row, int64_t place) {
    const size_t bytes = size_t(vocabulary) * size_of(logits.type);
    std::vector<uint8_t> raw(bytes);
    copy_to_host(session.ctx, raw.data(),
                 session.memory + logits.offset +
                     size_t(row * window + place) * bytes,
                 bytes);
    std::vector<double> numbers(static_cast<size_t>(vocabulary));
    for (int64_t i = 0; i < vocabulary; i++)
      numbers[size_t(i)] = detail::number_at(logits.type, raw.data(), i);
    return numbers;
  }

  const Program &program;
  const Settings &s;
  Session &session;
  StepWaiting waiting;
  const TensorInfo &tokens, &logits;
  const int64_t window, vocabulary;
};

} // namespace gpuopt
