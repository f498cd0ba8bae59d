// The predictor of a program that computes the forward alone: loads weights and
// data, and writes what the model's outputs are for each sample, or what a
// language model adds to each prompt.
#pragma once

#include "gpuopt/data/loader.h"
#include "gpuopt/data/sources.h"
#include "gpuopt/device/denormals.h"
#include "gpuopt/device/wait_policy.h"
#include "gpuopt/predictor/generator.h"
#include "gpuopt/predictor/result_files.h"
#include "gpuopt/predictor/result_folder.h"
#include "gpuopt/predictor/settings.h"
#include "gpuopt/trainer/session.h"

#include <algorithm>
#include <csignal>
#include <fstream>

namespace gpuopt {

namespace detail {
inline volatile std::sig_atomic_t prediction_interrupted = 0;
} // namespace detail

class Predictor {
public:
  Predictor(const Program &program, Settings settings)
      : program(program), s(std::move(settings)),
        outputs(s.generate > 0 ? std::vector<const TensorInfo *>()
                               : chosen_outputs()),
        session(program, int(kStagingIsDevice ? s.num_threads : 0)),
        waiting(parse_wait_policy(s.wait_policy), session.ctx.num_threads) {
    session.use_attention_library(s.attention_library);
    if (kStagingIsDevice)
      flush_denormals(session.ctx.num_threads, s.flush_denormals);
  }

  void run() {
    if (s.generate > 0)
      return generate();
    // Errors in the data are reported before anything is allocated.
    DataSources sources =
        SourceOpener(program.inputs, s.train, s.token_type, "--").open();
    names = names_of(sources);
    open_session();
    open_loader(std::move(sources));
    open_results();
    announce(loader->sample_count(), "samples");
    note_signals();
    const auto start = Clock::now();
    const int64_t rest = loader->sample_count() % program.batch_size;
    for (int64_t done = 0; done < loader->sample_count();
         done += program.batch_size) {
      if (detail::prediction_interrupted)
        throw Error("interrupted after " + std::to_string(done) + " of " +
                    std::to_string(loader->sample_count()) +
                    " samples; no results are written");
      predict(std::min(program.batch_size, loader->sample_count() - done),
              done);
      if (done == 0 && rest > 0)
        refuse_mixed(rest);
    }
    folder->remove_earlier();
    for (const auto &result : results)
      result->commit();
    folder->finish();
    tell_results(seconds_since(start));
  }

private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  static std::vector<int64_t> shape_of(const TensorInfo &tensor) {
    return {tensor.shape, tensor.shape + tensor.rank};
  }

  static void note_signals() {
    for (int signal : {SIGINT, SIGTERM})
      std::signal(signal, [](int) { detail::prediction_interrupted = 1; });
  }

  void generate() {
    Generator generator(program, s, session, waiting);
    const auto prompts = read_prompts(s.prompts, generator.vocabulary_size());
    generator.expect_capacity(prompts);
    open_session();
    folder = std::make_unique<ResultFolder>(s.output_dir);
    const std::string path = folder->add("generated.jsonl");
    announce(int64_t(prompts.size()), "prompts");
    note_signals();
    const auto start = Clock::now();
    const auto generated = generator.run(
        prompts, [] { return detail::prediction_interrupted != 0; });
    size_t tokens = 0;
    for (const Tokens &each : generated)
      tokens += each.size();
    folder->remove_earlier();
    write_generated(path, generated);
    folder->finish();
    printf("wrote %s: the tokens that follow %zu prompts\n%.1f tokens/s\n",
           path.c_str(), prompts.size(), double(tokens) / seconds_since(start));
  }

