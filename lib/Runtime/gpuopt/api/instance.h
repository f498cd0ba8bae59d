// A gpuopt_program is a session of the program whose steps a caller asks for,
// in place of the trainer's loop.
#pragma once

#include "gpuopt/api/tensors.h"
#include "gpuopt/data/indices.h"
#include "gpuopt/device/wait_policy.h"
#include "gpuopt/trainer/checkpoints/checkpoint_writer.h"
#include "gpuopt/trainer/session.h"
#include "gpuopt/trainer/settings.h"

#include <chrono>
#include <dlfcn.h>

namespace gpuopt::api {

// Returns the folder of the library that has this function, or of the
// executable if it is a part of one.
inline std::filesystem::path library_folder() {
  Dl_info info;
  std::error_code code;
  if (dladdr(reinterpret_cast<const void *>(&library_folder), &info)) {
    const auto path = std::filesystem::canonical(info.dli_fname, code);
    if (!code)
      return path.parent_path();
  }
  return executable_folder();
}

// Whether a flag of the trainer concerns its step, and not its loop.
inline bool is_of_step(const SettingInfo &setting) {
  return (setting.section == Section::Optimizer &&
          setting.name != "num-train-epochs") ||
         setting.section == Section::LossScale || setting.name == "autotune" ||
         setting.name == "autotune-file" ||
         setting.name == "attention-library" || setting.name == "wait-policy";
}

// Parses a caller's settings, on top of what the program was compiled with.
inline Settings parse_step_settings(const Program &program,
                                    const gpuopt_options &options) try {
  if (options.setting_count > 0)
    refuse_null(options.settings, "settings");
  Settings s;
  gpuopt::detail::set_defaults(program, s);
  const ProgramKind kind = kind_of(program);
  Flags flags;
  for (const SettingInfo &setting : kSettings)
    if (const std::string why = why_not_taken(setting, kind); !why.empty())
      flags.elsewhere(std::string(setting.name), why);
    else if (is_of_step(setting))
      gpuopt::detail::declare(setting, flags, s);
    else
      flags.elsewhere(std::string(setting.name),
                      "is for the trainer's loop, not for a step of it");
  for (const CompileSetting &setting : kCompileSettings)
    flags.elsewhere(std::string(setting.name), where_set(setting));
  for (size_t i = 0; i < options.setting_count; i++) {
    refuse_null(options.settings[i], "settings[i]");
    flags.parse(options.settings[i]);
  }
  gpuopt::detail::choose_given(flags, s);
  gpuopt::detail::check_ranges(s, kind);
  gpuopt::detail::check_step_settings(flags, s, program);
  parse_wait_policy(s.wait_policy);
  if (s.max_steps < 1 && s.warmup_ratio > 0)
    throw Error("'--warmup-ratio' is a share of --max-steps, which is not "
                "given");
  return s;
} catch (const Error &error) {
  throw invalid(error.what());
}

// Whether a schedule needs to know how many steps there are.
constexpr bool needs_steps(int64_t lr_scheduler_type) {
  return lr_scheduler_type != kConstant &&
         lr_scheduler_type != kConstantWithWarmup &&
         lr_scheduler_type != kInverseSqrt &&
         lr_scheduler_type != kReduceLrOnPlateau;
}

class Instance {
public:
  Instance(const Program &program, const gpuopt_options &options)
      : tensors(program), program(program),
        settings(parse_step_settings(program, options)),
        first_rate(settings.learning_rate),
        muon_ratio(settings.learning_rate > 0
                       ? settings.muon_learning_rate / settings.learning_rate
                       : 0),
        session(program, place_of(options)),
        waiting(parse_wait_policy(settings.wait_policy),
                session.ctx.num_threads) {
    if (settings.max_steps < 1 && needs_steps(settings.lr_scheduler_type))
      settings.lr_scheduler_type = kConstantWithWarmup;
    session.use_attention_library(settings.attention_library);
    session.allocate();
    const auto folder = library_folder();
    if (settings.autotune)
      session.use_autotune_record(settings.autotune_file, folder);
    const std::string weights = options.weights ? options.weights : "";
    session.load_weights(weights.empty() ? program_file(kModelFile, folder)
                                         : weights);
    if (session.has_constants())
      session.load_constants(constants_file(weights, folder));
    session.begin_run(settings, settings.max_steps, RunState(), 1);
  }

  Context &context() { return session.ctx; }
  const Context &context() const { return session.ctx; }

