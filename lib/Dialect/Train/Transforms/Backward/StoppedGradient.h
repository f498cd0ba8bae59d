//===- StoppedGradient.h - Where no gradient passes -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_STOPPEDGRADIENT_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_STOPPEDGRADIENT_H

#include "mlir/IR/Operation.h"

namespace gpuopt::train {

/// Reports, at the model's function, that the loss `target` has a gradient in
/// none of `sources`, the parameters. The message names the first op on a path
/// from one of them to the loss whose result is no floating-point tensor or
/// changes in steps. All values are in one block.
mlir::LogicalResult refuseWithoutGradients(mlir::Operation *forward,
                                           mlir::Value target,
                                           llvm::ArrayRef<mlir::Value> sources);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_STOPPEDGRADIENT_H
