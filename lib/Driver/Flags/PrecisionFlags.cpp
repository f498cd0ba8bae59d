//===- PrecisionFlags.cpp - Half precision and the loss scale -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/FlagGroups.h"
#include "Flags/SettingFlags.h"

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
    return createStringError(
        "--precision=tf32 applies only to CUDA, but --target is "
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

/// A number that a scale can be.
static bool parseScale(StringRef text, double &scale) {
  return !text.getAsDouble(scale) &&
         find_setting("init-scale")->range.has(scale);
}

/// Whether the loss is scaled, and how.
static Error collectScaling(train::InsertLossScalingOptions &options,
                            EmissionOptions &emission) {
  StringRef text = lossScale;
  options.enabled = text.empty() ? precision == "fp16" : text != "none";
  bool isDynamic = text.empty() ? options.enabled : text == "dynamic";
  for (const SettingInfo &setting : kSettings)
    if (setting.section == Section::LossScale && isGiven(setting.name) &&
        !isDynamic)
      return createStringError(
          "--" + StringRef(setting.name) +
          " applies only to --loss-scale=dynamic, but the loss scale is '" +
          (text.empty() ? "none" : text) + "'");
  TrainingSettings &settings = emission.settings;
  settings.is_dynamic = text.empty() || text == "dynamic";
  if (options.enabled && !settings.is_dynamic &&
      !parseScale(text, settings.init_scale))
    return createStringError(
        "--loss-scale must be dynamic, none or a number above 0, but is '" +
        text + "'");
  options.accumulationSteps = emission.accumulationSteps;
  return Error::success();
}

Error gpuopt::collectPrecision(DriverOptions &options) {
  options.pipeline.schedule.allowsTf32 = options.emission.allowsTf32 =
      precision == "tf32";
  options.pipeline.conversion.debugOverflow = debugOverflow;
  if (Error error = collectChoice(options.pipeline.precision, options))
    return error;
  return collectScaling(options.pipeline.lossScaling, options.emission);
}
