//===- Pipelines.h - The order of passes ------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PIPELINES_PIPELINES_H
#define GPUOPT_PIPELINES_PIPELINES_H

#include "gpuopt/Conversion/OnnxToNN/Passes.h"
#include "gpuopt/Conversion/ToDevice/Passes.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace gpuopt {

/// The phases that a model passes, each of which can be the last.
enum class Phase {
  Import,
  NN,
  Train,
  Clusters,
  Precision,
  Schedule,
  Memory,
  Device
};

/// Returns all phases in their order.
llvm::ArrayRef<Phase> allPhases();

/// Returns the phase of a name; compile_table.h has the names, in the order of
/// the enum.
std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::StringRef nameOf(Phase phase);

struct PipelineOptions {
  ConvertOnnxToNNOptions legalise;
  nn::ExpandAttentionOptions expandAttention;
  train::BuildStepOptions step;
  train::InsertLossScalingOptions lossScaling;
  /// Whether programs are for a GPU. There, the sums of a batch norm are formed
  /// in one read and merged, and masks are computed again, since reads are
  /// dear; on a processor, a second read of a tensor costs little. Libraries
  /// and staged batches take memory of a GPU that the budget has to include.
  bool isForGpu = false;
  /// The device for which kernels are shaped, as of --device: the host for a
  /// program of the host, whatever device its times are estimated for. If it is
  /// empty, that is the device of the schedule.
  std::string kernelDevice;
  /// Whether products of a GPU's library may have epilogues.
  bool fuseEpilogues = true;
  /// The origins of the tensors that a budget will have computed again, if they
  /// are known before kernels are formed. Else any tensor may be.
  std::optional<llvm::SmallVector<std::string>> recomputed;
  train::ReserveWorkspaceOptions workspace;
  train::AssignPrecisionOptions precision;
  kernels::PadRowsOptions padRows; ///< The device is that of the schedule.
  train::ScheduleOptions schedule;
  /// The plans that compilations of one model within several budgets share;
  /// null if there is one alone.
  std::shared_ptr<planning::LadderStore> ladders;
  ConvertToDeviceOptions conversion;
};

/// Adds the passes that lead from the phase before to `phase`. Only this
/// function knows the order of passes.
void addPhase(mlir::OpPassManager &passes, Phase phase,
              const PipelineOptions &options);

/// Registers the pipelines `gpuopt-to-<phase>`, each of which begins after the
/// import.
void registerPipelines();

} // namespace gpuopt

#endif // GPUOPT_PIPELINES_PIPELINES_H
