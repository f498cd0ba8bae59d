//===- PrecisionFlags.cpp - Half precision and the loss scale -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"
#include "Flags/SettingFlags.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::precisionCategory() {
  static cl::OptionCategory category("Precision");
  return category;
}

namespace {
CompileFlag<std::string> precision("precision");
CompileFlags precisionOverrides("precision-override");
CompileFlag<std::string> precisionPolicy("precision-policy");
CompileFlag<bool> debugOverflow("debug-overflow");
CheckedOpt<std::string> lossScale(FromSetting("loss-scale"),
                                  cl::cat(precisionCategory()));
} // namespace

/// Reads which types the program may use; fails where flags contradict each
/// other.
static Error collectChoice(train::AssignPrecisionOptions &options,
                           const DriverOptions &all) {
  if (precision == "tf32" && !all.target->is_cuda)
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

/// Reads a number; returns false if no loss scale can have it.
static bool parseScale(StringRef text, double &scale) {
  return !text.getAsDouble(scale) &&
         find_setting("loss-scale")->range.has(scale);
}

/// Reads whether the loss is scaled, and how.
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
    return createStringError("--loss-scale must be " +
                             range_text(*find_setting("loss-scale")) +
                             ", but is '" + text + "'");
  options.accumulationSteps = emission.accumulationSteps;
  return Error::success();
}

Error gpuopt::collectPrecision(DriverOptions &options) {
  options.pipeline.schedule.allowsTf32 = options.emission.allowsTf32 =
      precision == "tf32";
  options.pipeline.conversion.debugOverflow = debugOverflow;
  if (Error error = collectChoice(options.pipeline.precision, options))
    return error;
  options.pipeline.step.halfLogits =
      !options.pipeline.precision.halfType.empty();
  return collectScaling(options.pipeline.lossScaling, options.emission);
}
