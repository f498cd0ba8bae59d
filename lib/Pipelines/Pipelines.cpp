//===- Pipelines.cpp - The order of passes --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/Pipelines.h"

#include "gpuopt/Dialect/Device/Transforms/Passes.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "gpuopt/Pipelines/Passes.h"
#include "gpuopt/Planning/Recompute/LadderStore.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace gpuopt;

static constexpr Phase kPhases[] = {
    Phase::Import,    Phase::NN,       Phase::Train,  Phase::Clusters,
    Phase::Precision, Phase::Schedule, Phase::Memory, Phase::Device};

ArrayRef<Phase> gpuopt::allPhases() { return kPhases; }

StringRef gpuopt::nameOf(Phase phase) {
  switch (phase) {
  case Phase::Import:
    return "import";
  case Phase::NN:
    return "nn";
  case Phase::Train:
    return "train";
  case Phase::Clusters:
    return "clusters";
  case Phase::Precision:
    return "precision";
  case Phase::Schedule:
    return "schedule";
  case Phase::Memory:
    return "memory";
  case Phase::Device:
    return "device";
  }
  return "";
}

std::optional<Phase> gpuopt::parsePhase(StringRef name) {
  for (Phase phase : kPhases)
    if (nameOf(phase) == name)
      return phase;
  return std::nullopt;
}

static void addCleanup(OpPassManager &passes) {
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

/// Precisions are chosen for the device and the budget that the schedule has.
static train::AssignPrecisionOptions
withBudget(train::AssignPrecisionOptions options,
           const train::ScheduleOptions &schedule) {
  options.device = schedule.device;
  options.memoryBudget = schedule.memoryBudget;
  options.activationBudget = schedule.activationBudget;
  options.allowOffload = schedule.allowOffload;
  options.offloadBandwidth = schedule.offloadBandwidth;
  return options;
}

void gpuopt::addPhase(OpPassManager &passes, Phase phase,
                      const PipelineOptions &options) {
  auto ladders = options.ladders ? options.ladders
                                 : std::make_shared<planning::LadderStore>();
  switch (phase) {
  case Phase::Import:
    return;
  case Phase::NN:
    passes.addPass(createConvertOnnxToNN(options.legalise));
    passes.addPass(nn::createWidenHalf());
    addCleanup(passes);
    passes.addPass(nn::createRecognizeAttention());
    passes.addPass(nn::createRecognizeGelu());
    passes.addPass(createVerifyNN());
    return;
  case Phase::Train:
    passes.addPass(nn::createExpandAttention());
    passes.addPass(createCSEPass()); // masks that layers share
    passes.addPass(train::createBuildStep(options.step));
    passes.addPass(train::createInsertLossScaling(options.lossScaling));
    addCleanup(passes);
    passes.addPass(createVerifyTrain());
    return;
  case Phase::Clusters:
    passes.addPass(nn::createDecompose());
    passes.addPass(nn::createAbsorbLayouts());
    addCleanup(passes);
    // Folding the constants of one round can open a way for reshapes.
    passes.addPass(nn::createAbsorbLayouts());
    addCleanup(passes);
    passes.addPass(nn::createCompactConstants());
    passes.addPass(nn::createSplitReductions());
    passes.addPass(nn::createAccumulateProducts());
    passes.addPass(nn::createAbsorbBiases());
    passes.addPass(nn::createFormClusters());
    passes.addPass(nn::createMaterializeViews());
    passes.addPass(nn::createHoistReaders());
    passes.addPass(createVerifyClusters());
    return;
  case Phase::Precision:
    if (options.reservesWorkspace)
      passes.addPass(train::createReserveWorkspace(options.workspace));
    passes.addPass(train::createAssignPrecision(
        withBudget(options.precision, options.schedule), ladders));
    passes.addPass(train::createInsertCasts());
    passes.addPass(createVerifyPrecision());
    return;
  case Phase::Schedule:
    passes.addPass(nn::createPlaceResults());
    passes.addPass(train::createSchedule(options.schedule, ladders));
    passes.addPass(createVerifySchedule());
    return;
  case Phase::Memory:
    passes.addPass(train::createPlanMemory());
    passes.addPass(createVerifySchedule());
    passes.addPass(createVerifyMemory());
    return;
  case Phase::Device:
    passes.addPass(createConvertToDevice(options.device));
    passes.addPass(createVerifyDevice());
    passes.addPass(device::createRollLoops());
    return;
  }
}

void gpuopt::registerPipelines() {
  for (Phase last : kPhases) {
    if (last == Phase::Import)
      continue;
    std::string name = ("gpuopt-to-" + nameOf(last)).str();
    std::string description =
        ("From an imported model to the phase '" + nameOf(last) + "'").str();
    auto build = [last,
                  name](OpPassManager &passes, StringRef options,
                        llvm::function_ref<LogicalResult(const Twine &)> fail)
        -> LogicalResult {
      if (!options.empty())
        return fail("'" + name + "' takes no options, but got '" + options +
                    "'");
      for (Phase phase : kPhases)
        if (phase <= last)
          addPhase(passes, phase, PipelineOptions());
      return success();
    };
    registerPassPipeline(name, description, build, [](auto) {});
  }
}
