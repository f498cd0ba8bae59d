// The trainer around a program: flags, weights, data, the loop, what it writes.
#pragma once

#include "gpuopt/flags.h"
#include "gpuopt/loader.h"
#include "gpuopt/safetensors.h"

#include <csignal>
#include <cmath>
#include <filesystem>

namespace gpuopt {

namespace detail {

inline volatile std::sig_atomic_t interrupted = 0;

struct DataFlags {
  std::map<std::string, std::string> files; // by input
  std::string labels, tokens;
};

struct Settings {
  DataFlags train, eval;
  std::string token_type = "uint16", output_dir = "trained", weights, schedule;
  int64_t max_steps = -1, logging_steps = 1, eval_steps = 0, save_steps = 0;
  int64_t num_threads = 0, num_workers = 2, prefetch_factor = 2, seed = 0;
  double epochs = 0, warmup_ratio = 0;
  bool shuffle = true;
  Hyperparameters hyper;
};

inline void add_pair(std::map<std::string, std::string> &files, DataFlags &data,
                     const std::string &flag, const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw Error("'" + flag + "' needs INPUT=FILE, but got '" + text + "'");
  const std::string name = text.substr(0, equals), file = text.substr(equals + 1);
  files[name] = file;
  if (name == "labels" && data.labels.empty())
    data.labels = file;
}

inline Settings parse_settings(int argc, char **argv, const Program &program) {
  Settings s;
  s.hyper = program.defaults;
  s.max_steps = program.defaults.max_steps;
  s.epochs = program.num_train_epochs;
  s.warmup_ratio = program.warmup_ratio;
  s.seed = int64_t(program.seed);
  Flags flags;
  flags.value("data", "INPUT=FILE.npy, once for each input", [&](const std::string &text) { add_pair(s.train.files, s.train, "--data", text); });
  flags.value("eval-data", "the same for validation", [&](const std::string &text) { add_pair(s.eval.files, s.eval, "--eval-data", text); });
  flags.text("labels", "FILE.npy", s.train.labels);
  flags.text("eval-labels", "FILE.npy", s.eval.labels);
  flags.text("tokens", "token file; the label is the next token", s.train.tokens);
  flags.text("eval-tokens", "token file for validation", s.eval.tokens);
  flags.text("token-type", "uint8, uint16 or uint32 for files without header (uint16)", s.token_type);
  flags.text("output-dir", "where weights and metrics go (trained)", s.output_dir);
  flags.text("weights", "model.safetensors to start from", s.weights);
  flags.integer("max-steps", "steps to attempt", s.max_steps);
  flags.number("num-train-epochs", "passes over the data where --max-steps is not given", s.epochs);
  flags.integer("logging-steps", "steps between lines on the terminal (1)", s.logging_steps);
  flags.integer("eval-steps", "steps between validations (0: at the end)", s.eval_steps);
  flags.integer("save-steps", "steps between saves (0: at the end)", s.save_steps);
  flags.integer("num-threads", "threads of the host target (0: all)", s.num_threads);
  flags.integer("num-workers", "threads that prepare batches (2)", s.num_workers);
  flags.integer("prefetch-factor", "batches ahead, for each of them (2)", s.prefetch_factor);
  flags.integer("seed", "of order and dropout", s.seed);
  flags.toggle("shuffle", "samples in random order (on)", s.shuffle);
  flags.number("learning-rate", "", s.hyper.learning_rate);
  flags.text("lr-scheduler-type", "linear, cosine, constant or constant_with_warmup", s.schedule);
  flags.integer("warmup-steps", "steps of linear warm-up", s.hyper.warmup_steps);
  flags.number("warmup-ratio", "the same as a share of all steps", s.warmup_ratio);
  flags.number("weight-decay", "", s.hyper.weight_decay);
  flags.number("adam-beta1", "", s.hyper.beta1);
  flags.number("adam-beta2", "", s.hyper.beta2);
  flags.number("adam-epsilon", "", s.hyper.epsilon);
  flags.number("momentum", "", s.hyper.momentum);
  flags.number("max-grad-norm", "0: no clipping", s.hyper.max_grad_norm);
  flags.parse_all(argc, argv);
  if (s.num_workers < 1 || s.prefetch_factor < 1)
    throw Error("'--num-workers' and '--prefetch-factor' must be at least 1");
  if (!s.schedule.empty()) {
    constexpr const char *names[] = {"linear", "cosine", "constant", "constant_with_warmup"};
    s.hyper.schedule = -1;
    for (int64_t i = 0; i < 4; i++)
      if (s.schedule == names[i])
        s.hyper.schedule = i;
    if (s.hyper.schedule < 0)
      throw Error("'--lr-scheduler-type' must be linear, cosine, constant or constant_with_warmup, but is '" + s.schedule + "'");
  }
  return s;
}

inline Type token_type_of(const std::string &name) {
  if (name == "uint8")
    return Type::U8;
  if (name == "uint16")
    return Type::U16;
  if (name == "uint32")
    return Type::U32;
  throw Error("'--token-type' must be uint8, uint16 or uint32, but is '" + name + "'");
}

inline Loader::Sources open_sources(const Program &program, const DataFlags &data, const std::string &token_type, const std::string &prefix) {
  Loader::Sources sources;
  std::shared_ptr<TokenFile> tokens;
  if (!data.tokens.empty())
    tokens = std::make_shared<TokenFile>(data.tokens, token_type_of(token_type));
  for (const InputInfo &input : program.inputs) {
    const TensorInfo &tensor = input.tensor;
    const auto file = data.files.find(tensor.name);
    if (tokens && tensor.rank == 2 && (input.is_label || tensor.type == Type::I64)) {
      sources.push_back(std::make_unique<TokenSource>(tokens, tensor.shape[1], input.is_label));
    } else {
      const std::string path = input.is_label ? data.labels : file == data.files.end() ? "" : file->second;
      if (path.empty())
        throw Error(input.is_label ? "the labels are missing: " + prefix + "labels FILE.npy"
                                   : "input '" + std::string(tensor.name) + "' is missing: " + prefix + "data " + tensor.name + "=FILE.npy");
      sources.push_back(std::make_unique<NpySource>(path, tensor));
    }
    const Source &source = *sources.back();
    if (!can_cast(source.type, tensor.type))
      throw Error("'" + source.path + "' holds " + name_of(source.type) + ", but '" + tensor.name + "' needs " + name_of(tensor.type));
  }
  for (const auto &[name, path] : data.files) {
    bool known = name == "labels";
    for (const InputInfo &input : program.inputs)
      known |= name == input.tensor.name;
    if (!known)
      throw Error("'" + prefix + "data " + name + "=...' names no input of the model");
  }
  return sources;
}

class Trainer {
public:
  Trainer(const Program &program, Settings settings)
      : program(program), s(std::move(settings)), ctx(int(kStagingIsDevice ? s.num_threads : 0)) {}

