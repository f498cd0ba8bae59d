//===- KernelChoice.cpp - Kernels within a budget -------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/KernelChoice.h"

#include "gpuopt/Analysis/Memory/ArenaBudget.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// A program that was planned up to its schedule.
struct Trial {
  OwningOpRef<ModuleOp> module;
  StepEstimate step; ///< Without what is computed again.
};

/// Plans programs of one module, to choose among them.
class KernelTrials {
public:
  KernelTrials(ModuleOp module, const DriverOptions &driver,
               const DeviceModel &device)
      : module(module), driver(driver), device(device) {}

  std::optional<Trial> plan(const PipelineOptions &options) {
    Trial trial;
    trial.module = module.clone();
    if (failed(
            run(*trial.module, {Phase::Clusters, Phase::Precision}, options)))
      return std::nullopt;
    trial.step =
        estimateStep(*trial.module, device, driver.emission.accumulationSteps);
    if (failed(run(*trial.module, {Phase::Schedule}, options)))
      return std::nullopt;
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
  const DriverOptions &driver;
  const DeviceModel &device;
};

} // namespace

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
                     schedule.activationBudget))
    choice.options = std::move(unlimited);
  return choice;
}
