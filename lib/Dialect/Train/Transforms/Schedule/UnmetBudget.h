//===- UnmetBudget.h - Why a step does not fit ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts for users about a budget that cannot be met.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_UNMETBUDGET_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_UNMETBUDGET_H

#include "Schedule/ScheduleStep.h"

namespace gpuopt::train {

/// The bytes before the arena, by what they are for, the largest part first.
using PersistentParts = std::vector<std::pair<std::string, int64_t>>;
PersistentParts persistentPartsOf(mlir::ModuleOp module);

/// Returns "; beside activations, the program keeps parameters (3.22 MiB),
/// ..."; empty if there are no parts.
std::string textOf(const PersistentParts &parts);

/// Returns "; the largest tensors alive at '/fc/Gemm' are: /fc/Gemm
/// f32[64,2048] (512 KiB)".
std::string textOfPeak(const UnmetBudget &unmet);

/// Returns the value of `train.unmet_budget`.
UnmetBudgetAttr describeUnmet(mlir::MLIRContext *context,
                              int64_t smallestInBytes,
                              int64_t lowerLimitInBytes,
                              const PersistentParts &parts,
                              const UnmetBudget &unmet);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_UNMETBUDGET_H
