// --generate: a language model continues prompts. Where its graph has inputs
// and outputs for a cache of keys and values, a step computes only the new
// tokens. Any other program computes the logits of a whole window for each
// token; a causal model does not see the places behind the last token, which
// may hold anything.
#pragma once

#include "gpuopt/data/convert.h"
#include "gpuopt/device/wait_policy.h"
#include "gpuopt/predictor/language_model.h"
#include "gpuopt/predictor/prompts.h"
#include "gpuopt/predictor/sampling.h"
#include "gpuopt/predictor/settings.h"
#include "gpuopt/trainer/session.h"

namespace gpuopt {

class Generator {
public:
  Generator(const Program &program, const Settings &s, Session &session,
            StepWaiting &waiting)
      : program(program), s(s), session(session), waiting(waiting),
        model(program, s.outputs) {}

  // Returns what comes after each prompt. `is_interrupted` is asked before each
  // step.
  template <class IsInterrupted>
  std::vector<Tokens> run(const std::vector<Tokens> &prompts,
                          IsInterrupted is_interrupted) {
    std::vector<Tokens> generated;
    for (size_t first = 0; first < prompts.size();
         first += size_t(program.batch_size)) {
      begin(prompts, first);
      while (!all_done()) {
        if (is_interrupted())
          throw Error("interrupted after " + std::to_string(first) + " of " +
                      std::to_string(prompts.size()) +
                      " prompts; no results are written");
        step();
      }
      for (Row &row : rows)
        generated.push_back(std::move(row.generated));
    }
    return generated;
  }

  // Checks that each prompt and what shall follow it fit into the cache.
  void expect_capacity(const std::vector<Tokens> &prompts) const {
    if (!model.has_cache())
      return;
    for (size_t i = 0; i < prompts.size(); i++) {
      // The last token that is generated is not read.
      const int64_t last = int64_t(prompts[i].size()) + s.generate - 1;
      const std::string lengths = "prompt " + std::to_string(i) + " has " +
                                  std::to_string(prompts[i].size()) +
                                  " tokens and " + std::to_string(s.generate) +
                                  " are to follow, but the model has ";
      if (last > model.cache_capacity() + 1)
        throw Error(lengths + "a cache for the keys and values of " +
                    std::to_string(model.cache_capacity()) +
                    " tokens; compile it with more past tokens");
      if (model.position_limit() >= 0 && last > model.position_limit())
        throw Error(lengths + std::to_string(model.position_limit()) +
                    " positions");
    }
  }

  // Returns the number of tokens that the model knows.
  int64_t vocabulary_size() const { return model.vocabulary(); }

private:
  using Clock = std::chrono::steady_clock;

  // A prompt and what has been added to it.
  struct Row {
    uint64_t number; // of the prompt
    Tokens text, generated;
    int64_t cached = 0; // tokens of the text whose keys and values are kept
  };
  // The part of a row's text that a step computes, at the beginning of its
  // places. What stands in those behind it has no influence.
  struct Span {
    int64_t begin, count;
  };

  void begin(const std::vector<Tokens> &prompts, size_t first) {
    rows.clear();
    for (size_t i = first;
         i < prompts.size() && i - first < size_t(program.batch_size); i++)
      rows.push_back({uint64_t(i), prompts[i], {}});
    for (const CachedTensor &cached : model.cache) {
      const TensorInfo &tensor =
          model.has_cache_in_place() ? *cached.present : *cached.past;
      set_zero(session.ctx, session.memory + tensor.offset, tensor.bytes);
    }
  }

  bool is_done(const Row &row) const {
    return int64_t(row.generated.size()) >= s.generate ||
           (s.eos_token_id >= 0 && !row.generated.empty() &&
            row.generated.back() == s.eos_token_id);
  }
  bool all_done() const {
    return std::all_of(rows.begin(), rows.end(),
                       [&](const Row &row) { return is_done(row); });
  }
  // Returns what a step computes of a row. Without a cache this is the end of
  // the text. A row that is done computes its last token again.
  Span span_of(const Row &row) const {
    const auto length = int64_t(row.text.size());
    const int64_t begin =
        model.has_cache()
            ? std::min(row.cached, length - 1)
            : std::max<int64_t>(0, length - model.tokens_per_step());
    return {begin, std::min(length - begin, model.tokens_per_step())};
  }

