//===- DifferentiateScan.h - The gradient of a loop -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_DIFFERENTIATESCAN_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_DIFFERENTIATESCAN_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

namespace gpuopt::train {

/// Builds the gradients of the operands of a loop, at the builder's insertion
/// point; the arguments are those of DifferentiableOpInterface. Fails, with an
/// error at each, if an op of the body has no gradient.
mlir::LogicalResult
differentiateScan(mlir::OpBuilder &builder, nn::ScanOp op,
                  llvm::ArrayRef<mlir::Value> resultGradients,
                  llvm::ArrayRef<bool> wanted,
                  llvm::MutableArrayRef<mlir::Value> operandGradients);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_DIFFERENTIATESCAN_H
