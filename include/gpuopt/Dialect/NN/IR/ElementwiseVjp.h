//===- ElementwiseVjp.h - Gradients of arith and math ops -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_ELEMENTWISEVJP_H
#define GPUOPT_DIALECT_NN_IR_ELEMENTWISEVJP_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace gpuopt::nn {

/// A unit attribute of math.roundeven whose gradient is that of its result, as
/// if nothing were rounded: quantisation-aware training needs that.
inline constexpr llvm::StringLiteral kStraightThrough = "nn.straight_through";

/// A unit attribute of an nn.concat of one operand, to which it passes no
/// gradient. It stays until the backward is built; then the op folds.
inline constexpr llvm::StringLiteral kStopsGradient = "nn.stops_gradient";

/// A unit attribute of arith.maximumf and arith.minimumf with a constant
/// operand, which is a bound of the other one: an element at its bound gets the
/// whole gradient, as in torch.clamp.
inline constexpr llvm::StringLiteral kPassesAtBound = "nn.passes_at_bound";

/// Attaches DifferentiableOpInterface to the upstream `arith` and `math` ops
/// that have a gradient, as ops on tensors.
void registerElementwiseVjps(mlir::DialectRegistry &registry);

} // namespace gpuopt::nn

#endif // GPUOPT_DIALECT_NN_IR_ELEMENTWISEVJP_H
