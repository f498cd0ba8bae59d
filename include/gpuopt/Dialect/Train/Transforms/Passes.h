//===- Passes.h - Passes on the train dialect -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_TRANSFORMS_PASSES_H
#define GPUOPT_DIALECT_TRAIN_TRANSFORMS_PASSES_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt::planning {
class LadderStore;
} // namespace gpuopt::planning

namespace gpuopt::train {

#define GEN_PASS_DECL
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"

/// These passes make the same plans as those without a store, but reuse what
/// was found for the same step within other budgets.
std::unique_ptr<mlir::Pass>
createSchedule(const ScheduleOptions &options,
               std::shared_ptr<planning::LadderStore> ladders);
std::unique_ptr<mlir::Pass>
createAssignPrecision(const AssignPrecisionOptions &options,
                      std::shared_ptr<planning::LadderStore> ladders);

#define GEN_PASS_REGISTRATION
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"

} // namespace gpuopt::train

#endif // GPUOPT_DIALECT_TRAIN_TRANSFORMS_PASSES_H
