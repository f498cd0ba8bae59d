//===- PlanReport.h - What a program allocates, and for what ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_PLANREPORT_H
#define GPUOPT_LIB_DRIVER_PLANREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace gpuopt {

/// What became of a result of the forward that the backward reads.
struct TensorDecision {
  std::string origin; ///< The ONNX node.
  int64_t bytes = 0;
  bool isRecomputed = false; ///< Else it is saved.
  std::string reason;
};

/// Saved and recomputed tensors of the training step, of a module after the
/// phase `schedule`.
std::vector<TensorDecision> describeDecisions(mlir::ModuleOp module);

/// All bytes are those of the one allocation.
struct MemoryReport {
  int64_t totalBytes = 0, arenaBytes = 0, persistentBytes = 0;
  /// The persistent part: parameters, gradients (of accumulation), optimizer
  /// state, buffers, inputs, outputs, constants, scalars and padding.
  std::vector<std::pair<std::string, int64_t>> persistent;
  /// Of the step with the highest arena.
  std::string step;
  int64_t plainArenaBytes = 0;
  double plainMilliseconds = 0, addedPercent = 0, lowerBoundPercent = 0;
  /// Where most bytes of the arena are alive: the moment, in ops of the step,
  /// the tensor that is made there, and the tensors, the largest first.
  int64_t peakMoment = 0;
  std::string peakOrigin;
  std::vector<std::pair<std::string, int64_t>> alive;
};

/// Of a module after the phase `device`.
MemoryReport describeMemory(mlir::ModuleOp module);

llvm::json::Object toJson(const MemoryReport &report);
llvm::json::Array toJson(const std::vector<TensorDecision> &decisions);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_PLANREPORT_H
