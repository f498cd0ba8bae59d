//===- StepParts.h - Forward, backward and update of a step -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the parts of a step begin: the sections of programs, of profiles and of
// the memory by phase are these.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_STEPPARTS_H
#define GPUOPT_ANALYSIS_MEMORY_STEPPARTS_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt {

enum class StepPart { Forward, Backward, Update };

/// Follows the ops of a step in their order.
class StepPartFinder {
public:
  /// Returns the part that the next op, `op`, belongs to. The backward begins
  /// behind the report of the whole loss, and the update with the norm of the
  /// gradient.
  StepPart next(mlir::Operation *op) {
    if (mlir::isa<train::GradNormOp>(op))
      part = StepPart::Update;
    StepPart own = part;
    auto loss = mlir::dyn_cast<train::ReportLossOp>(op);
    if (loss && !loss.getPart())
      part = StepPart::Backward;
    return own;
  }

private:
  StepPart part = StepPart::Forward;
};

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_STEPPARTS_H
