//===- Orthogonalize.h - A nearly orthogonal matrix by products -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_TRAIN_TRANSFORMS_ORTHOGONALIZE_H
#define GPUOPT_DIALECT_TRAIN_TRANSFORMS_ORTHOGONALIZE_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

namespace gpuopt::train {

/// Builds what torch.optim.Muon makes of a direction: a matrix with the same
/// singular vectors, whose singular values lie around 1. It takes five steps of
/// a Newton-Schulz iteration, which needs nothing but products. Where S is the
/// smaller one of X X^T and X^T X, one step is
///
///   X := a X + (b S + c S S) X        or, with S = X^T X, the same from the
///   right
///
/// and maps each singular value x to a x + b x^3 + c x^5. Jordan et al., "Muon:
/// an optimizer for hidden layers in neural networks" (2024).
mlir::Value orthogonalize(nn::TensorBuilder &b, mlir::Value matrix);

} // namespace gpuopt::train

#endif // GPUOPT_DIALECT_TRAIN_TRANSFORMS_ORTHOGONALIZE_H