  gpuopt_program_info info() const {
    gpuopt_program_info info = {};
    info.name = program.name;
    info.target = kTargetName;
    info.optimizer = program.optimizer;
    info.batch_size = program.batch_size;
    info.accumulation_steps = program.accumulation_steps;
    info.has_step = program.micro_step != nullptr;
    info.has_evaluate = program.evaluate != nullptr;
    info.has_forward = program.forward != nullptr;
    info.device_bytes = session.ctx.allocated_bytes;
    info.host_bytes = session.ctx.host_bytes;
    return info;
  }
  gpuopt_tensor_info info(const Entry &entry) const {
    gpuopt_tensor_info info = {};
    info.name = entry.names[0];
    info.names = entry.names.data();
    info.name_count = entry.names.size();
    info.role = entry.role;
    info.type = api_type(entry.tensor->type);
    info.rank = size_t(entry.tensor->rank);
    info.shape = entry.tensor->shape;
    info.size_in_bytes = entry.tensor->bytes;
    info.device_data = entry.is_folded_in_place ? nullptr : address_of(entry);
    return info;
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  void step(const gpuopt_tensor *inputs, size_t count, double *loss) {
    if (!program.micro_step)
      throw unsupported("the program computes the forward alone: compile it "
                        "without --inference to train it");
    const int64_t batches = program.accumulation_steps;
    const auto given = match_inputs(tensors.inputs, inputs, count, batches);
    check_indices(given, batches);
    refresh();
    compute([&] {
      for (int64_t batch = 0; batch < batches; batch++) {
        take_inputs(given, batch);
        session.micro_step();
      }
      session.update();
    });
    if (!loss)
      return;
    const StepState state = session.read_state();
    session.refuse_outside(state, "step " + std::to_string(steps_of(state)));
    *loss = mean_of(state.loss_sum, state.weight_sum);
  }

  void evaluate(const gpuopt_tensor *inputs, size_t count, double *loss,
                double *weight) {
    if (!program.evaluate)
      throw unsupported("the program has no evaluation: compile it with one");
    refuse_null(loss, "loss");
    const auto given = match_inputs(tensors.inputs, inputs, count, 1);
    check_indices(given, 1);
    refuse_outside_before();
    refresh();
    take_inputs(given, 0);
    session.begin_evaluation();
    program.evaluate(session.ctx, session.memory);
    const StepState state = take_outside("the evaluation");
    *loss = mean_of(state.evaluation_loss_sum, state.evaluation_weight_sum);
    if (weight)
      *weight = state.evaluation_weight_sum;
  }

  void forward(const gpuopt_tensor *inputs, size_t input_count,
               const gpuopt_tensor *outputs, size_t output_count) {
    if (!program.forward)
      throw unsupported("the program has no forward: compile it with "
                        "--inference");
    const auto given = match_inputs(tensors.inputs, inputs, input_count, 1);
    check_indices(given, 1);
    refuse_outside_before();
    if (output_count > 0)
      refuse_null(outputs, "outputs");
    for (size_t i = 0; i < output_count; i++)
      check_tensor(tensors.outputs, tensors.outputs.of(outputs[i], i),
                   outputs[i]);
    refresh();
    take_inputs(given, 0);
    compute([&] { session.forward(); });
    take_outside("the forward");
    for (size_t i = 0; i < output_count; i++)
      copy_out(tensors.outputs.of(outputs[i], i), outputs[i]);
  }

  // Does the work of a step or a forward. All of them take alike long, so their
  // times tell how threads of the host should wait.
  template <class Work>
  void compute(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    waiting.step(std::chrono::duration<double, std::milli>(
                     std::chrono::steady_clock::now() - start)
                     .count());
  }

  gpuopt_step_info step_info() {
    const StepState state = session.read_state();
    gpuopt_step_info info = {};
    info.steps = steps_of(state);
    info.skipped_steps = state.scaler.skipped_steps;
    info.loss = mean_of(state.loss_sum, state.weight_sum);
    info.learning_rate = state.learning_rate;
    info.grad_norm = state.grad_norm;
    info.loss_scale = state.scaler.factor();
    session.refuse_outside(state, "the last step");
    return info;
  }

  void set_learning_rate(double rate) {
    if (!(rate >= 0) || !is_finite(rate))
      throw invalid("'learning_rate' must be at least 0 and finite, but is " +
                    number_text(rate));
    if (settings.adafactor_relative_step)
      throw invalid("'learning_rate'" + std::string(kNoRateBesideRelativeStep));
    // A rate of 0 for muon would stand for the other one.
    settings.muon_learning_rate = rate > 0 ? muon_ratio * rate : 0;
    settings.learning_rate = rate;
    settings.lr_scheduler_type = kConstant;
    forget_plateaus();
    group_rates = first_rate > 0 ? rate / first_rate : 1;
    session.write_hyperparameters(settings, group_rates);
  }

  //===--------------------------------------------------------------------===//
  // State
  //===--------------------------------------------------------------------===//

  void read_state(const gpuopt_tensor &to) {
    const Entry &entry = named_state(to);
    check_tensor(tensors.states, entry, to);
    restore_weights();
    copy_out(entry, to);
  }
  void write_state(const gpuopt_tensor &from) {
    const Entry &entry = named_state(from);
    check_tensor(tensors.states, entry, from);
    restore_weights();
    copy_in(entry, from, 0);
    if (entry.is_folded_in_place)
      session.weight_written();
    weights_changed();
  }
  void weights_changed() { has_changed = true; }

  void load(const std::string &path) {
    std::error_code code;
    if (std::filesystem::exists(path + "/" + kRunStateFile, code))
      return load_checkpoint(path);
    const bool is_folder = std::filesystem::is_directory(path, code);
    session.load_weights(is_folder ? path + "/" + kModelFile : path);
    weights_changed();
    clear_outside();
  }

  void save_weights(const std::string &file) {
    refuse_outside_before();
    restore_weights();
    std::optional<int64_t> step;
    if (program.update)
      step = steps_of(session.read_state());
    refuse_lost(
        session.weights_file().save(file, session.infinite_at_first, step));
  }

  void save_checkpoint(std::string folder) {
    refuse_outside_before();
    if (folder.empty())
      throw invalid("the path of a checkpoint must not be empty");
    while (folder.size() > 1 && folder.back() == '/')
      folder.pop_back();
    if (std::filesystem::exists(folder) && !is_vacant(folder) &&
        !is_own_checkpoint(folder))
      throw invalid("'" + folder +
                    "' exists and is no checkpoint; choose another folder");
    restore_weights();
    const Averages none(program, 0);
    StateCopy copy(program, none, session.originals,
                   "gpuopt_save_weights saves the weights without it");
    copy.take(session.ctx, session.memory);
    refuse_lost(copy.lost(session.infinite_at_first));
    RunState run = identity();
    session.read_run(run);
    run.validations = plateaus;
    run.step = run.updates + run.skipped_steps;
    const std::string part = folder + kPartSuffix;
    try {
      write_checkpoint_files(part, copy, /*has_averages=*/false, run);
      put_in_place(part, folder);
    } catch (...) {
      std::error_code code;
      std::filesystem::remove_all(part, code);
      throw;
    }
    sync_folder(folder_above(folder));
  }

  const Tensors tensors;

private:
  static int place_of(const gpuopt_options &options) {
    if (options.num_threads < 0 || options.num_threads > kMostThreads)
      throw invalid("'num_threads' must be at least 0 and at most " +
                    std::to_string(kMostThreads) + ", but is " +
                    std::to_string(options.num_threads));
    if (kStagingIsDevice && options.device != 0)
      throw invalid("a program of target host has no device " +
                    std::to_string(options.device) + "; give 0");
    return kStagingIsDevice ? options.num_threads : options.device;
  }

  static int64_t steps_of(const StepState &state) {
    return state.step + state.scaler.skipped_steps;
  }
  char *address_of(const Entry &entry) const {
    return session.memory + entry.tensor->offset;
  }

  // Copies batch number `batch` of the caller's.
  void copy_in(const Entry &entry, const gpuopt_tensor &from, int64_t batch) {
    const size_t bytes = entry.tensor->bytes;
    const char *data =
        static_cast<const char *>(from.data) + size_t(batch) * bytes;
    if (data == address_of(entry) || bytes == 0)
      return;
    if (from.memory == GPUOPT_HOST)
      return copy_to_device(session.ctx, address_of(entry), data, bytes);
    copy(session.ctx, address_of(entry), data, bytes);
    synchronize(session.ctx); // the caller may write there again
  }
  void copy_out(const Entry &entry, const gpuopt_tensor &to) {
    const size_t bytes = entry.tensor->bytes;
    if (to.data == address_of(entry) || bytes == 0)
      return;
    if (to.memory == GPUOPT_HOST)
      return copy_to_host(session.ctx, to.data, address_of(entry), bytes);
    copy(session.ctx, to.data, address_of(entry), bytes);
    synchronize(session.ctx);
  }

  void take_inputs(const std::vector<const gpuopt_tensor *> &given,
                   int64_t batch) {
    for (size_t i = 0; i < given.size(); i++)
      copy_in(tensors.inputs.entries[i], *given[i], batch);
  }

  // Refuses integers that would make a kernel read outside of a tensor, and
  // labels that are no probabilities where the loss is one of probabilities.
  void check_indices(const std::vector<const gpuopt_tensor *> &given,
                     int64_t batches) {
    for (size_t i = 0; i < given.size(); i++) {
      const InputInfo &input = *tensors.inputs.entries[i].input;
      if (input.index_limit < 0)
        continue;
      const auto *data = static_cast<const uint8_t *>(given[i]->data);
      std::vector<uint8_t> copied;
      if (given[i]->memory == GPUOPT_DEVICE) {
        copied.resize(given[i]->size_in_bytes);
        copy_to_host(session.ctx, copied.data(), data, copied.size());
        data = copied.data();
      }
      const int64_t k = first_outside(input, input.tensor.type, data,
                                      input.tensor.elements() * batches);
      if (k >= 0)
        throw invalid("element " + std::to_string(k) + " " +
                      outside_text(input, input.tensor.type, data, k));
    }
  }

  // Refuses to go on from a step that read an index that was outside, and whose
  // result nobody has asked for.
  void refuse_outside_before() {
    session.refuse_outside(session.read_state(), "a step before");
  }

  // Whether a folder holds what save_checkpoint or a trainer has written.
  // Checkpoints of other programs have no file of checksums.
  static bool is_own_checkpoint(const std::string &folder) {
    return has_run_state(folder) && is_finished_checkpoint(folder);
  }

  // Returns the state after a computation that has changed no weight. An index
  // that was outside is an error of this computation alone.
  StepState take_outside(const std::string &what) {
    const StepState state = session.read_state();
    if (state.outside.is_taken)
      clear_outside();
    session.refuse_outside(state, what);
    return state;
  }
  void clear_outside() {
    StepState state = session.read_state();
    state.outside = IndexOutside();
    session.write_state(state);
  }

  // Gives weights the values that callers know. The next computation prepares
  // them again.
  void restore_weights() { has_changed |= session.restore_weights(); }
  // Makes what the program keeps of weights anew if the caller has written any.
  void refresh() {
    if (has_changed)
      session.prepare();
    has_changed = false;
  }

  const Entry &named_state(const gpuopt_tensor &given) const {
    refuse_null(given.name, "name");
    return tensors.states.find(given.name);
  }
  static void refuse_lost(const std::string &names) {
    if (!names.empty())
      throw Error("nothing is saved, because weights are infinite or NaN: " +
                  names);
  }

  // Returns what makes this run the one that a checkpoint is of. Callers have
  // the data and its order.
  RunState identity() const {
    RunState run;
    run.max_steps = std::max<int64_t>(settings.max_steps, 0);
    run.batch_size = program.batch_size;
    run.accumulation_steps = program.accumulation_steps;
    run.optimizer = program.optimizer ? program.optimizer : "";
    run.model = program.model;
    run.settings = deciding_settings(settings, program);
    for (const std::string_view name : kSettingsOfTheLoop)
      run.settings.erase(std::string(name));
    return run;
  }
  void load_checkpoint(const std::string &folder) {
    check_whole(folder);
    const RunState saved = read_run_state(folder + "/" + kRunStateFile);
    RunState now = identity();
    now.samples = saved.samples;
    now.settings.erase("seed");
    refuse_other_run(folder, saved, now);
    session.load_checkpoint(folder);
    copy_plateaus(resumed_validations(saved, now, settings), plateaus);
    session.begin_run(settings, settings.max_steps, saved, plateaus.lr_factor,
                      group_rates);
    has_changed = false;
  }
  // What they have made of the learning rate does not count for another one.
  void forget_plateaus() {
    if (plateaus.lr_factor == 1)
      return;
    plateaus = ValidationHistory();
    StepState state = session.read_state();
    state.lr_factor = plateaus.lr_factor;
    session.write_state(state);
  }

  const Program &program;
  Settings settings;
  const double first_rate; // the learning rate before the caller sets one
  const double muon_ratio; // of muon's learning rate to the other one
  double group_rates = 1;  // what the caller multiplies those of groups by
  // What the validations of a run that is gone on from have come to. A step has
  // none of its own.
  ValidationHistory plateaus;
  Session session;
  StepWaiting waiting;
  bool has_changed = false; // weights, since `prepare`
};

} // namespace gpuopt::api
