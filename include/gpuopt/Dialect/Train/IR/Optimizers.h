//===- Optimizers.h - What optimizers keep for a parameter ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime declares the optimizers; these functions give what it declares in
// the compiler's types.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_IR_OPTIMIZERS_H
#define GPUOPT_DIALECT_TRAIN_IR_OPTIMIZERS_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/settings/settings_table.h"

namespace gpuopt::train {

/// Returns the names of all optimizers: "adamw or sgd".
std::string optimizerNames();

/// Returns the type of a state of `parameter`; null if such a parameter does
/// not have that state.
mlir::RankedTensorType optimizerStateType(const OptimizerState &state,
                                          mlir::RankedTensorType parameter);

/// Returns the optimizer that updates a parameter if `chosen` was asked for.
const OptimizerInfo &optimizerOf(const OptimizerInfo &chosen,
                                 VariableOp parameter);

/// Returns the type of the memory that the update needs for itself; null if it
/// needs none.
mlir::RankedTensorType updateScratchType(UpdateOp op);

} // namespace gpuopt::train

#endif // GPUOPT_DIALECT_TRAIN_IR_OPTIMIZERS_H
