// The numbers of a run that TensorBoard shows. Their tags are those of Hugging
// Face's Trainer where it has them.
#pragma once

#include "gpuopt/trainer/event_file.h"
#include "gpuopt/trainer/output_losses.h"

namespace gpuopt {

// Returns how many samples a step has or, of a model of tokens, how many
// tokens.
inline double samples_of_step(const Program &program) {
  return double((program.tokens_per_batch ? program.tokens_per_batch
                                          : program.batch_size) *
                program.accumulation_steps);
}

// Returns those of a step that took `ms`, of which it waited `waited` for data;
// `parts` are the losses of its outputs.
inline EventFile::Scalars step_scalars(const Program &program, double loss,
                                       const std::vector<MetricValue> &parts,
                                       const StepState &state, double ms,
                                       double waited) {
  EventFile::Scalars scalars{
      {"train/loss", loss},
      {"train/learning_rate", state.learning_rate},
      {"train/grad_norm", state.grad_norm},
      {"train/step_ms", ms},
      {"train/data_wait_ms", waited},
      {program.tokens_per_batch ? "train/tokens_per_second"
                                : "train/samples_per_second",
       ms > 0 ? 1000 * samples_of_step(program) / ms : 0}};
  for (const auto &[name, value] : parts)
    scalars.push_back({"train/" + name, value});
  if (state.scaler.scale > 0)
    scalars.push_back({"train/loss_scale", double(state.scaler.scale)});
  return scalars;
}

inline EventFile::Scalars
evaluation_scalars(double loss, const std::vector<MetricValue> &values) {
  EventFile::Scalars scalars{{"eval/loss", loss}};
  for (const auto &[name, value] : values)
    scalars.push_back({"eval/" + name, value});
  return scalars;
}

} // namespace gpuopt
