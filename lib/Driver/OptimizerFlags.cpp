//===- OptimizerFlags.cpp - The optimizer, and how long it runs -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlagGroups.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::optimizerCategory() {
  static cl::OptionCategory category("The optimizer");
  return category;
}

namespace {
Flag<std::string> optimizer("optimizer", "adamw", "adamw or sgd",
                            cl::cat(optimizerCategory()), COMPILING);
Flag<double> learningRate("learning-rate", 5e-5,
                          "of the first step after warm-up",
                          cl::cat(optimizerCategory()), COMPILING);
Flag<double> weightDecay("weight-decay", 0, "decoupled for adamw",
                         cl::cat(optimizerCategory()), COMPILING);
CheckedOpt<std::string>
    noDecay("no-decay",
            cl::desc("parameters without weight decay (default: none)"),
            cl::value_desc("REGEX"), cl::cat(optimizerCategory()), COMPILING);
Flag<double> momentum("momentum", 0, "of sgd", cl::cat(optimizerCategory()),
                      COMPILING);
Switch nesterov("nesterov",
                cl::desc("Nesterov's momentum, of sgd (default off)"),
                cl::cat(optimizerCategory()), COMPILING);
Flag<double> beta1("adam-beta1", 0.9, "decay of the first moment",
                   cl::cat(optimizerCategory()), COMPILING);
Flag<double> beta2("adam-beta2", 0.999, "decay of the second moment",
                   cl::cat(optimizerCategory()), COMPILING);
Flag<double> epsilon("adam-epsilon", 1e-8,
                     "added to the root of the second moment",
                     cl::cat(optimizerCategory()), COMPILING);
Flag<double> maxGradNorm("max-grad-norm", 1, "norm to clip to; 0: none",
                         cl::cat(optimizerCategory()), COMPILING);
Flag<std::string> schedule("lr-scheduler-type", "linear",
                           "linear, cosine, constant or constant_with_warmup",
                           cl::cat(optimizerCategory()), COMPILING);
Flag<int64_t> warmupSteps("warmup-steps", 0, "steps of linear warm-up",
                          cl::cat(optimizerCategory()), COMPILING);
Flag<double> warmupRatio("warmup-ratio", 0, "the same as a share of all steps",
                         cl::cat(optimizerCategory()), COMPILING);
Flag<int64_t> accumulation("gradient-accumulation-steps", 1,
                           "batches per update", cl::cat(optimizerCategory()),
                           COMPILING);
Flag<int64_t>
    maxSteps("max-steps", -1,
             "steps to attempt; -1: as many as --num-train-epochs needs",
             cl::cat(optimizerCategory()), COMPILING);
Flag<double> epochs("num-train-epochs", 3,
                    "passes over the data where --max-steps is -1",
                    cl::cat(optimizerCategory()), COMPILING);
} // namespace

/// Flags that mean nothing beside others.
static Error checkTogether() {
  if (optimizer == "adamw")
    for (auto [flag, isOn] :
         {std::pair<const cl::Option *, bool>(&momentum, momentum.isGiven()),
          {&nesterov, nesterov}})
      if (isOn)
        return createStringError("--" + flag->ArgStr +
                                 " is of --optimizer=sgd, but it is adamw");
  if (optimizer == "sgd")
    for (Flag<double> *flag : {&beta1, &beta2, &epsilon})
      if (flag->isGiven())
        return createStringError("--" + flag->ArgStr +
                                 " is of --optimizer=adamw, but it is sgd");
  if (warmupSteps != 0 && warmupRatio != 0)
    return createStringError("--warmup-steps and --warmup-ratio are of the "
                             "same warm-up; give one of them");
  if (nesterov && momentum == 0)
    return createStringError("--nesterov needs a --momentum");
  return Error::success();
}

/// Values that no training can mean.
static Error checkRanges() {
  if (schedule != "linear" && schedule != "cosine" && schedule != "constant" &&
      schedule != "constant_with_warmup")
    return createStringError(
        "--lr-scheduler-type must be linear, cosine, constant or "
        "constant_with_warmup, but is '" +
        schedule + "'");
  if (Error error =
          checkRange<double>(0, {&learningRate, &weightDecay, &momentum, &beta1,
                                 &beta2, &epsilon, &maxGradNorm}))
    return error;
  if (Error error = checkRange<double>(0, {&warmupRatio}, 1))
    return error;
  for (Flag<double> *flag : {&beta1, &beta2})
    if (*flag >= 1)
      return createStringError("--" + flag->ArgStr +
                               " must be below 1, but is " + flag->str());
  if (Error error = checkRange<int64_t>(0, {&warmupSteps}))
    return error;
  if (Error error = checkRange<int64_t>(1, {&accumulation}))
    return error;
  if (maxSteps < 1 && maxSteps != -1)
    return createStringError("--max-steps must be at least 1, or -1 for as "
                             "many as --num-train-epochs needs, but is " +
                             maxSteps.str());
  if (!(epochs > 0) || epochs > 1e9)
    return createStringError(
        "--num-train-epochs must be more than 0 and at most 1e9, but is " +
        epochs.str());
  return Error::success();
}

Error gpuopt::collectOptimizer(DriverOptions &options) {
  for (auto *check : {checkRanges, checkTogether})
    if (Error error = check())
      return error;
  train::BuildStepOptions &step = options.pipeline.step;
  step.optimizer = optimizer;
  step.useMomentum = momentum != 0;
  step.nesterov = nesterov;
  step.noDecay = noDecay;
  step.accumulationSteps = accumulation;
  EmissionOptions &emission = options.emission;
  emission.schedule = schedule;
  emission.learningRate = learningRate;
  emission.weightDecay = weightDecay;
  emission.momentum = momentum;
  emission.beta1 = beta1;
  emission.beta2 = beta2;
  emission.epsilon = epsilon;
  emission.maxGradNorm = maxGradNorm;
  emission.warmupRatio = warmupRatio;
  emission.trainEpochs = epochs;
  emission.warmupSteps = warmupSteps;
  emission.maxSteps = maxSteps;
  emission.accumulationSteps = accumulation;
  emission.nesterov = nesterov;
  return Error::success();
}
