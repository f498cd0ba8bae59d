//===- OptimizerFlags.cpp - The optimizer, and how long it runs -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"
#include "Flags/SettingFlags.h"
#include "gpuopt/settings/flag_rules.h"
#include "gpuopt/settings/param_groups.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::optimizerCategory() {
  static cl::OptionCategory category("The optimizer");
  return category;
}

namespace {
CompileFlag<std::string> optimizer("optimizer");
CompileFlag<std::string> noDecay("no-decay");
CompileFlag<int64_t> accumulation("gradient-accumulation-steps");
} // namespace

/// Fails with "--momentum applies only to --optimizer=sgd, but the optimizer is
/// adamw".
static Error checkOptimizer() {
  const OptimizerInfo *chosen = find_optimizer(optimizer.getValue());
  for (const SettingInfo &setting : kSettings) {
    std::string readers;
    for (const OptimizerInfo &info : kOptimizers)
      if (info.reads(setting.name))
        readers += (readers.empty() ? "" : " or ") + std::string(info.name);
    if (!readers.empty() && !chosen->reads(setting.name) &&
        asksFor(setting.name))
      return createStringError("--" + StringRef(setting.name) +
                               " applies only to --optimizer=" + readers +
                               ", but the optimizer is " + optimizer);
  }
  return Error::success();
}

/// Fails if flags contradict each other or lack a flag that they need.
static Error checkTogether(const TrainingSettings &settings) {
  if (settings.warmup_steps != 0 && settings.warmup_ratio != 0)
    return createStringError(
        "--warmup-steps and --warmup-ratio both say how long "
        "the warm-up is; give one of them");
  auto isGivenFlag = [](const std::string &name) { return isGiven(name); };
  if (std::string error = relative_step_error(settings, "", isGivenFlag);
      !error.empty())
    return createStringError(error);
  if (std::string error = schedule_error(settings, "", isGivenFlag);
      !error.empty())
    return createStringError(error);
  if (settings.nesterov && settings.momentum == 0)
    return createStringError("--nesterov needs --momentum");
  if (std::string error = param_groups_error(
          settings, *find_optimizer(optimizer.getValue()), "");
      !error.empty())
    return createStringError(error);
  for (size_t i = 0; i < settings.param_groups.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (expression_of_group(settings.param_groups[i]) ==
          expression_of_group(settings.param_groups[k]))
        return createStringError("--param-group gives '" +
                                 expression_of_group(settings.param_groups[i]) +
                                 "' twice");
  return Error::success();
}

/// Returns the names of the states that the optimizer keeps because the
/// hyperparameter that they depend on is not 0.
static std::vector<std::string>
optimizerStates(const TrainingSettings &settings) {
  std::vector<std::string> kept;
  for (const OptimizerState &state :
       find_optimizer(optimizer.getValue())->states)
    if (!state.needs.empty() &&
        settings.*find_setting(state.needs)->field.number != 0)
      kept.push_back(std::string(state.name));
  return kept;
}

Error gpuopt::collectOptimizer(DriverOptions &options) {
  TrainingSettings &settings = options.emission.settings;
  if (Error error = readSettingFlags(settings))
    return error;
  if (Error error = checkOptimizer())
    return error;
  if (Error error = checkTogether(settings))
    return error;
  train::BuildStepOptions &step = options.pipeline.step;
  step.optimizer = optimizer;
  llvm::append_range(step.optimizerStates, optimizerStates(settings));
  step.noDecay = noDecay;
  for (const std::string &group : settings.param_groups)
    step.paramGroups.push_back(expression_of_group(group));
  step.accumulationSteps = options.emission.accumulationSteps = accumulation;
  return Error::success();
}
