//===- KernelChoice.cpp - Kernels within a budget -------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/KernelChoice.h"

#include "gpuopt/Analysis/Memory/ArenaBudget.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the origins of the GELUs that products compute and whose input the
/// backward reads.
static llvm::StringSet<> gelusOfProducts(ModuleOp module) {
  llvm::StringSet<> gelus;
  module.walk([&](nn::ContractGeluOp product) {
    if (product.getInput())
      gelus.insert(originOf(product.getResult()));
  });
  return gelus;
}

/// Returns those of the GELUs that a schedule computes again.
static llvm::StringSet<> recomputedIn(ModuleOp module,
                                      const llvm::StringSet<> &gelus) {
  llvm::StringSet<> recomputed;
  module.walk([&](train::RecomputeOp repeat) {
    repeat.getBody().walk([&](Operation *op) {
      for (Value value : op->getResults())
        if (std::string origin = originOf(value); gelus.contains(origin))
          recomputed.insert(origin);
    });
  });
  return recomputed;
}

namespace {

/// A program that was planned up to its schedule.
struct Trial {
  OwningOpRef<ModuleOp> module;
  StepEstimate step; ///< Without what is computed again.
  double nanoseconds = 0;
};

/// Plans programs of one module, to choose among them.
class KernelTrials {
public:
  KernelTrials(ModuleOp module, const DriverOptions &driver,
               const DeviceModel &device)
      : module(module), accumulationSteps(driver.emission.accumulationSteps),
        device(device) {}

  std::optional<Trial> plan(const PipelineOptions &options) {
    Trial trial;
    trial.module = module.clone();
    if (failed(
            run(*trial.module, {Phase::Clusters, Phase::Precision}, options)))
      return std::nullopt;
    trial.step = estimateStep(*trial.module, device, accumulationSteps);
    if (failed(run(*trial.module, {Phase::Schedule}, options)))
      return std::nullopt;
    trial.nanoseconds = trial.step.nanoseconds +
                        nanosecondsOfRepeats(*trial.module, accumulationSteps);
    return trial;
  }

private:
  static LogicalResult run(ModuleOp module, ArrayRef<Phase> phases,
                           const PipelineOptions &options) {
    PassManager passes(module.getContext());
    for (Phase phase : phases)
      addPhase(passes, phase, options);
    return passes.run(module);
  }

  ModuleOp module;
  int64_t accumulationSteps;
  const DeviceModel &device;
};

} // namespace

/// Finds the GELUs that stay kernels, of those that products compute without a
/// budget. A schedule for which all of them are kernels tells which are worth
/// computing again. If the products compute the others, the schedule is made
/// anew, since what is computed again with such a product takes longer. Returns
/// nothing where that is no faster: then all of them stay kernels.
static std::optional<llvm::SmallVector<std::string>>
findRecomputed(KernelTrials &trials, const llvm::StringSet<> &gelus,
               PipelineOptions options) {
  options.schedule.searchSmallest = false; // no error is printed
  std::optional<Trial> asKernels = trials.plan(options);
  if (!asKernels)
    return std::nullopt;
  llvm::StringSet<> recomputed = recomputedIn(*asKernels->module, gelus);
  if (recomputed.size() == gelus.size())
    return std::nullopt;
  options.recomputed.emplace();
  for (StringRef gelu : recomputed.keys())
    options.recomputed->push_back(gelu.str());
  std::optional<Trial> trial = trials.plan(options);
  bool isFaster = trial && trial->nanoseconds < asKernels->nanoseconds;
  return isFaster ? options.recomputed : std::nullopt;
}

KernelChoice gpuopt::chooseKernels(ModuleOp module,
                                   const DriverOptions &options,
                                   const PipelineOptions &pipeline) {
  const train::ScheduleOptions &schedule = pipeline.schedule;
  KernelChoice choice{pipeline, std::nullopt};
  bool hasBudget = schedule.memoryBudget > 0 || schedule.activationBudget > 0;
  bool hasEpilogues = pipeline.isForGpu && pipeline.fuseEpilogues;
  if (!hasBudget || (!hasEpilogues && pipeline.precision.halfType.empty()))
    return choice;
  llvm::Expected<DeviceModel> device = loadDeviceModel(
      schedule.device, schedule.profileCosts, schedule.allowsTf32);
  if (!device) {
    llvm::consumeError(device.takeError());
    return choice;
  }
  // The passes run again on the module itself, and say then what they find.
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  KernelTrials trials(module, options, *device);
  PipelineOptions unlimited = pipeline;
  unlimited.schedule.memoryBudget = unlimited.schedule.activationBudget = 0;
  std::optional<Trial> plain = trials.plan(unlimited);
  if (!plain)
    return choice;
  choice.withoutBudget = plain->step;
  if (isWithinBudget(*plain->module, schedule.memoryBudget,
                     schedule.activationBudget)) {
    choice.options = std::move(unlimited);
    return choice;
  }
  llvm::StringSet<> gelus = gelusOfProducts(*plain->module);
  if (!gelus.empty() && !schedule.takesAny)
    choice.options.recomputed = findRecomputed(trials, gelus, pipeline);
  return choice;
}
