//===- NNContractionVjp.cpp - Gradients of contractions, norms, losses ----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatisticsVjp.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

//===----------------------------------------------------------------------===//
// Contractions, reductions, gathers
//===----------------------------------------------------------------------===//

void ContractOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                          ArrayRef<bool> wanted,
                          MutableArrayRef<Value> result) {
  // (C3) makes each gradient a contraction as well: a letter of one tensor
  // stands in at least one of the two others.
  TensorBuilder b(getLoc(), builder);
  StringRef lhs = getLhsLetters(), rhs = getRhsLetters(),
            out = getResultLetters();
  if (wanted[0])
    result[0] = b.create<ContractOp>((out + "," + rhs + "->" + lhs).str(),
                                     gradients[0], getRhs());
  if (wanted[1])
    result[1] = b.create<ContractOp>((lhs + "," + out + "->" + rhs).str(),
                                     getLhs(), gradients[0]);
  unsigned next = 2;
  if (getAccumulator() && wanted[next++])
    result[next - 1] = gradients[0];
  if (getBias() && wanted[next])
    result[next] = b.sumTo(gradients[0], b.shape(getBias()));
}

void ReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                        ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  Value input = getInput();
  switch (getKind()) {
  case ReductionKind::Sum:
    result[0] = b.broadcast(gradients[0], b.shape(input));
    return;
  case ReductionKind::Max:
  case ReductionKind::Min: {
    // Equal extremes share the gradient evenly, as in PyTorch's amax and amin.
    Value isExtreme =
        b.toFloat(b.compare(arith::CmpFPredicate::OEQ, input, getResult()),
                  b.type(input).getElementType());
    Value count = b.sum(isExtreme, getDims());
    result[0] = b.mul(isExtreme, b.div(gradients[0], count));
    return;
  }
  case ReductionKind::Prod: {
    // The slope is the product of all other elements. It is the product of all
    // elements that are not 0, divided by this element unless it is 0; where
    // another element is 0, the slope is 0.
    RankedTensorType type = b.type(input);
    Value isZero =
        b.compare(arith::CmpFPredicate::OEQ, input, b.splat(0, type));
    Value nonzero = b.select(isZero, b.splat(1, type), input);
    Value product = b.reduce(ReductionKind::Prod, nonzero, getDims());
    Value zero = b.toFloat(isZero, type.getElementType());
    Value otherZeros = b.sub(b.sum(zero, getDims()), zero);
    Value hasNone =
        b.compare(arith::CmpFPredicate::OEQ, otherZeros, b.splat(0, type));
    Value others = b.select(hasNone, b.div(product, nonzero), b.splat(0, type));
    result[0] = b.mul(gradients[0], others);
    return;
  }
  }
}

void TakeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                      ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  if (!wanted[0])
    return;
  TensorBuilder b(getLoc(), builder);
  result[0] =
      b.create<ScatterAddOp>(gradients[0], getIndices(),
                             b.shape(getTable()).front(), Value(), TypeAttr());
}

void ScatterAddOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                            ArrayRef<bool> wanted,
                            MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  if (wanted[0])
    result[0] = b.create<TakeOp>(gradients[0], getIndices());
  if (getAccumulator() && wanted[2])
    result[2] = gradients[0];
}

//===----------------------------------------------------------------------===//
// Softmax and normalisation
//===----------------------------------------------------------------------===//

void SoftmaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  // dx = y * (dy - sum(dy * y))
  TensorBuilder b(getLoc(), builder);
  Value dy = gradients[0], y = getResult();
  Value dot = b.sum(b.mul(dy, y), getDim());
  result[0] = b.mul(y, b.sub(dy, dot));
}

void LogSoftmaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                            ArrayRef<bool> wanted,
                            MutableArrayRef<Value> result) {
  // dx = dy - exp(y) * sum(dy)
  TensorBuilder b(getLoc(), builder);
  Value total = b.sum(gradients[0], getDim());
  result[0] = b.sub(gradients[0], b.mul(b.exp(getResult()), total));
}

static int64_t countOf(Value x, ArrayRef<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims)
    n *= TensorBuilder::shape(x)[dim];
  return n;
}

/// Returns dx of y = (x - mean) * rstd, whose statistics are taken over the n
/// elements of `dims`: rstd * (g - mean(g) - xhat * mean(g * xhat)).
static Value normalisationVjp(TensorBuilder &b, Value g, Value xhat, Value rstd,
                              ArrayRef<int64_t> dims) {
  int64_t n = countOf(g, dims);
  Value meanG = b.mul(b.sum(g, dims), 1.0 / n);
  Value meanGX = b.mul(b.sum(b.mul(g, xhat), dims), 1.0 / n);
  return b.mul(b.sub(b.sub(g, meanG), b.mul(xhat, meanGX)), rstd);
}

void LayerNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> result) {
  Value dy = gradients[0];
  TensorBuilder b(getLoc(), builder);
  unsigned biasIndex = getScale() ? 2 : 1;
  auto dims = llvm::to_vector(
      llvm::seq<int64_t>(getAxis(), b.type(getInput()).getRank()));
  if (wanted[0])
    result[0] = statisticsVjp(
        b, {gradients[1], varianceVjp(b, gradients[2], getRstd())}, getInput(),
        getMean(), countOf(getInput(), dims));
  if (!dy)
    return;
  Value xhat = b.mul(b.sub(getInput(), getMean()), getRstd());
  if (wanted[0]) {
    Value g = getScale() ? b.mul(dy, getScale()) : dy;
    result[0] = sumOfGradients(b, normalisationVjp(b, g, xhat, getRstd(), dims),
                               result[0]);
  }
  if (getScale() && wanted[1])
    result[1] = b.sumTo(b.mul(dy, xhat), b.shape(getScale()));
  if (getBias() && wanted[biasIndex])
    result[biasIndex] = b.sumTo(dy, b.shape(getBias()));
}

/// Builds the gradients of a frozen batch norm, whose statistics are operands.
static void frozenVjp(TensorBuilder &b, BatchNormOp op,
                      ArrayRef<Value> gradients, ArrayRef<bool> wanted,
                      MutableArrayRef<Value> result) {
  constexpr unsigned kMean = 3, kVariance = 4;
  ArrayRef<int64_t> channels = b.shape(op.getScale());
  Value rstd = op.getRstd(), ofMean = gradients[3], ofRstd = gradients[4];
  if (Value dy = gradients[0]) {
    Value g = b.mul(b.mul(dy, op.getScale()), rstd);
    if (wanted[0])
      result[0] = g;
    if (wanted[kMean])
      ofMean = sumOfGradients(b, b.neg(b.sumTo(g, b.shape(rstd))), ofMean);
    if (wanted[kVariance]) {
      Value centred = b.sub(op.getInput(), op.getMean());
      Value product = b.mul(b.mul(dy, op.getScale()), centred);
      ofRstd = sumOfGradients(b, b.sumTo(product, b.shape(rstd)), ofRstd);
    }
  }
  Value ofVariance = varianceVjp(b, ofRstd, rstd);
  auto perChannel = [&](Value gradient) {
    return gradient ? b.reshape(gradient, channels) : Value();
  };
  // The running statistics do not change: they are results as well.
  if (wanted[kMean])
    result[kMean] = sumOfGradients(b, perChannel(ofMean), gradients[1]);
  if (wanted[kVariance])
    result[kVariance] = sumOfGradients(b, perChannel(ofVariance), gradients[2]);
}

/// Builds the gradients of the input and of the running statistics of a batch
/// norm in training.
static void trainedVjp(TensorBuilder &b, BatchNormOp op,
                       ArrayRef<Value> gradients, ArrayRef<bool> wanted,
                       MutableArrayRef<Value> result) {
  Value x = op.getInput();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, b.type(x).getRank() - 1));
  double momentum = op.getMomentum().convertToDouble(), n = countOf(x, dims);
  for (unsigned statistic : {3u, 4u})
    if (wanted[statistic])
      result[statistic] =
          scaledGradient(b, gradients[statistic - 2], 1 - momentum);
  if (!wanted[0])
    return;
  Value ofStatistics = statisticsVjp(
      b, gradientsOfStatistics(b, gradients, op.getRstd(), momentum, n), x,
      op.getMean(), n);
  Value ofResult;
  if (Value dy = gradients[0]) {
    Value xhat = b.mul(b.sub(x, op.getMean()), op.getRstd());
    ofResult =
        normalisationVjp(b, b.mul(dy, op.getScale()), xhat, op.getRstd(), dims);
  }
  result[0] = sumOfGradients(b, ofResult, ofStatistics);
}

void BatchNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  (getFrozen() ? frozenVjp : trainedVjp)(b, *this, gradients, wanted, result);
  Value dy = gradients[0];
  if (!dy)
    return;
  if (wanted[1]) {
    Value xhat = b.mul(b.sub(getInput(), getMean()), getRstd());
    result[1] = b.sumTo(b.mul(dy, xhat), b.shape(getScale()));
  }
  if (wanted[2])
    result[2] = b.sumTo(dy, b.shape(getBias()));
}

void DropoutOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  // The same stream draws the same mask again.
  TensorBuilder b(getLoc(), builder);
  result[0] = b.create<DropoutOp>(gradients[0], getRatio(), getStream());
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

void CrossEntropyOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> result) {
  if (!wanted[0] || !gradients[0])
    return;
  // d logits = (softmax - (1 - s) * onehot - s / C) * d loss, 0 where ignored.
  TensorBuilder b(getLoc(), builder);
  RankedTensorType type = b.type(getLogits());
  int64_t classes = type.getShape().back();
  double smoothing = getLabelSmoothing().convertToDouble();
  Value softmax = b.exp(b.sub(getLogits(), getLogSumExp()));
  Value labels = b.reshape(getLabels(), b.shape(getLoss()));
  Value classIndex =
      b.create<IotaOp>(type.clone(b.getI64Type()), type.getRank() - 1);
  Value isLabel = b.compare(arith::CmpIPredicate::eq, classIndex, labels);
  Value target =
      b.select(isLabel, b.splat(1 - smoothing + smoothing / classes, type),
               b.splat(smoothing / classes, type));
  Value ignored = b.compare(arith::CmpIPredicate::eq, labels,
                            b.splat((int64_t)getIgnoreIndex(), b.type(labels)));
  Value weight =
      b.select(ignored, b.splat(0, b.type(gradients[0])), gradients[0]);
  result[0] = b.mul(b.sub(softmax, target), weight);
}
