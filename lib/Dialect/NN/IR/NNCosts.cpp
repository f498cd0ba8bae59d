//===- NNCosts.cpp - How much arithmetic the ops of nn are ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/AttentionScores.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/Support/TensorType.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

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
/// cuDNN adds up channels in f16 alone. Elsewhere two kernels read the result.
void ConvWithSumsOp::addWarpWork(OpWork &work) {
  constexpr double kLaunches = 3;
  if (work.elementType.isF16())
    return;
  work.bytesRead += sizeInBytes(getResult());
  work.launches = kLaunches;
}
/// Beside the product with the weights there is that of the input with itself.
double ConvBatchNormOp::getFloatingPointOperations() {
  double channels = tensorType(getInput()).getDimSize(3);
  return convOperations(getResult(), getWeights()) +
         2 * elementsOf(getInput()) * channels;
}
bool ConvBatchNormOp::usesMatrixUnits() { return true; }
double ConvInputGradOp::getFloatingPointOperations() {
  return convOperations(getGradient(), getWeights());
}
bool ConvInputGradOp::usesMatrixUnits() { return true; }
double ConvWeightGradOp::getFloatingPointOperations() {
  return convOperations(getGradient(), getResult());
}
bool ConvWeightGradOp::usesMatrixUnits() { return true; }

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

double nn::pairsInTiles(RankedTensorType scores,
                        std::optional<ArrayRef<int64_t>> band, ScoreTile tile) {
  ArrayRef<int64_t> shape = scores.getShape();
  const int64_t rows = shape.take_back(2)[0], keys = shape.back();
  double tiles = 0;
  if (band)
    for (int64_t row = 0; row < rows; row += tile.queries) {
      const int64_t last = std::min(row + tile.queries, rows) - 1;
      const int64_t begin = keysInBand(scores, *band, row).first,
                    end = keysInBand(scores, *band, last).second;
      if (begin < end)
        tiles += double(int64_t(llvm::divideCeil(end, tile.keys)) -
                        begin / tile.keys);
    }
  else
    tiles = double(llvm::divideCeil(rows, tile.queries)) *
            double(llvm::divideCeil(keys, tile.keys));
  double pairs = tiles * double(tile.queries) * double(tile.keys);
  for (int64_t batch : shape.drop_back(2))
    pairs *= double(batch);
  return pairs;
}

/// Returns the pairs of a query and a key that an attention or its gradient
/// sees.
template <typename OpT>
static double seenPairs(OpT op) {
  return pairsInTiles(scoresType(op.getQuery(), op.getKey()), op.getBand(), {});
}

double AttentionOp::getFloatingPointOperations() {
  double pairs = seenPairs(*this);
  double products = 2 * pairs *
                    (tensorType(getQuery()).getShape().back() +
                     tensorType(getValue()).getShape().back());
  constexpr int kSoftmax = 4 + kOperationsOfElementaryFunction, kDropout = 12;
  constexpr int kSoftcap = 2 + kOperationsOfElementaryFunction;
  return products + pairs * (kSoftmax + (getDropoutRatio() ? kDropout : 0) +
                             (getSoftcap() ? kSoftcap : 0) +
                             (getMask() ? 1 : 0) + (getBias() ? 1 : 0));
}
bool AttentionOp::usesMatrixUnits() { return true; }

/// The gradient has five products, where the forward has two, and computes the
/// softmax again. That of a bias is one sum more.
double AttentionGradOp::getFloatingPointOperations() {
  double pairs = seenPairs(*this);
  double products = 2 * pairs *
                    (3 * tensorType(getQuery()).getShape().back() +
                     2 * tensorType(getValue()).getShape().back());
  constexpr int kSoftmax = 5 + kOperationsOfElementaryFunction;
  constexpr int kDropout = 12;
  constexpr int kSoftcap = 5 + kOperationsOfElementaryFunction;
  return products + pairs * (kSoftmax + (getDropoutRatio() ? kDropout : 0) +
                             (getSoftcap() ? kSoftcap : 0) +
                             (getMask() ? 1 : 0) + (getBias() ? 2 : 0));
}
bool AttentionGradOp::usesMatrixUnits() { return true; }

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
/// Sums that follow one another are one launch
/// (device-form-multi-tensor-calls).
void SumPartsOp::addOwnWork(OpWork &work) {
  if (isa_and_nonnull<SumPartsOp>((*this)->getPrevNode()))
    work.launches = 0;
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
/// Rows of an accumulator that no index names are neither read nor written.
/// Each index is assumed to name a row of its own.
void ScatterAddOp::addOwnWork(OpWork &work) {
  double rows = getRows(), indices = elementsOf(getIndices());
  if (!getAccumulator() || indices >= rows)
    return;
  double untouched = sizeInBytes(getResult()) * (1 - indices / rows);
  work.bytesRead -= untouched;
  work.bytesWritten -= untouched;
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
