// The things that an emitted program tells the trainer about itself: tables and
// functions. step.cu fills in one Program; main.cpp hands it to trainer_main or
// predictor_main.
#pragma once

#include "gpuopt/optimizers/optimizer.h"
#include "gpuopt/program/tensor_info.h"
#include "gpuopt/settings/flag_rules.h"

namespace gpuopt {

enum class StateKind {
  Parameter, // read from and written to model.safetensors
  Frozen,    // read and written, never changed
  Buffer,    // read and written, changed by the forward (running statistics)
  Constant,  // read from the weights file, not written
  OptimizerState, // what kOptimizers declares, zero at the start
  Gradient,       // summed over the micro steps of a step
  Snapshot,       // a buffer as it was before the step
  HalfCopy, // a parameter in half precision, written by `prepare` and `update`
  Folded,   // weights with running statistics in them, written by `prepare`
  LossScale,
  ParamGroups, // the settings of --param-group
  Losses,      // LossSums of several losses
  Workspace,   // scratch memory of libraries, and
  Staging,     // batches on their way to the inputs: on CUDA alone
  StepState,
  Hyperparameters,
};

// Lives from step to step.
struct StateInfo {
  TensorInfo tensor;
  StateKind kind;
  // Names in model.safetensors, several when tied, the first one is read, with
  // a null behind them; null: tensor.name.
  const char *const *saved_as = nullptr;
  // Whether `prepare` changes what has been loaded, by running statistics.
  bool is_folded_in_place = false;
};

// Something that the forward computes, for --inference; or what the metrics of
// an evaluation are computed from.
struct OutputInfo {
  TensorInfo tensor;
};

// One of the losses whose sum is minimised.
struct LossInfo {
  const char *output; // of the model
  double weight;
};

// Indices that the program computes, and their dimension.
struct IndexedInfo {
  const char *name; // of the node that uses them
  int64_t size;
};

// A gradient's partial sums of squares: from `first_partial` up to that of the
// next one.
struct GradientInfo {
  const char *name; // of the parameter, in the ONNX file
  int64_t first_partial;
};

// The calls that one op of a step makes; calls.h has them in their order.
struct CallInfo {
  const char *origin; // ONNX nodes or a variable; empty for the runtime's own
  const char *work;   // the work and its types
  int count;          // of calls
  // The elements that this op works on, if several ops share a call. The first
  // of them has the call's `count`, and the others have 0.
  int64_t elements = 0;
  // On the first row of a loop: how often its rows run, one after the other,
  // and how many rows it has. All other rows run once.
  int iterations = 1, rows = 0;
};

// What a row of calls runs, and what one execution of it asks of the device;
// 0: not known.
struct CallWork {
  const char *name;    // the kernel or the function
  const char *section; // forward, backward or optimizer
  int line;            // of step.cu, where it is called first
  double bytes;        // read and written
  double operations;   // in floating point
  double limit_ns;     // the least time that the device could take
};

// The most bytes of the arena that are alive at once in each part of a step; 0:
// not known.
struct AliveBytes {
  size_t forward = 0, backward = 0, update = 0, evaluation = 0;
};

struct Program {
  const char *name;
  const char *model = ""; // a hash of the ONNX graph and of its constants
  const char *graph = ""; // the same without the sizes of the graph's inputs
  // Flags of gpuopt compile that decide what a step computes, as "loss=mse".
  Table<const char *> compiled;
  Table<const char *> eval_metrics; // what is measured (metric_names.h)
  Table<LossInfo> losses;           // if there are several
  Table<InputInfo> inputs;
  Table<StateInfo> states;
  Table<OutputInfo> outputs;
  Table<GradientInfo> gradients; // in the order of the norm's partial sums
  size_t partials_offset;      // of the partial sums: doubles, from `update` on
  int64_t partials;            // until the next step
  Table<const char *> checked; // --debug-overflow: what check_finite looks at
  Table<IndexedInfo> indexed;  // what in_range looks at
  bool allows_tf32; // float products on CUDA may round their operands to TF32
  size_t persistent_bytes; // what lives from step to step; lies first
  size_t arena_bytes;      // what lives within a step
  AliveBytes alive;
  size_t total_bytes; // the one allocation
  size_t host_bytes;  // of the host's memory, for offloaded tensors

  // `memory` is the allocation's start. All of them return before the device is
  // done; none allocates or waits.
  void (*prepare)(Context &, char *memory); // once the weights are loaded, or
                                            // null
  void (*micro_step)(Context &,
                     char *memory); // begin_step, forward, loss, backward
  void (*update)(Context &, char *memory);   // norm, optimizer, end_step
  void (*evaluate)(Context &, char *memory); // forward and loss alone, or null
  void (*place_inputs)(Context &,
                       char *memory);       // before `forward`: see
                                            // InputInfo::placed_in; or null
  void (*forward)(Context &, char *memory); // --inference: the outputs, or null

  // The calls that can be timed (step_timer.h), and the work of each row.
  Table<CallInfo> micro_step_calls, update_calls;
  Table<CallWork> micro_step_work, update_work;
  const char *limits_device = ""; // the device of CallWork::limit_ns

  int64_t batch_size;       // samples a micro step
  int64_t tokens_per_batch; // 0: progress is told in samples
  int64_t accumulation_steps;

  const char *optimizer;                // of kOptimizers, or null
  Table<const char *> optimizer_states; // those of it that there are
  Table<const char *> defaults;         // flags, before those that are given
};

inline const StateInfo *find_state(const Program &program, StateKind kind) {
  for (const StateInfo &state : program.states)
    if (state.kind == kind)
      return &state;
  return nullptr;
}

inline ProgramKind kind_of(const Program &program) {
  ProgramKind kind;
  kind.trains = program.micro_step != nullptr;
  if (program.optimizer)
    kind.optimizer = program.optimizer;
  kind.scales_loss = find_state(program, StateKind::LossScale);
  if (const OptimizerInfo *optimizer = find_optimizer(kind.optimizer))
    for (const char *state : program.optimizer_states)
      kind.states |= optimizer->state_bit(state);
  return kind;
}

} // namespace gpuopt
