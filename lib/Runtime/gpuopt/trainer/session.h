// A program with its memory on a device. The trainer's loop and the C API
// (gpuopt/gpuopt.h) both run its steps through this class.
#pragma once

#include "gpuopt/settings/param_groups.h"
#include "gpuopt/trainer/checkpoints/checkpoint_folder.h"
#include "gpuopt/trainer/checkpoints/plain_weights.h"
#include "gpuopt/trainer/checkpoints/resume.h"
#include "gpuopt/trainer/checkpoints/weights_file.h"

namespace gpuopt {

// Returns the mean, or 0 if no target counts.
inline double mean_of(double sum, double weight) {
  return weight > 0 ? without_nan_sign(sum / weight) : 0;
}

// Refuses memory of a kind that is not as the plan has it.
inline void refuse_unplanned(const char *kind, size_t bytes, size_t planned) {
  if (bytes != planned)
    throw Error("allocated " + std::to_string(bytes) + " bytes" + kind +
                ", but the plan says " + std::to_string(planned));
}

class Session {
public:
  // `place` is the number of a GPU or, on the host, of threads (0: as many as
  // there are cores).
  Session(const Program &program, int place)
      : program(program), ctx(place), originals(program),
        plain_weights(ctx, program, originals) {
    ctx.allows_tf32 = program.allows_tf32;
  }

  // Allocates all that the plan counts.
  void allocate() {
    memory = ctx.allocate(program.total_bytes);
    ctx.allocate_host(program.host_bytes);
    if (const StateInfo *state = find_state(program, StateKind::Workspace))
      ctx.use_workspace(memory + state->tensor.offset, state->tensor.bytes);
    // Where there is an optimizer, each step changes weights.
    for (const StateInfo &state : program.states)
      if (!program.micro_step && is_unchanged(state.kind))
        ctx.add_unchanged(memory + state.tensor.offset, state.tensor.bytes,
                          state.kind == StateKind::Folded ||
                              state.is_folded_in_place);
  }

  // Keeps the choices of a library's algorithms in a file; an empty name stands
  // for one in the program's folder.
  void use_autotune_record(const std::string &file,
                           const std::filesystem::path &folder) {
    ctx.use_autotune_record(file.empty() ? (folder / "autotune.txt").string()
                                         : file);
  }

  // Takes a name that users give; throws Error if it is none.
  void use_attention_library(const std::string &name) {
    const std::optional<AttentionLibrary> library =
        find_attention_library(name);
    if (!library)
      throw Error("'--attention-library' must be " +
                  wrong_attention_library(name));
    ctx.use_attention_library(*library);
  }

  template <class T>
  T *find(StateKind kind) const {
    return reinterpret_cast<T *>(memory +
                                 find_state(program, kind)->tensor.offset);
  }
  StepState *step_state() const {
    return find<StepState>(StateKind::StepState);
  }
  StepState read_state() {
    StepState state;
    copy_to_host(ctx, &state, step_state(), sizeof state);
    return state;
  }
  void write_state(const StepState &state) {
    copy_to_device(ctx, step_state(), &state, sizeof state);
  }
  // Returns the sums of each of several losses; nothing of one loss.
  std::vector<LossSums> read_losses() {
    std::vector<LossSums> losses(program.losses.count);
    if (!losses.empty())
      copy_to_host(ctx, losses.data(), find<LossSums>(StateKind::Losses),
                   losses.size() * sizeof(LossSums));
    return losses;
  }
  void write_losses(const std::vector<LossSums> &losses) {
    if (!losses.empty())
      copy_to_device(ctx, find<LossSums>(StateKind::Losses), losses.data(),
                     losses.size() * sizeof(LossSums));
  }

  // Writes the hyperparameters of all parameters and those of each parameter
  // group. A learning rate that a group sets is taken `group_rates` times.
  void write_hyperparameters(const TrainingSettings &s,
                             double group_rates = 1) {
    const Hyperparameters hyper = s;
    copy_to_device(ctx, find<Hyperparameters>(StateKind::Hyperparameters),
                   &hyper, sizeof hyper);
    const StateInfo *groups = find_state(program, StateKind::ParamGroups);
    if (!groups)
      return;
    size_t offset = groups->tensor.offset;
    for (const TrainingSettings &of_group : settings_of_groups(
             s, *find_optimizer(kind_of(program).optimizer), group_rates)) {
      ParamGroup group;
      group.hyper = of_group;
      copy_to_device(ctx, memory + offset, &group, sizeof group);
      offset += kParamGroupBytes;
    }
  }

  //===--------------------------------------------------------------------===//
  // The start of a run
  //===--------------------------------------------------------------------===//

  // Loads and saves what the program has in files; with `averages`, these in
  // place of the parameters.
  WeightsFile weights_file(const Averages *averages = nullptr) {
    return WeightsFile(ctx, program, memory, originals, averages);
  }
  void load_weights(const std::string &file) {
    check_listed(file);
    auto opened = std::make_unique<MappedFile>(file);
    infinite_at_first = weights_file().load(*opened, StateFile::Weights);
    plain_weights.loaded(std::move(opened));
  }
  // Loads the weights of a checkpoint, and what its optimizer has kept.
  void load_checkpoint(const std::string &folder) {
    WeightsFile file = weights_file();
    auto opened = std::make_unique<MappedFile>(folder + "/" + kModelFile);
    infinite_at_first = file.load(*opened, StateFile::Weights,
                                  /*exactly=*/true);
    plain_weights.loaded(std::move(opened));
    file.load(folder + "/" + kOptimizerFile, StateFile::Optimizer,
              /*exactly=*/true);
  }
  bool has_constants() const {
    return find_state(program, StateKind::Constant) != nullptr;
  }
  void load_constants(const std::string &file) {
    weights_file().load(file, StateFile::Constants);
  }

