// --ema-decay: an exponential moving average of each parameter over the steps,
// as timm's ModelEmaV3 and torch.optim.swa_utils.get_ema_avg_fn have it:
//
//   average += (parameter - average) * (1 - decay)    after each update
//
// The averages begin as the first weights, as timm's do. A step that is skipped
// for an overflow changes none. They are an allocation of their own, beside the
// program's, so that any program can keep them.
#pragma once

#include "gpuopt/optimizers/optimizer.h"
#include "gpuopt/program/program.h"

namespace gpuopt {

// A row of the table of averages; places are bytes from where the averages and
// the program's memory begin.
struct AverageRow {
  size_t average, parameter;
  int64_t elements, first_span;
  bool is_double;
};

template <class T>
DEVICE void average_span(int64_t span, T *average, const T *parameter,
                         int64_t n, T share) {
  for_span(span, n, [&](int64_t i, int64_t left) {
    const Lanes<T> old = load(average + i, left);
    store(average + i, old + (load(parameter + i, left) - old) * share, left);
  });
}

KERNEL void average_kernel(Memory averages, Memory program,
                           Rows<AverageRow> rows, const StepState *state,
                           double share) {
  if (state->scaler.found_inf)
    return;
  const int64_t span = block();
  const AverageRow &row = rows.of_span(span);
  if (row.is_double)
    average_span(span - row.first_span, averages[Buffer<double>(row.average)],
                 program[Buffer<double>(row.parameter)], row.elements, share);
  else
    average_span(span - row.first_span, averages[Buffer<float>(row.average)],
                 program[Buffer<float>(row.parameter)], row.elements,
                 float(share));
}

class Averages {
public:
  // `decay` 0 keeps no averages.
  Averages(const Program &program, double decay)
      : program(program), decay(decay) {
    for (const StateInfo &state : program.states)
      if (decay > 0 && state.kind == StateKind::Parameter)
        add(state.tensor);
  }

  bool are_kept() const { return !rows.empty(); }
  // Returns what `allocate` takes, on the device.
  size_t bytes() const { return size + rows.size() * sizeof(AverageRow); }

  void allocate(Context &ctx) {
    if (!are_kept())
      return;
    start = ctx.allocate(bytes());
    copy_to_device(ctx, start + size, rows.data(),
                   rows.size() * sizeof(AverageRow));
  }
  // Returns where a parameter's average lies, on the device.
  char *place_of(const TensorInfo &parameter) const {
    for (const AverageRow &row : rows)
      if (row.parameter == parameter.offset)
        return start + row.average;
    return nullptr;
  }
  // Makes the averages the weights that the program has.
  void begin(Context &ctx, const char *memory) const {
    for (const StateInfo &state : program.states)
      if (char *average = place_of(state.tensor);
          average && state.kind == StateKind::Parameter)
        copy(ctx, average, memory + state.tensor.offset, state.tensor.bytes);
  }
  // Takes a step into account, after its update: all parameters in one launch.
  void update(Context &ctx, char *memory, const StepState *state) const {
    if (are_kept())
      launch(
          ctx, spans, kSpanThreads, average_kernel, Memory{start},
          Memory{memory},
          Rows<AverageRow>{reinterpret_cast<const AverageRow *>(start + size),
                           int(rows.size())},
          state, 1 - decay);
  }

private:
  void add(const TensorInfo &parameter) {
    if (parameter.type != Type::F32 && parameter.type != Type::F64)
      throw Error("'--ema-decay' needs parameters of f32 or f64, but '" +
                  std::string(parameter.name) + "' is of " +
                  name_of(parameter.type));
    constexpr size_t kAlignedTo = 256;
    rows.push_back({size, parameter.offset, parameter.elements(), spans,
                    parameter.type == Type::F64});
    spans += ceil_div(parameter.elements(), kSpan);
    size += (parameter.bytes + kAlignedTo - 1) / kAlignedTo * kAlignedTo;
  }

  const Program &program;
  const double decay;
  std::vector<AverageRow> rows; // which lie behind the averages, too
  int64_t spans = 0;
  size_t size = 0; // of all averages
  char *start = nullptr;
};

} // namespace gpuopt