  void run() {
    if (!program.micro_step)
      throw Error("this program computes the forward alone (--inference); call it through step.h");
    LoaderOptions options;
    options.batch_size = program.batch_size;
    options.shuffle = s.shuffle;
    options.seed = uint64_t(s.seed);
    options.num_workers = int(s.num_workers);
    options.prefetch_factor = int(s.prefetch_factor);
    Loader::Sources sources = open_sources(program, s.train, s.token_type, "--");
    const bool evaluates = !s.eval.files.empty() || !s.eval.tokens.empty();
    Loader::Sources eval_sources;
    if (evaluates)
      eval_sources = open_sources(program, s.eval, s.token_type, "--eval-");
    memory = ctx.allocate(program.total_bytes);
    Loader loader(ctx, program, std::move(sources), options);
    std::unique_ptr<Loader> eval_loader;
    if (evaluates) {
      options.shuffle = false;
      eval_loader = std::make_unique<Loader>(ctx, program, std::move(eval_sources), options);
    }
    const int64_t per_epoch = std::max<int64_t>(loader.batches_per_epoch() / program.accumulation_steps, 1);
    const int64_t steps = s.max_steps > 0 ? s.max_steps : int64_t(std::ceil(s.epochs * double(per_epoch)));
    initialize(steps);
    std::filesystem::create_directories(s.output_dir);
    metrics = fopen((s.output_dir + "/metrics.jsonl").c_str(), "w");
    if (!metrics)
      throw Error("cannot write '" + s.output_dir + "/metrics.jsonl': " + strerror(errno));
    printf("%s: %s allocated, %lld steps of %lld x %lld samples, %d threads\n", program.name,
           human_bytes(double(ctx.allocated_bytes)).c_str(), (long long)steps, (long long)program.accumulation_steps,
           (long long)program.batch_size, ctx.num_threads);
    std::signal(SIGINT, [](int) { interrupted = 1; });
    start = std::chrono::steady_clock::now();
    int64_t step = 0;
    while (step < steps && !interrupted) {
      train_step(loader, step++, steps);
      if (eval_loader && s.eval_steps > 0 && step % s.eval_steps == 0 && step < steps)
        validate(*eval_loader, step);
      if (s.save_steps > 0 && step % s.save_steps == 0 && step < steps)
        save();
    }
    if (eval_loader && !interrupted)
      validate(*eval_loader, step);
    save();
    fclose(metrics);
    printf("weights: %s/model.safetensors\n", s.output_dir.c_str());
  }

private:
  template <class T>
  T *find(StateKind kind) {
    return reinterpret_cast<T *>(memory + find_state(program, kind)->tensor.offset);
  }