  // Returns the files of the first input that has some, and the names of
  // classes.
  PredictionNames names_of(const DataSources &sources) const {
    PredictionNames found;
    for (const auto &source : sources)
      if (found.files.empty())
        found.files = source->names();
    std::ifstream file(s.class_names);
    for (std::string line; std::getline(file, line);)
      found.classes.push_back(line);
    return found;
  }

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  std::string names_of_outputs() const {
    std::string names;
    for (const OutputInfo &output : program.outputs)
      names +=
          (names.empty() ? "'" : ", '") + std::string(output.tensor.name) + "'";
    return names;
  }
  const TensorInfo &find_output(const std::string &name) const {
    for (const OutputInfo &output : program.outputs)
      if (output.tensor.name == name)
        return output.tensor;
    throw Error("'--outputs' names '" + name +
                "', which is no output of the model; its outputs are " +
                names_of_outputs());
  }
  // Returns the outputs that --outputs asks for, in its order.
  std::vector<const TensorInfo *> chosen_outputs() const {
    std::vector<const TensorInfo *> chosen;
    if (s.outputs.empty()) {
      for (const OutputInfo &output : program.outputs)
        chosen.push_back(&output.tensor);
    } else {
      for (size_t begin = 0; begin <= s.outputs.size();) {
        const size_t end =
            std::min(s.outputs.find(',', begin), s.outputs.size());
        chosen.push_back(&find_output(s.outputs.substr(begin, end - begin)));
        begin = end + 1;
      }
    }
    if (s.top_k > 0) {
      const TensorInfo &classes = output_of_classes(chosen);
      if (s.top_k > classes.shape[1])
        printf("'--top-k' is %lld, but '%s' has %lld classes: all of them are "
               "written\n",
               static_cast<long long>(s.top_k), classes.name,
               static_cast<long long>(classes.shape[1]));
      return {&classes};
    }
    for (const TensorInfo *output : chosen)
      refuse_without_samples(*output);
    return chosen;
  }
  // A result that has nothing of each sample cannot be put together from
  // batches.
  void refuse_without_samples(const TensorInfo &output) const {
    if (output.rank == 0 || output.shape[0] != program.batch_size)
      throw Error("output '" + std::string(output.name) + "' has shape " +
                  shape_text(shape_of(output)) +
                  ", whose first dimension is not the batch of " +
                  std::to_string(program.batch_size) +
                  " samples; name the others by --outputs");
  }
  const TensorInfo &
  output_of_classes(const std::vector<const TensorInfo *> &chosen) const {
    const TensorInfo *found = nullptr;
    for (const TensorInfo *output : chosen) {
      if (output->rank != 2 || output->shape[0] != program.batch_size)
        continue;
      if (found)
        throw Error("'--top-k' needs one output, but '" +
                    std::string(found->name) + "' and '" + output->name +
                    "' both have classes for each sample; name one by "
                    "--outputs");
      found = output;
    }
    if (!found)
      throw Error("'--top-k' needs an output of shape [samples, classes], but "
                  "there is none among " +
                  names_of_outputs());
    return *found;
  }

  void open_results() {
    folder = std::make_unique<ResultFolder>(s.output_dir);
    const bool lists_samples = s.top_k == 0 && !names.files.empty();
    std::set<std::string> taken;
    if (lists_samples)
      taken.insert("samples");
    for (const TensorInfo *output : outputs) {
      const std::string name = file_name_of(output->name, taken);
      if (s.top_k > 0)
        results.push_back(std::make_unique<TopClassesFile>(
            folder->add(name + ".jsonl"), *output, s.top_k, names));
      else
        results.push_back(std::make_unique<ArrayFile>(
            folder->add(name + ".npy"), *output, loader->sample_count()));
      batch.resize(std::max(batch.size(), output->bytes));
    }
    if (lists_samples)
      results.push_back(
          std::make_unique<SamplesFile>(folder->add("samples.jsonl"), names));
  }

  //===--------------------------------------------------------------------===//
  // Batches
  //===--------------------------------------------------------------------===//

  void open_session() {
    session.allocate();
    if (s.autotune)
      session.use_autotune_record(s.autotune_file, executable_folder());
    session.load_weights(s.weights.empty() ? program_file(kModelFile)
                                           : s.weights);
    if (session.has_constants())
      session.load_constants(s.constants.empty() ? program_file(kConstantsFile)
                                                 : s.constants);
    session.begin_run(s, /*steps=*/0, RunState(), /*lr_factor=*/1);
  }
  void open_loader(DataSources sources) {
    const int64_t samples = sources.empty() ? 0 : sources[0]->samples();
    LoaderOptions options;
    options.pads_last = true;
    options.batch_size = program.batch_size;
    options.shuffle = false;
    options.num_workers =
        s.num_workers == kAuto ? kAutoWorkers : int(s.num_workers);
    options.prefetch_factor = int(s.prefetch_factor);
    options.last_batch =
        (samples + program.batch_size - 1) / program.batch_size;
    DeviceMemory staging;
    if (const StateInfo *state = find_state(program, StateKind::Staging))
      staging = {session.memory + state->tensor.offset, state->tensor.bytes};
    loader = std::make_unique<Loader>(session.ctx, program, std::move(sources),
                                      options, staging);
  }

  // Predicts the next batch, of which `samples` count; `done` come before it.
  void predict(int64_t samples, int64_t done) {
    const auto start = Clock::now();
    const double waited = loader->deliver(session.memory);
    session.forward();
    loader->prefetch();
    session.refuse_outside(session.read_state(),
                           "the batch of sample " + std::to_string(done));
    const std::string news = waiting.step(seconds_since(start) * 1e3 - waited);
    for (const std::string &each : {news, loader->take_news()})
      if (!each.empty())
        printf("%s\n", each.c_str());
    for (const auto &result : results) {
      if (result->output) {
        read_output(*result->output, batch);
        result->not_finite.look(batch.data(), samples);
      }
      result->append(batch.data(), samples);
    }
  }

