//===- PrecisionFlags.cpp - Half precision and the loss scale -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlagGroups.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::precisionCategory() {
  static cl::OptionCategory category("Precision");
  return category;
}

namespace {
Flag<std::string>
    precision("precision", "fp32",
              "fp32, tf32 (on CUDA, products of fp32), fp16 or bf16",
              cl::cat(precisionCategory()), COMPILING);
cl::list<std::string>
    precisionOverrides("precision-override",
                       cl::desc("ONNX nodes, by name or operator"),
                       cl::value_desc("REGEX=fp32|fp16|bf16"),
                       cl::cat(precisionCategory()), COMPILING);
CheckedOpt<std::string> precisionPolicy(
    "precision-policy",
    cl::desc("JSON file with lists of operators: half, fp32, follow"),
    cl::value_desc("FILE"), cl::cat(precisionCategory()), COMPILING);
Switch debugOverflow("debug-overflow",
                     cl::desc("the trainer names the first result that "
                              "is infinite or NaN; slow (default off)"),
                     cl::cat(precisionCategory()), COMPILING);
CheckedOpt<std::string> lossScale(
    "loss-scale",
    cl::desc(
        "dynamic, a number or none (default: dynamic for fp16, else none)"),
    cl::cat(precisionCategory()), COMPILING);
Flag<double> initScale("init-scale", 65536, "the first loss scale",
                       cl::cat(precisionCategory()), COMPILING);
Flag<double> growthFactor("growth-factor", 2,
                          "of the loss scale after growth-interval good steps",
                          cl::cat(precisionCategory()), COMPILING);
Flag<double> backoffFactor("backoff-factor", 0.5,
                           "of the loss scale after a step that overflows",
                           cl::cat(precisionCategory()), COMPILING);
Flag<int64_t> growthInterval("growth-interval", 2000,
                             "good steps in a row before the loss scale grows",
                             cl::cat(precisionCategory()), COMPILING);
Flag<double> minLossScale("min-loss-scale", 1,
                          "what the loss scale never falls below",
                          cl::cat(precisionCategory()), COMPILING);
} // namespace

/// What may be in half precision.
static Error collectChoice(train::AssignPrecisionOptions &options,
                           const DriverOptions &all) {
  if (precision != "fp32" && precision != "tf32" && precision != "fp16" &&
      precision != "bf16")
    return createStringError(
        "--precision must be fp32, tf32, fp16 or bf16, but is '" + precision +
        "'");
  if (precision == "tf32" && all.target == "host")
    return createStringError("--precision=tf32 is of CUDA, but --target is "
                             "host, which computes in fp32");
  if ((precision == "fp32" || precision == "tf32") &&
      (!precisionOverrides.empty() || !precisionPolicy.empty()))
    return createStringError("--precision-override and --precision-policy need "
                             "--precision=fp16 or bf16");
  options.halfType = precision == "fp16"   ? "f16"
                     : precision == "bf16" ? "bf16"
                                           : "";
  options.policyFile = precisionPolicy;
  options.accumulationSteps = all.pipeline.step.accumulationSteps;
  options.overrides.assign(precisionOverrides.begin(),
                           precisionOverrides.end());
  return Error::success();
}

/// What no scale can be, which is a float.
static Error checkScaling() {
  for (Flag<double> *flag : {&initScale, &minLossScale})
    if (!(*flag >= 1e-37) || *flag > 1e38)
      return createStringError("--" + flag->ArgStr +
                               " must lie in [1e-37, 1e38], but is " +
                               flag->str());
  if (!(backoffFactor > 0) || backoffFactor > 1)
    return createStringError("--backoff-factor must lie in (0, 1], but is " +
                             backoffFactor.str());
  if (Error error = checkRange<double>(1, {&growthFactor}))
    return error;
  return checkRange<int64_t>(1, {&growthInterval});
}

/// Whether the loss is scaled, and how.
static Error collectScaling(train::InsertLossScalingOptions &options,
                            EmissionOptions &emission) {
  StringRef text = lossScale;
  options.enabled = text.empty() ? precision == "fp16" : text != "none";
  bool isDynamic = text.empty() ? options.enabled : text == "dynamic";
  for (const cl::Option *flag : std::initializer_list<const cl::Option *>{
           &initScale, &growthFactor, &backoffFactor, &growthInterval,
           &minLossScale})
    if (flag->getNumOccurrences() && !isDynamic)
      return createStringError("--" + flag->ArgStr +
                               " is of --loss-scale=dynamic, but it is '" +
                               (text.empty() ? "none" : text) + "'");
  emission.hasDynamicLossScale = text.empty() || text == "dynamic";
  emission.initScale = initScale;
  if (options.enabled && !emission.hasDynamicLossScale &&
      (text.getAsDouble(emission.initScale) || !(emission.initScale >= 1e-37) ||
       emission.initScale > 1e38))
    return createStringError(
        "--loss-scale must be dynamic, none or a number above 0, but is '" +
        text + "'");
  options.accumulationSteps = emission.accumulationSteps;
  emission.growthFactor = growthFactor;
  emission.backoffFactor = backoffFactor;
  emission.growthInterval = growthInterval;
  emission.minLossScale = minLossScale;
  return checkScaling();
}

Error gpuopt::collectPrecision(DriverOptions &options) {
  options.pipeline.schedule.allowsTf32 = options.emission.allowsTf32 =
      precision == "tf32";
  options.pipeline.device.debugOverflow = debugOverflow;
  if (Error error = collectChoice(options.pipeline.precision, options))
    return error;
  return collectScaling(options.pipeline.lossScaling, options.emission);
}
