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

enum class Fate { Saved, Recomputed, Offloaded };
llvm::StringRef nameOf(Fate fate);

/// What became of a result of the forward that the backward reads.
struct TensorDecision {
  std::string origin; ///< The ONNX node.
  int64_t bytes = 0;
  Fate fate = Fate::Saved;
  std::string reason;
};

/// Saved, recomputed and offloaded tensors of the training step, of a module
/// after the phase `schedule`.
std::vector<TensorDecision> describeDecisions(mlir::ModuleOp module);

/// All bytes but those of the host are those of the one allocation.
struct MemoryReport {
  int64_t totalBytes = 0, arenaBytes = 0, persistentBytes = 0;
  int64_t hostBytes = 0; ///< Where offloaded tensors wait.
  /// The persistent part: parameters, gradients (of accumulation), optimizer
  /// state, buffers, inputs, outputs, constants, scalars and padding.
  std::vector<std::pair<std::string, int64_t>> persistent;
  /// Of the step with the highest arena.
  std::string step;
  int64_t plainArenaBytes = 0;
  double plainMilliseconds = 0, addedPercent = 0, lowerBoundPercent = 0;
  /// To and from the host, and how long the step's work waits for it.
  int64_t transferBytes = 0;
  double transferMilliseconds = 0, transferWaitMilliseconds = 0;
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
