//===- NNWindowVjp.cpp - Gradients of convolution and pooling -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

using namespace mlir;
using namespace gpuopt::nn;

void ConvOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                      ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  if (wanted[0])
    result[0] = b.create<ConvInputGradOp>(getInput().getType(), gradients[0],
                                          getWeights(), getStrides(), getPads(),
                                          getDilations(), getGroups());
  if (wanted[1])
    result[1] = b.create<ConvWeightGradOp>(
        getWeights().getType(), getInput(), gradients[0], getStrides(),
        getPads(), getDilations(), getGroups());
}

void ConvInputGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                               ArrayRef<bool> wanted,
                               MutableArrayRef<Value> result) {
  // The op is linear in each operand and the adjoint of the convolution.
  TensorBuilder b(getLoc(), builder);
  if (wanted[0])
    result[0] = b.create<ConvOp>(gradients[0], getWeights(), getStrides(),
                                 getPads(), getDilations(), getGroups());
  if (wanted[1])
    result[1] = b.create<ConvWeightGradOp>(
        getWeights().getType(), gradients[0], getGradient(), getStrides(),
        getPads(), getDilations(), getGroups());
}

void MaxPoolOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  if (gradients[0])
    result[0] = b.create<MaxPoolGradOp>(getInput().getType(), gradients[0],
                                        getArgmax(), getKernel(), getStrides(),
                                        getPads(), getDilations());
}

void AvgPoolOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  result[0] =
      b.create<AvgPoolGradOp>(getInput().getType(), gradients[0], getKernel(),
                              getStrides(), getPads(), getCountIncludePad());
}
