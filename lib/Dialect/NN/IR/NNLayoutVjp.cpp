//===- NNLayoutVjp.cpp - Gradients of layout changes and joins ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

using namespace mlir;
using namespace gpuopt::nn;

void ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  result[0] = b.reshape(gradients[0], b.shape(getInput()));
}

void TransposeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = index;
  result[0] = b.transpose(gradients[0], inverse);
}

void BroadcastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  result[0] = b.sumTo(gradients[0], b.shape(getInput()));
}

void SliceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                       ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  RankedTensorType type = b.type(getInput());
  SmallVector<int64_t> high, interior;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = getSizes()[dim];
    int64_t covered = size ? (size - 1) * getStrides()[dim] + 1 : 0;
    high.push_back(type.getDimSize(dim) - getOffsets()[dim] - covered);
    interior.push_back(getStrides()[dim] - 1);
  }
  result[0] = b.create<PadOp>(gradients[0], getOffsets(), high, interior,
                              b.getFloatAttr(type.getElementType(), 0));
}

void ConcatOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                        ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  if ((*this)->hasAttr(kStopsGradient))
    return;
  TensorBuilder b(getLoc(), builder);
  SmallVector<int64_t> offsets(getType().getRank(), 0),
      strides(getType().getRank(), 1);
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    if (wanted[index])
      result[index] = b.createOrFold<SliceOp>(gradients[0], offsets,
                                              b.shape(input), strides);
    offsets[getDim()] += b.shape(input)[getDim()];
  }
}

void PadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                     ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  SmallVector<int64_t> strides;
  for (int64_t interior : getInterior())
    strides.push_back(interior + 1);
  result[0] = b.createOrFold<SliceOp>(gradients[0], getLow(),
                                      b.shape(getInput()), strides);
}
