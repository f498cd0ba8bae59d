//===- Resume.cpp - Whether a training may go on --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Resume.h"

#include "Files/InitialWeights.h"
#include "Files/ResumedRun.h"
#include "Files/SourceModel.h"
#include "gpuopt/Dialect/Device/IR/BatchSize.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/Support/raw_ostream.h"

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

static llvm::Error errorOf(const std::string &why) {
  return why.empty() ? llvm::Error::success() : llvm::createStringError(why);
}

static llvm::Error check(const ResumingRun &run) {
  return errorOf(run.resume.empty() ? "" : whyNotResumed(run));
}

/// Returns the tensors that are read from a file of weights, as the program's
/// table of states has them.
static std::vector<WeightShape> weightsOf(ModuleOp module) {
  std::vector<WeightShape> weights;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    auto variable =
        buffer.getKind() == device::BufferKind::State && buffer.getVariable()
            ? module.lookupSymbol<train::VariableOp>(*buffer.getVariable())
            : nullptr;
    if (!variable || (variable.getKind() != train::VariableKind::Parameter &&
                      variable.getKind() != train::VariableKind::Frozen &&
                      variable.getKind() != train::VariableKind::Buffer))
      continue;
    auto type = cast<RankedTensorType>(buffer.getType());
    WeightShape weight{variable.getSymName().str(), {}, "", type.getShape()};
    for (Attribute name : variable.getSavedAs())
      weight.savedAs.push_back(cast<StringAttr>(name).str());
    llvm::raw_string_ostream(weight.type) << type.getElementType();
    weights.push_back(std::move(weight));
  }
  return weights;
}

llvm::Error gpuopt::checkResume(const DriverOptions &options) {
  return check(toldByFlags(options));
}

llvm::Error gpuopt::checkStart(const DriverOptions &options, ModuleOp module,
                               const EmissionOptions &emission,
                               const std::string &classNames) {
  // The other commands go on from no checkpoint.
  if (options.resultsDir.empty())
    return llvm::Error::success();
  ResumingRun run = toldByFlags(options);
  if (int64_t batch = device::batchSizeOf(module))
    run.batchSize = batch;
  run.model = emission.modelHash;
  run.classNames = classNames;
  for (StringRef flag : emission.compiled) {
    auto [name, value] = flag.split('=');
    run.settings[name.str()] = value.str();
  }
  if (run.resume.empty() || firstCheckpoint(run).empty()) {
    StartFindings found =
        lookAtStart(options.emission.settings.init_from, weightsOf(module),
                    options.emission.settings.init_strict, classNames);
    for (const std::string &warning : found.warnings)
      llvm::errs() << "gpuopt: warning: " << warning << "\n";
    return errorOf(found.problem);
  }
  if (llvm::Expected<std::string> source =
          findSourceModel(firstCheckpoint(run)))
    run.source = *source;
  else
    llvm::consumeError(source.takeError());
  return check(run);
}