  void step() {
    const auto start = Clock::now();
    write_inputs();
    if (model.has_cache_in_place())
      session.forward_in_place();
    else
      session.forward();
    session.refuse_outside(session.read_state(), "a step of the generation");
    if (const std::string news = waiting.step(
            std::chrono::duration<double, std::milli>(Clock::now() - start)
                .count());
        !news.empty())
      printf("%s\n", news.c_str());
    for (size_t i = 0; i < rows.size(); i++) {
      Row &row = rows[i];
      if (is_done(row))
        continue;
      const Span span = span_of(row);
      if (model.has_cache())
        keep(int64_t(i), span.count);
      if (span.begin + span.count == int64_t(row.text.size()))
        add_token(row, read_logits(int64_t(i), span.count - 1));
    }
  }
  void add_token(Row &row, const std::vector<double> &logits) {
    // A draw is a function of the prompt and of the token's place alone.
    const Draws draws(s.seed, uint64_t(row.generated.size()), row.number);
    row.generated.push_back(
        next_token(logits, {s.temperature, s.top_k}, draws));
    row.text.push_back(row.generated.back());
  }
  // Keeps the keys and values of the first `count` tokens of a row's span: they
  // become the last of the past ones, and those that were there move towards
  // the front. What lies before the row's tokens is masked, and stays.
  void keep(int64_t index, int64_t count) {
    int64_t &cached = rows[size_t(index)].cached;
    const int64_t capacity = model.cache_capacity();
    const int64_t kept = std::min(cached + count, capacity);
    for (const CachedTensor &tensors : model.cache) {
      if (tensors.is_rounded()) {
        keep_rounded(tensors, index, count, kept);
        continue;
      }
      const size_t heads = size_t(tensors.past->shape[1]);
      const size_t per_token =
          size_t(tensors.past->shape[3]) * size_of(tensors.past->type);
      const size_t to = size_t(capacity) * per_token;
      const size_t from =
          size_t(capacity + model.tokens_per_step()) * per_token;
      const size_t bytes = size_t(kept) * per_token;
      char *past =
          session.memory + tensors.past->offset + size_t(index) * heads * to;
      char *present = session.memory + tensors.present->offset +
                      size_t(index) * heads * from;
      const size_t end = size_t(capacity + count) * per_token;
      if (model.has_cache_in_place())
        move_in_rows(session.ctx, present, from, to - bytes, end - bytes, bytes,
                     heads, past);
      else
        copy_rows(session.ctx, past + (to - bytes), to, present + end - bytes,
                  from, bytes, heads);
    }
    cached += count;
  }

  // As `keep`, where the past ones are in half precision and the present ones
  // are not. What lies before the row's tokens becomes 0.
  void keep_rounded(const CachedTensor &tensors, int64_t index, int64_t count,
                    int64_t kept) {
    const TensorInfo &past = *tensors.past, &present = *tensors.present;
    const auto heads = size_t(past.shape[1]), size = size_t(past.shape[3]),
               to = size_t(past.shape[2]) * size,
               from = size_t(present.shape[2]) * size,
               moved = size_t(kept) * size,
               end = size_t(model.cache_capacity() + count) * size,
               narrow = size_of(past.type), wide = size_of(present.type);
    std::vector<char> computed(heads * from * wide),
        rounded(heads * to * narrow);
    copy_to_host(session.ctx, computed.data(),
                 session.memory + present.offset +
                     size_t(index) * computed.size(),
                 computed.size());
    for (size_t head = 0; head < heads; head++)
      convert_elements(
          present.type, computed.data() + (head * from + end - moved) * wide,
          past.type, rounded.data() + (head * to + to - moved) * narrow, moved);
    copy_to_device(session.ctx,
                   session.memory + past.offset +
                       size_t(index) * rounded.size(),
                   rounded.data(), rounded.size());
  }

  // The rows behind the last text are copies of it.
  void write_inputs() {
    for (const InputInfo &input : program.inputs) {
      const TensorInfo &tensor = input.tensor;
      if (LanguageModel::is_past(tensor))
        continue;
      std::vector<int64_t> values;
      for (int64_t i = 0; i < program.batch_size; i++)
        add_values(tensor, rows[size_t(std::min(i, int64_t(rows.size()) - 1))],
                   values);
      write(tensor, values);
    }
  }
  // Adds what an input has of one row.
  void add_values(const TensorInfo &tensor, const Row &row,
                  std::vector<int64_t> &values) const {
    const Span span = span_of(row);
    if (LanguageModel::is_mask(tensor))
      for (int64_t i = 0; i < model.cache_capacity(); i++)
        values.push_back(i >= model.cache_capacity() - row.cached);
    for (int64_t i = 0; i < model.tokens_per_step(); i++) {
      const bool is_inside = i < span.count;
      if (LanguageModel::is_mask(tensor))
        values.push_back(is_inside);
      else if (!LanguageModel::are_positions(tensor))
        values.push_back(is_inside ? row.text[size_t(span.begin + i)] : 0);
      else if (model.has_cache())
        values.push_back(is_inside ? span.begin + i : 0);
      else
        values.push_back(i);
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
    const TensorInfo &logits = model.logits;
    const size_t bytes = size_t(model.vocabulary()) * size_of(logits.type);
    std::vector<uint8_t> raw(bytes);
    copy_to_host(session.ctx, raw.data(),
                 session.memory + logits.offset +
                     size_t(row * model.tokens_per_step() + place) * bytes,
                 bytes);
    std::vector<double> numbers(static_cast<size_t>(model.vocabulary()));
    for (int64_t i = 0; i < model.vocabulary(); i++)
      numbers[size_t(i)] = detail::number_at(logits.type, raw.data(), i);
    return numbers;
  }

  const Program &program;
  const Settings &s;
  Session &session;
  StepWaiting &waiting;
  const LanguageModel model;
  std::vector<Row> rows; // of the batch
};

} // namespace gpuopt
