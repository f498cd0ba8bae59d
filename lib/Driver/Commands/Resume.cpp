//===- Resume.cpp - Whether a training may go on --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Resume.h"

#include "Files/ResumedRun.h"
#include "gpuopt/Dialect/Device/IR/BatchSize.h"

using namespace mlir;
using namespace gpuopt;

/// Returns what the flags tell of the run.
static ResumingRun toldByFlags(const DriverOptions &options) {
  const TrainingSettings &settings = options.emission.settings;
  ResumingRun run;
  run.resume = settings.resume;
  run.outputDir = options.resultsDir;
  run.optimizer = find_optimizer(options.pipeline.step.optimizer)->name;
  run.accumulationSteps = options.emission.accumulationSteps;
  run.batchSize = options.import.batchSize.value_or(0);
  for (const SettingInfo &setting : kSettings)
    run.settings[std::string(setting.name)] = value_text(setting, settings);
  return run;
}

static llvm::Error check(const ResumingRun &run) {
  std::string why = run.resume.empty() ? "" : whyNotResumed(run);
  return why.empty() ? llvm::Error::success() : llvm::createStringError(why);
}

llvm::Error gpuopt::checkResume(const DriverOptions &options) {
  return check(toldByFlags(options));
}

llvm::Error gpuopt::checkResume(const DriverOptions &options, ModuleOp module,
                                const EmissionOptions &emission) {
  // The other commands go on from no checkpoint.
  if (options.resultsDir.empty())
    return llvm::Error::success();
  ResumingRun run = toldByFlags(options);
  if (int64_t batch = device::batchSizeOf(module))
    run.batchSize = batch;
  run.model = emission.modelHash;
  for (StringRef flag : emission.compiled) {
    auto [name, value] = flag.split('=');
    run.settings[name.str()] = value.str();
  }
  return check(run);
}