  // The folder of model.safetensors: the executable's, or the one above.
  static std::string program_file(const std::string &name) {
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const auto &folder : {self, self.parent_path()})
      if (std::filesystem::exists(folder / name))
        return (folder / name).string();
    throw Error("'" + name + "' lies neither beside the trainer nor in the folder above it; name the weights by --weights");
  }

  void initialize(int64_t steps) {
    const std::string weights = s.weights.empty() ? program_file("model.safetensors") : s.weights;
    load(weights, false);
    if (find_state(program, StateKind::Constant)) {
      const auto beside = std::filesystem::path(weights).parent_path() / "constants.safetensors";
      load(std::filesystem::exists(beside) ? beside.string() : program_file("constants.safetensors"), true);
    }
    if (s.hyper.warmup_steps == 0 && s.warmup_ratio > 0)
      s.hyper.warmup_steps = int64_t(std::ceil(s.warmup_ratio * double(steps)));
    s.hyper.max_steps = steps;
    StepState initial;
    initial.seed = uint64_t(s.seed);
    copy_to_device(ctx, find<StepState>(StateKind::StepState), &initial, sizeof initial);
    copy_to_device(ctx, find<Hyperparameters>(StateKind::Hyperparameters), &s.hyper, sizeof s.hyper);
  }

  static bool is_saved(StateKind kind) {
    return kind == StateKind::Parameter || kind == StateKind::Frozen || kind == StateKind::Buffer;
  }

  void load(const std::string &path, bool constants) {
    const MappedFile file(path);
    const auto tensors = read_safetensors(file);
    for (const StateInfo &state : program.states) {
      if (constants ? state.kind != StateKind::Constant : !is_saved(state.kind))
        continue;
      const std::string name = state.saved_as[0] ? state.saved_as[0] : state.tensor.name;
      const auto found = tensors.find(name);
      if (found == tensors.end())
        throw Error("'" + path + "' lacks '" + name + "'");
      const std::vector<int64_t> shape(state.tensor.shape, state.tensor.shape + state.tensor.rank);
      if (found->second.shape != shape || found->second.dtype != safetensors_name(state.tensor.type))
        throw Error("'" + path + "' has '" + name + "' as " + found->second.dtype + " " + shape_text(found->second.shape) +
                    ", but the program needs " + safetensors_name(state.tensor.type) + " " + shape_text(shape));
      copy_to_device(ctx, memory + state.tensor.offset, found->second.data, state.tensor.bytes);
    }
  }

