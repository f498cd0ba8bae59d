//===- ArenaBudget.h - What a memory budget leaves for arenas ---*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_ARENABUDGET_H
#define GPUOPT_ANALYSIS_MEMORY_ARENABUDGET_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt {

/// Returns the bytes before the arena, for all steps of a module.
int64_t persistentBytesOf(mlir::ModuleOp module);

/// Returns how large an arena may be beside so many persistent bytes, in whole
/// multiples of the buffers' alignment. A budget of 0 is no limit.
int64_t arenaBudgetOf(int64_t memoryBudget, int64_t activationBudget,
                      int64_t persistentBytes);

/// Returns whether all steps of a module are within the budgets as they are.
/// Its state is planned.
bool isWithinBudget(mlir::ModuleOp module, int64_t memoryBudget,
                    int64_t activationBudget);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_ARENABUDGET_H
