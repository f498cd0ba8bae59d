//===- ProductLayout.h - Contractions as batched products -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_PRODUCTLAYOUT_H
#define GPUOPT_DIALECT_NN_IR_PRODUCTLAYOUT_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include <array>
#include <string>

namespace gpuopt {

/// The letters of the three tensors of a contraction: "ik,kj->ij".
struct ProductSpec {
  llvm::StringRef lhs, rhs, result;

  static ProductSpec parse(llvm::StringRef text);
};

/// Returns the letters of a matrix product, with or without an epilogue, as the
/// op tells them (getProductLetters); of any other op, nothing.
std::optional<ProductSpec> productSpecOf(mlir::Operation *op);

/// Returns the type of a contraction's result, which has the operands' element
/// type, or reports an error of the op `name`: the constraints (C1) to (C4) of
/// nn.contract.
mlir::FailureOr<mlir::RankedTensorType>
inferProduct(llvm::StringRef name, std::optional<mlir::Location> loc,
             llvm::StringRef spec, mlir::RankedTensorType lhs,
             mlir::RankedTensorType rhs);

/// Returns how many operations a contraction takes: every combination of
/// letters takes one multiplication and one addition.
double productOperations(const ProductSpec &spec, mlir::RankedTensorType lhs,
                         mlir::RankedTensorType rhs);

/// The workspace that products of the library should have, in bytes.
int64_t productWorkspaceInBytes();

/// The letters of a contraction, by where they stand: in both operands and the
/// result (batch), in the left operand and the result (rows), in the right
/// operand and the result (columns), or in both operands alone (inner). They
/// are in the order of the result, and inner ones in that of the left operand.
struct ProductLetters {
  std::string batch, rows, columns, inner;
};
ProductLetters classifyLetters(const ProductSpec &spec);

/// A product on memory as it lies: C[b0,b1,i,j] = sum over k of A[b0,b1,i,k] *
/// B[b0,b1,k,j]. Strides count elements, in the order [batch 0, batch 1, row,
/// column] of each matrix.
struct ProductLayout {
  std::array<int64_t, 2> batch{1, 1};
  int64_t m = 1, n = 1, k = 1;
  std::array<int64_t, 4> a{}, b{}, c{};
};

/// Returns the layout of a contraction whose tensors lie as these views say.
/// Returns nothing if the letters do not merge into at most two dimensions of
/// batches and one each of rows, columns and inner ones, or if a matrix has no
/// dimension of stride 1. Rows, columns and inner dimensions go on through pads
/// and spare rows where all three tensors have them.
std::optional<ProductLayout> productLayout(const ProductSpec &spec,
                                           const StridedView &lhs,
                                           const StridedView &rhs,
                                           const StridedView &result);

/// Returns the layout of an op that has a ProductSpec. A bias ends with the
/// last column, so the product beside it does, too.
std::optional<ProductLayout> productLayoutOf(mlir::Operation *op,
                                             const CallLayouts &layouts);

/// Returns whether a convolution, or its gradient with respect to the input, is
/// a product of matrices, since its weights see one pixel each.
template <typename ConvT>
bool isPointwise(ConvT conv) {
  auto isAll = [](llvm::ArrayRef<int64_t> values, int64_t expected) {
    return llvm::all_of(values,
                        [&](int64_t value) { return value == expected; });
  };
  auto weights =
      llvm::cast<mlir::RankedTensorType>(conv.getWeights().getType());
  return isAll(weights.getShape().drop_front(2), 1) &&
         isAll(conv.getStrides(), 1) && isAll(conv.getPads(), 0) &&
         conv.getGroups() == 1;
}

/// Returns the constant by which a program passes a layout to the runtime.
StructConstant gemmShapeOf(const ProductLayout &layout);

} // namespace gpuopt

#endif // GPUOPT_DIALECT_NN_IR_PRODUCTLAYOUT_H
