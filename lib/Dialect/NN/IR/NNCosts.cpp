//===- NNCosts.cpp - How much arithmetic the ops of nn are ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
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

/// Returns the number of pairs of a query and a key that it sees.
static double seenPairs(RankedTensorType scores,
                        std::optional<ArrayRef<int64_t>> band) {
  if (!band)
    return scores.getNumElements();
  ArrayRef<int64_t> shape = scores.getShape();
  double pairs = 0;
  for (int64_t row : llvm::seq<int64_t>(0, shape.take_back(2)[0])) {
    auto [first, end] = keysInBand(scores, *band, row);
    pairs += end - first;
  }
  for (int64_t batch : shape.drop_back(2))
    pairs *= batch;
  return pairs;
}

/// Returns the same for an attention or its gradient.
template <typename OpT>
static double seenPairs(OpT op) {
  return seenPairs(scoresType(op.getQuery(), op.getKey()), op.getBand());
}

/// Instructions of a lane for a pair of a query and a key: its score is scaled,
/// compared, raised to a power, added and narrowed. The power is one
/// instruction that takes the place of eight (16 of them begin in a clock, of
/// 128 others).
static constexpr double kAttentionInstructions = 12;
/// The backward computes probabilities twice, and the gradients of scores. Its
/// two kernels issued 42 and 46 instructions for a pair on an H200, as Nsight
/// Compute counts them, addresses and copies included, in 0.5 to 0.6 of the
/// clocks; with the products' time beside it that is about their time. Their
/// tiles have half to three quarters of these instructions since then
/// (docs/rationale/attention.md), which no GPU has timed yet.
static constexpr double kAttentionGradientInstructions = 88;
/// A soft cap is a tanh and two products (tanh of elementary_cuda.h).
static constexpr double kSoftcapInstructions = 18;
/// The backward computes scores and the gradients of probabilities in both of
/// its kernels: seven products, where five are counted.
static constexpr double kAttentionGradientProducts = 7. / 5;

/// Adds what a softmax, which stands between the products, takes of lanes for
/// each pair.
static void addSoftmax(double pairs, double instructions, OpWork &work) {
  work.isOwnProduct = true;
  work.laneInstructions = pairs * instructions;
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
void AttentionOp::addWarpWork(OpWork &work) {
  double softcap = getSoftcap() ? kSoftcapInstructions : 0;
  addSoftmax(seenPairs(*this), kAttentionInstructions + softcap, work);
}

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
void AttentionGradOp::addWarpWork(OpWork &work) {
  double softcap = getSoftcap() ? 2 * kSoftcapInstructions : 0;
  addSoftmax(seenPairs(*this), kAttentionGradientInstructions + softcap, work);
  work.operations *= kAttentionGradientProducts;
}

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
