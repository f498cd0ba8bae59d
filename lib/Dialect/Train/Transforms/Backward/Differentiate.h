//===- Differentiate.h - Reverse-mode differentiation -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_DIFFERENTIATE_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_DIFFERENTIATE_H

#include "mlir/IR/Builders.h"

namespace gpuopt::train {

/// Appends, at the builder's insertion point, the ops that compute the
/// gradients of `target` in `sources`, given the gradient of the whole
/// computation in `target` (`seed`). All values are in one block. Only ops on a
/// path from a source to the target are visited. `gradients` has one entry per
/// source, null where the target does not depend on it. Fails, with an error at
/// each, if an op on a path has no gradient (DifferentiableOpInterface).
mlir::LogicalResult
differentiate(mlir::OpBuilder &builder, mlir::Value target, mlir::Value seed,
              llvm::ArrayRef<mlir::Value> sources,
              llvm::SmallVectorImpl<mlir::Value> &gradients);

/// The same for several targets, each with the gradient in it of the whole
/// computation. `last` is the last op that is visited.
mlir::LogicalResult
differentiate(mlir::OpBuilder &builder, mlir::Operation *last,
              llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> targets,
              llvm::ArrayRef<mlir::Value> sources,
              llvm::SmallVectorImpl<mlir::Value> &gradients);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_DIFFERENTIATE_H
