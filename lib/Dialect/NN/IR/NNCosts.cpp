//===- NNCosts.cpp - How much arithmetic the ops of nn are ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static double elementsOf(Value value) {
  return tensorType(value).getNumElements();
}

//===----------------------------------------------------------------------===//
// Products and convolutions
//===----------------------------------------------------------------------===//

double ContractOp::getFloatingPointOperations() {
  return productOperations(ProductSpec::parse(getSpec()), tensorType(getLhs()),
                           tensorType(getRhs()));
}
bool ContractOp::usesMatrixUnits() { return true; }

/// Each element of `output` (N x OH x OW x O) takes one product with each of
/// its output channel's weights (O x C/groups x KH x KW).
static double convOperations(Value output, Value weights) {
  return 2 * elementsOf(output) * elementsOf(weights) /
         tensorType(weights).getDimSize(0);
}
double ConvOp::getFloatingPointOperations() {
  return convOperations(getResult(), getWeights());
}
bool ConvOp::usesMatrixUnits() { return true; }
double ConvWithSumsOp::getFloatingPointOperations() {
  return convOperations(getResult(), getWeights());
}
bool ConvWithSumsOp::usesMatrixUnits() { return true; }
double ConvInputGradOp::getFloatingPointOperations() {
  return convOperations(getGradient(), getWeights());
}
bool ConvInputGradOp::usesMatrixUnits() { return true; }
double ConvWeightGradOp::getFloatingPointOperations() {
  return convOperations(getGradient(), getResult());
}
bool ConvWeightGradOp::usesMatrixUnits() { return true; }

//===----------------------------------------------------------------------===//
// Reductions, windows, indices
//===----------------------------------------------------------------------===//

static double windowSize(ArrayRef<int64_t> kernel) {
  return (double)kernel[0] * kernel[1];
}

double ReduceOp::getFloatingPointOperations() { return elementsOf(getInput()); }
double PartialSumOp::getFloatingPointOperations() {
  return elementsOf(getInput());
}
double SumPartsOp::getFloatingPointOperations() {
  return elementsOf(getParts());
}
double MaxPoolOp::getFloatingPointOperations() {
  return elementsOf(getResult()) * windowSize(getKernel());
}
double MaxPoolGradOp::getFloatingPointOperations() {
  return elementsOf(getResult()) * windowSize(getKernel());
}
double AvgPoolOp::getFloatingPointOperations() {
  return elementsOf(getResult()) * windowSize(getKernel());
}
double AvgPoolGradOp::getFloatingPointOperations() {
  return elementsOf(getResult()) * windowSize(getKernel());
}
double TakeOp::getFloatingPointOperations() { return 0; }
double ScatterAddOp::getFloatingPointOperations() {
  return elementsOf(getUpdates());
}

//===----------------------------------------------------------------------===//
// Composite ops, by their formulas
//===----------------------------------------------------------------------===//

/// A softmax takes maximum, difference, exponential, sum and quotient.
static double softmaxOperations(Value input) {
  return elementsOf(input) * (4 + kOperationsOfElementaryFunction);
}
double SoftmaxOp::getFloatingPointOperations() {
  return softmaxOperations(getInput());
}
double LogSoftmaxOp::getFloatingPointOperations() {
  return softmaxOperations(getInput());
}
double CrossEntropyOp::getFloatingPointOperations() {
  return softmaxOperations(getLogits());
}
/// A normalisation takes sum, difference, square, sum, product, scale and
/// shift.
double LayerNormOp::getFloatingPointOperations() {
  return elementsOf(getInput()) * 7;
}
double BatchNormOp::getFloatingPointOperations() {
  return elementsOf(getInput()) * 7;
}

double InRangeOp::getFloatingPointOperations() { return 0; }

/// One round of Philox 4x32-10 gives four numbers of ten multiplications each.
static double randomOperations(Value result) { return elementsOf(result) * 10; }
double RandomUniformOp::getFloatingPointOperations() {
  return randomOperations(getResult());
}
double DropoutOp::getFloatingPointOperations() {
  return randomOperations(getResult()) + 2 * elementsOf(getResult());
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

double FusedOp::getFloatingPointOperations() {
  double count = 0;
  for (Operation &inner : getBody().front())
    count += floatingPointOperations(&inner);
  return count;
}