  void read_output(const TensorInfo &output, std::vector<uint8_t> &bytes) {
    copy_to_host(session.ctx, bytes.data(), session.memory + output.offset,
                 output.bytes);
  }

  // The last batch will have `rest` samples, filled up with copies of its last
  // one. Throws if the results depend on what fills it. To find out, the first
  // `rest` samples of the present batch are computed with copies of the last of
  // them, and again with copies of the first. A single sample is both, so it is
  // computed with copies of itself, and again with zeros.
  void refuse_mixed(int64_t rest) {
    const std::vector<std::vector<uint8_t>> rows = with_copies(rest, rest - 1);
    const auto others = with_copies(rest, rest > 1 ? 0 : -1);
    for (size_t i = 0; i < outputs.size(); i++)
      if (rows[i] != others[i])
        throw Error(
            "output '" + std::string(outputs[i]->name) +
            "' of a sample depends on the other samples of its batch, but of " +
            std::to_string(loader->sample_count()) +
            " samples the last batch has " + std::to_string(rest) + " of " +
            std::to_string(program.batch_size) +
            "; give as many samples as fill batches, or compile the model for "
            "a batch size that divides their number" +
            (program.outputs.count > 1
                 ? ", or name outputs of which each sample has its own by "
                   "--outputs"
                 : ""));
  }

  // Computes a batch with copies of one of its samples behind the first `rest`,
  // or with zeros if that is -1. Returns the results of these, of each output.
  std::vector<std::vector<uint8_t>> with_copies(int64_t rest, int64_t copied) {
    for (size_t i = 0; i < size_t(program.inputs.count); i++) {
      const TensorInfo &input = program.inputs.data[i].tensor;
      char *const first = session.memory + input.offset;
      const size_t bytes = bytes_of(input, 1);
      for (int64_t to = rest; to < program.batch_size; to++)
        if (copied < 0)
          set_zero(session.ctx, first + size_t(to) * bytes, bytes);
        else
          copy(session.ctx, first + size_t(to) * bytes,
               first + size_t(copied) * bytes, bytes);
    }
    session.forward();
    std::vector<std::vector<uint8_t>> rows;
    for (const TensorInfo *output : outputs) {
      read_output(*output, batch);
      rows.emplace_back(batch.begin(),
                        batch.begin() + ptrdiff_t(bytes_of(*output, rest)));
    }
    return rows;
  }

  // Returns the bytes of the first samples of a tensor's batch.
  size_t bytes_of(const TensorInfo &tensor, int64_t samples) const {
    return tensor.bytes / size_t(program.batch_size) * size_t(samples);
  }

  bool keeps_fp16() const {
    const StateInfo *states = program.states.data;
    return std::any_of(
        states, states + program.states.count,
        [](const StateInfo &state) { return state.tensor.type == Type::F16; });
  }

  void announce(int64_t count, const char *what) const {
    printf("%s: %s allocated, %lld %s in batches of %lld, %d threads\n",
           program.name,
           human_bytes(double(session.ctx.allocated_bytes)).c_str(),
           static_cast<long long>(count), what,
           static_cast<long long>(program.batch_size), session.ctx.num_threads);
    fflush(stdout);
  }
  void tell_results(double seconds) const {
    for (const auto &result : results)
      printf("wrote %s\n", result->describe().c_str());
    printf("%.0f samples/s\n", double(loader->sample_count()) / seconds);
    fflush(stdout); // before the warnings
    for (const auto &result : results)
      if (const std::string what =
              result->not_finite.describe(names.files, keeps_fp16());
          !what.empty())
        fprintf(stderr, "%s: warning: %s\n", program.name, what.c_str());
  }

  const Program &program;
  const Settings s;
  const std::vector<const TensorInfo *> outputs; // those that are written
  Session session;
  StepWaiting waiting;
  std::unique_ptr<ResultFolder> folder;
  PredictionNames names;
  std::unique_ptr<Loader> loader;
  std::vector<std::unique_ptr<ResultFile>> results;
  std::vector<uint8_t> batch; // of one output, on the host
};

// The main function of an emitted program. Returns the exit status.
inline int predictor_main(int argc, char **argv, const Program &program) {
  // What is written beyond the limit of `ulimit -f` is an error, as on a full
  // disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    Settings settings = parse_prediction(argc, argv, program);
    detail::keep_quiet(settings);
    Predictor(program, std::move(settings)).run();
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "%s: error: %s\n", program.name, error_text(error));
    return 1;
  }
}

} // namespace gpuopt
