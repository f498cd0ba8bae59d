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
#include "mlir/Pass/PassManager.h"

namespace gpuopt {

/// How far a model has come.
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

/// In their order.
llvm::ArrayRef<Phase> allPhases();

/// By name: import, nn, train, clusters, precision, schedule, memory, device.
std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::StringRef nameOf(Phase phase);

struct PipelineOptions {
  ConvertOnnxToNNOptions legalise;
  nn::ExpandAttentionOptions expandAttention;
  train::BuildStepOptions step;
  train::InsertLossScalingOptions lossScaling;
  /// Libraries and staged batches take memory of the device (CUDA).
  bool reservesWorkspace = false;
  train::ReserveWorkspaceOptions workspace;
  train::AssignPrecisionOptions precision;
  train::ScheduleOptions schedule;
  /// Shared by compilations of one model within several budgets; null: none.
  std::shared_ptr<planning::LadderStore> ladders;
  ConvertToDeviceOptions conversion;
};

/// Adds the passes that lead from the phase before to `phase`. This is the one
/// place that knows their order.
void addPhase(mlir::OpPassManager &passes, Phase phase,
              const PipelineOptions &options);

/// Registers `gpuopt-to-<phase>` pipelines, each from the import on.
void registerPipelines();

} // namespace gpuopt

#endif // GPUOPT_PIPELINES_PIPELINES_H