  // Writes what the device knows of a run of `steps` steps: its settings and
  // where it stands. Everything has been loaded. `group_rates` is that of
  // write_hyperparameters.
  void begin_run(const TrainingSettings &s, int64_t steps, const RunState &run,
                 double lr_factor, double group_rates = 1) {
    TrainingSettings run_settings = s;
    if (s.warmup_steps == 0 && s.warmup_ratio > 0)
      run_settings.warmup_steps =
          int64_t(std::ceil(s.warmup_ratio * double(steps)));
    run_settings.max_steps = steps;
    StepState state;
    state.seed = s.seed;
    state.lr_factor = lr_factor;
    if (const StateInfo *groups = find_state(program, StateKind::ParamGroups)) {
      state.param_groups = memory + groups->tensor.offset;
      state.param_group_count = groups->tensor.shape[0];
    }
    if (const StateInfo *losses = find_state(program, StateKind::Losses)) {
      state.losses =
          reinterpret_cast<LossSums *>(memory + losses->tensor.offset);
      state.loss_count = losses->tensor.shape[0];
      write_losses(std::vector<LossSums>(program.losses.count));
    }
    write_counters(run, state);
    write_state(state);
    write_hyperparameters(run_settings, group_rates);
    if (find_state(program, StateKind::LossScale)) {
      const bool has_scale = run.loss_scale > 0 && s.is_dynamic;
      const float scale = float(has_scale ? run.loss_scale : s.init_scale);
      copy_to_device(ctx, find<float>(StateKind::LossScale), &scale,
                     sizeof scale);
    }
    prepare();
  }
  // Makes what the program keeps of the weights beside them.
  void prepare() {
    ctx.weights_changed();
    if (!program.prepare)
      return;
    plain_weights.begin_prepare(memory);
    program.prepare(ctx, memory);
    // This may have taken more of the arena than steps do.
    ctx.release(memory + program.persistent_bytes, program.arena_bytes);
  }
  // Undoes what `prepare` has done to weights. Returns whether it has done
  // anything, so that it has to run again before the next forward.
  bool restore_weights() { return plain_weights.restore(memory); }
  // Says that a caller has written the state of a weight.
  void weight_written() { plain_weights.written(); }

  // Takes down where the run stands on the device.
  void read_run(RunState &run) {
    read_counters(read_state(), run);
    if (find_state(program, StateKind::LossScale)) {
      float scale = 0;
      copy_to_host(ctx, &scale, find<float>(StateKind::LossScale),
                   sizeof scale);
      run.loss_scale = double(scale);
    }
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  // These return before the device is done.
  void micro_step() {
    micro_replay.run(ctx, [this] { program.micro_step(ctx, memory); });
  }
  void update() {
    update_replay.run(ctx, [this] { program.update(ctx, memory); });
  }

  void forward() {
    forward_replay.run(ctx, [this] {
      if (program.place_inputs)
        program.place_inputs(ctx, memory);
      program.forward(ctx, memory);
    });
  }
  // Computes the outputs where those of the inputs that are placed in outputs
  // lie there already.
  void forward_in_place() {
    in_place_replay.run(ctx, [this] { program.forward(ctx, memory); });
  }

  // Clears the sums of evaluations, to which `program.evaluate` adds.
  void begin_evaluation() {
    StepState state = read_state();
    state.evaluation_loss_sum = state.evaluation_weight_sum = 0;
    write_state(state);
    std::vector<LossSums> losses = read_losses();
    for (LossSums &sums : losses)
      sums.evaluation_sum = sums.evaluation_weight = 0;
    write_losses(losses);
  }

  // An index that the step has computed was outside of its dimension: the
  // weights that it has computed are useless.
  void refuse_outside(const StepState &state, const std::string &when) const {
    if (!state.outside.is_taken)
      return;
    const IndexedInfo &info = program.indexed.data[state.outside.number];
    const int64_t size = info.size;
    throw Error(when + ": '" + info.name + "' reads index " +
                std::to_string(state.outside.index) + ", element " +
                std::to_string(state.outside.position) +
                " of its indices, but it must lie in [" +
                std::to_string(-size) + ", " + std::to_string(size) + ")");
  }

  const Program &program;
  Context ctx;
  char *memory = nullptr;
  WeightsFile::Names infinite_at_first; // in the weights that were loaded
  Originals originals;                  // of weights that are rounded

private:
  // Whether a program of the forward alone leaves such a state as it is.
  static bool is_unchanged(StateKind kind) {
    return kind == StateKind::Parameter || kind == StateKind::Frozen ||
           kind == StateKind::Buffer || kind == StateKind::Constant ||
           kind == StateKind::HalfCopy || kind == StateKind::Folded;
  }

  PlainWeights plain_weights;
  Replay micro_replay, update_replay, forward_replay, in_place_replay;
};

} // namespace gpuopt
