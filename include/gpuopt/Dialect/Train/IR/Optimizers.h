//===- Optimizers.h - What optimizers keep for a parameter ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations of the optimizers, which the runtime has, in the compiler's
// types.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_IR_OPTIMIZERS_H
#define GPUOPT_DIALECT_TRAIN_IR_OPTIMIZERS_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/settings/settings_table.h"

namespace gpuopt::train {

/// "adamw or sgd"
std::string optimizerNames();

/// The type of a state of `parameter`; null where such a parameter has none.
mlir::RankedTensorType optimizerStateType(const OptimizerState &state,
                                          mlir::RankedTensorType parameter);

/// The optimizer that updates a parameter where `chosen` was asked for.
const OptimizerInfo &optimizerOf(const OptimizerInfo &chosen,
                                 VariableOp parameter);

/// The memory that the update needs for itself; null where it needs none.
mlir::RankedTensorType updateScratchType(UpdateOp op);

} // namespace gpuopt::train

#endif // GPUOPT_DIALECT_TRAIN_IR_OPTIMIZERS_H
