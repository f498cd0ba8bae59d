//===- TensorBuilder.h - Tensor arithmetic like formulas --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_TENSORBUILDER_H
#define GPUOPT_DIALECT_NN_IR_TENSORBUILDER_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gpuopt::nn {

/// Builds elementwise work on tensors of floating-point type so that gradients
/// and decompositions read like their formulas. Operands of two-operand
/// functions are broadcast to each other by NumPy's rule. Everything is folded
/// where a folder knows how.
class TensorBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using mlir::ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  static mlir::RankedTensorType type(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  static llvm::ArrayRef<int64_t> shape(mlir::Value value) {
    return type(value).getShape();
  }

  /// Returns a tensor of `like`'s shape and element type (floating-point,
  /// integer or boolean) whose elements are all `value`.
  mlir::Value splat(double value, mlir::RankedTensorType like);

  mlir::Value add(mlir::Value a, mlir::Value b) {
    return elementwise<mlir::arith::AddFOp>(a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return elementwise<mlir::arith::SubFOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return elementwise<mlir::arith::MulFOp>(a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return elementwise<mlir::arith::DivFOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, splat(b, type(a))); }
  mlir::Value add(mlir::Value a, double b) { return add(a, splat(b, type(a))); }
  mlir::Value neg(mlir::Value a) {
    return createOrFold<mlir::arith::NegFOp>(a);
  }
  mlir::Value exp(mlir::Value a) { return createOrFold<mlir::math::ExpOp>(a); }
  mlir::Value log(mlir::Value a) { return createOrFold<mlir::math::LogOp>(a); }
  mlir::Value rsqrt(mlir::Value a) {
    return createOrFold<mlir::math::RsqrtOp>(a);
  }
  /// Returns 1 / (1 + exp(-x)), without an exponential that overflows: that
  /// would make the gradient a NaN.
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);
  /// Returns 1 where the condition is true and 0 where it is false, in
  /// `elementType`.
  mlir::Value toFloat(mlir::Value condition, mlir::Type elementType);

  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reduce(ReductionKind kind, mlir::Value value,
                     llvm::ArrayRef<int64_t> dims);
  mlir::Value sum(mlir::Value value, llvm::ArrayRef<int64_t> dims) {
    return reduce(ReductionKind::Sum, value, dims);
  }
  /// Sums over what broadcasting a tensor of `shape` to that of `value` has
  /// repeated; the result has `shape`.
  mlir::Value sumTo(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  /// Returns the shape that both operands broadcast to by NumPy's rule; asserts
  /// that there is one.
  static llvm::SmallVector<int64_t> commonShape(llvm::ArrayRef<int64_t> a,
                                                llvm::ArrayRef<int64_t> b);

private:
  template <typename OpT>
  mlir::Value elementwise(mlir::Value a, mlir::Value b) {
    auto common = commonShape(shape(a), shape(b));
    return createOrFold<OpT>(broadcast(a, common), broadcast(b, common));
  }
};

/// Returns the factor by which the unbiased variance of `n` elements is larger
/// than the biased one; 1 for one element.
inline double unbiasedFactor(double n) { return n > 1 ? n / (n - 1) : 1; }

} // namespace gpuopt::nn

#endif // GPUOPT_DIALECT_NN_IR_TENSORBUILDER_H