  void save() {
    std::vector<std::vector<char>> copies;
    std::vector<TensorToSave> tensors;
    for (const StateInfo &state : program.states) {
      if (!is_saved(state.kind))
        continue;
      copies.emplace_back(state.tensor.bytes);
      copy_to_host(ctx, copies.back().data(), memory + state.tensor.offset, state.tensor.bytes);
      const std::vector<int64_t> shape(state.tensor.shape, state.tensor.shape + state.tensor.rank);
      for (int i = 0; i < kMaxNames && (i == 0 || state.saved_as[i]); i++)
        tensors.push_back({state.saved_as[i] ? state.saved_as[i] : state.tensor.name, state.tensor.type, shape, copies.back().data(), state.tensor.bytes});
    }
    write_safetensors(s.output_dir + "/model.safetensors", tensors);
  }

  void train_step(Loader &loader, int64_t step, int64_t steps) {
    const auto begin = std::chrono::steady_clock::now();
    double waited = 0;
    for (int64_t micro = 0; micro < program.accumulation_steps; micro++) {
      waited += loader.deliver(memory);
      micro_replay.run(ctx, [&] { program.micro_step(ctx, memory); });
    }
    update_replay.run(ctx, [&] { program.update(ctx, memory); });
    StepState state;
    copy_to_host(ctx, &state, find<StepState>(StateKind::StepState), sizeof state);
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - begin).count();
    const double loss = state.weight_sum > 0 ? state.loss_sum / state.weight_sum : 0;
    fprintf(metrics, "{\"step\": %lld, \"loss\": %s, \"learning_rate\": %.9g, \"grad_norm\": %s, \"step_ms\": %.3f, \"data_wait_ms\": %.3f, \"allocated_bytes\": %zu}\n",
            (long long)(step + 1), json_number(loss).c_str(), state.learning_rate, json_number(state.grad_norm).c_str(), ms, waited, ctx.allocated_bytes);
    if (s.logging_steps > 0 && ((step + 1) % s.logging_steps == 0 || step + 1 == steps))
      print_progress(step + 1, steps, loss, ms, now);
  }

  // JSON has no NaN and no infinity.
  static std::string json_number(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return std::isfinite(value) ? text : "null";
  }

  void print_progress(int64_t step, int64_t steps, double loss, double ms, std::chrono::steady_clock::time_point now) {
    const double elapsed = std::chrono::duration<double>(now - start).count();
    const int64_t left = int64_t(elapsed / double(step) * double(steps - step));
    const double each = double(program.tokens_per_batch ? program.tokens_per_batch : program.batch_size) * double(program.accumulation_steps);
    printf("step %lld/%lld  loss %.4f  %.0f %s/s  %.1f ms  %lld:%02lld left\n", (long long)step, (long long)steps, loss,
           each * double(step) / elapsed, program.tokens_per_batch ? "tokens" : "samples", ms, (long long)(left / 60), (long long)(left % 60));
    fflush(stdout);
  }

  void validate(Loader &loader, int64_t step) {
    StepState state;
    StepState *const on_device = find<StepState>(StateKind::StepState);
    copy_to_host(ctx, &state, on_device, sizeof state);
    state.evaluation_loss_sum = state.evaluation_weight_sum = 0;
    copy_to_device(ctx, on_device, &state, sizeof state);
    for (int64_t batch = 0; batch < loader.batches_per_epoch(); batch++) {
      loader.deliver(memory);
      program.evaluate(ctx, memory);
    }
    copy_to_host(ctx, &state, on_device, sizeof state);
    const double loss = state.evaluation_weight_sum > 0 ? state.evaluation_loss_sum / state.evaluation_weight_sum : 0;
    fprintf(metrics, "{\"step\": %lld, \"eval_loss\": %s}\n", (long long)step, json_number(loss).c_str());
    printf("step %lld  validation loss %.4f\n", (long long)step, loss);
    fflush(stdout);
  }

  const Program &program;
  Settings s;
  Context ctx;
  char *memory = nullptr;
  FILE *metrics = nullptr;
  Replay micro_replay, update_replay;
  std::chrono::steady_clock::time_point start;
};

} // namespace detail

// The main function of an emitted program; returns the exit status.
inline int trainer_main(int argc, char **argv, const Program &program) {
  try {
    detail::Trainer(program, detail::parse_settings(argc, argv, program)).run();
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "%s: error: %s\n", program.name, error.what());
    return 1;
  }
}

} // namespace gpuopt
