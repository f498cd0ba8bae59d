//===- UnmetBudget.h - Why a step does not fit ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a user is told of a budget that cannot be met.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_UNMETBUDGET_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_UNMETBUDGET_H

#include "ScheduleStep.h"

namespace gpuopt::train {

/// Bytes of what lies before the arena, by what it is for, the largest first.
using PersistentParts = std::vector<std::pair<std::string, int64_t>>;
PersistentParts persistentPartsOf(mlir::ModuleOp module);

/// "; beside activations: parameters (3.22 MiB), ..."; empty without any.
std::string textOf(const PersistentParts &parts);

/// "; the largest tensors alive at '/fc/Gemm' are: /fc/Gemm f32[64,2048] (512
/// KiB)"
std::string textOfPeak(const UnmetBudget &unmet);

/// The value of `train.unmet_budget`.
UnmetBudgetAttr describeUnmet(mlir::MLIRContext *context,
                              int64_t smallestInBytes,
                              int64_t lowerLimitInBytes,
                              const PersistentParts &parts,
                              const UnmetBudget &unmet);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_UNMETBUDGET_H
