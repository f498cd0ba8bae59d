//===- Loss.cpp - What a step minimises -----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/Loss.h"

#include "Backward/SliceRows.h"

#include "gpuopt/settings/compile_table.h"
#include "gpuopt/settings/loss_terms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;
using nn::TensorBuilder;

using compile_time::kLosses;
static_assert(std::size(kLosses) == size_t(LossKind::None) + 1);

std::optional<LossKind> gpuopt::train::parseLossKind(StringRef name) {
  for (auto [kind, known] : llvm::enumerate(kLosses))
    if (name == StringRef(known))
      return LossKind(kind);
  return std::nullopt;
}

std::string gpuopt::train::lossNames() {
  return list_text(kLosses, std::size(kLosses));
}

bool gpuopt::train::hasClasses(LossKind kind) {
  return kind == LossKind::CrossEntropy ||
         kind == LossKind::NegativeLogLikelihood;
}

bool gpuopt::train::choosesClass(LossKind kind) {
  return hasClasses(kind) || kind == LossKind::SoftCrossEntropy;
}

static int64_t classDim(RankedTensorType logits) {
  return class_dim(logits.getRank());
}

RankedTensorType gpuopt::train::labelsType(LossKind kind,
                                           RankedTensorType logits) {
  if (kind == LossKind::None)
    return nullptr;
  if (!hasClasses(kind))
    return logits;
  SmallVector<int64_t> shape(logits.getShape());
  shape.erase(shape.begin() + classDim(logits));
  return RankedTensorType::get(shape,
                               IntegerType::get(logits.getContext(), 64));
}

int64_t gpuopt::train::labelsLimit(LossKind kind, RankedTensorType logits) {
  switch (kind) {
  case LossKind::CrossEntropy:
  case LossKind::NegativeLogLikelihood:
    return logits.getDimSize(classDim(logits));
  case LossKind::BinaryCrossEntropyWithLogits:
  case LossKind::Focal:
  case LossKind::Dice:
  case LossKind::KullbackLeibler:
  case LossKind::SoftCrossEntropy:
    return 1;
  case LossKind::MeanSquaredError:
  case LossKind::L1:
  case LossKind::Huber:
  case LossKind::SmoothL1:
  case LossKind::None:
    return -1;
  }
  llvm_unreachable("all kinds are listed");
}

/// Returns the first dimension that the sums of a dice loss run over: the
/// dimensions before are samples and, where there are three or more, channels.
static int64_t firstDiceDim(RankedTensorType logits) {
  return std::min<int64_t>(logits.getRank() - 1, 2);
}

int64_t gpuopt::train::targetsOf(LossKind kind, RankedTensorType logits) {
  RankedTensorType labels = labelsType(kind, logits);
  if (kind == LossKind::Dice)
    return ShapedType::getNumElements(
        logits.getShape().take_front(firstDiceDim(logits)));
  if (kind == LossKind::SoftCrossEntropy) // a row of classes is a target
    labels = labelsType(LossKind::CrossEntropy, logits);
  return labels ? labels.getNumElements() : 1;
}

static Value total(TensorBuilder &b, Value value) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, b.type(value).getRank()));
  return b.reshape(b.sum(value, dims), {1});
}

static Value magnitude(TensorBuilder &b, Value value) {
  return b.create<math::AbsFOp>(value);
}

//===----------------------------------------------------------------------===//
// Losses of classes
//===----------------------------------------------------------------------===//

Value gpuopt::train::classesLast(TensorBuilder &b, Value logits) {
  int64_t rank = b.type(logits).getRank(), dim = classDim(b.type(logits));
  if (dim == rank - 1)
    return logits;
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  permutation.erase(permutation.begin() + dim);
  permutation.push_back(dim);
  return b.transpose(logits, permutation);
}

static Value isIgnored(TensorBuilder &b, const LossOptions &options,
                       Value labels) {
  return b.compare(arith::CmpIPredicate::eq, labels,
                   b.splat(options.ignoreIndex, b.type(labels)));
}

static Value classWeights(TensorBuilder &b, const LossOptions &options,
                          Type element) {
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(options.classWeights.size())}, element);
  SmallVector<Attribute> weights;
  for (double weight : options.classWeights)
    weights.push_back(b.getFloatAttr(element, weight));
  return b.create<arith::ConstantOp>(
      type, cast<TypedAttr>(DenseElementsAttr::get(type, weights)));
}

/// Returns the weight of each label: 0 if it is ignored, else that of its class
/// or 1.
static Value weightsOfLabels(TensorBuilder &b, const LossOptions &options,
                             Value labels, Type element) {
  if (options.classWeights.empty()) {
    Value counts = b.compare(arith::CmpIPredicate::ne, labels,
                             b.splat(options.ignoreIndex, b.type(labels)));
    return b.toFloat(counts, element);
  }
  // A label that is ignored may be no row of the table.
  Value ignored = isIgnored(b, options, labels);
  Value rows = b.select(ignored, b.splat(0, b.type(labels)), labels);
  Value weights = b.create<nn::TakeOp>(classWeights(b, options, element), rows);
  return b.select(ignored, b.splat(0, b.type(weights)), weights);
}

/// Returns the values at the labels of rows, with one element for each row.
static Value pick(TensorBuilder &b, Value rows, Value labels) {
  RankedTensorType type = b.type(rows);
  int64_t dim = type.getRank() - 1;
  Value classes = b.create<nn::IotaOp>(type.clone(b.getI64Type()), dim);
  Value isLabel = b.compare(arith::CmpIPredicate::eq, classes, labels);
  return b.sum(b.select(isLabel, rows, b.splat(0, type)), dim);
}

/// Returns the loss of each row of logits; rows whose label is ignored have 0.
static Value lossesOfRows(TensorBuilder &b, const LossOptions &options,
                          Value logits, Value labels) {
  logits = classesLast(b, logits);
  SmallVector<int64_t> column(b.shape(logits));
  column.back() = 1;
  bool isWeighted = !options.classWeights.empty();
  Type element = b.type(logits).getElementType();
  auto weights = [&] {
    return b.reshape(weightsOfLabels(b, options, labels, element), column);
  };
  if (options.kind == LossKind::NegativeLogLikelihood) {
    Value picked = b.neg(pick(b, logits, b.reshape(labels, column)));
    // A row that is ignored may be infinite.
    Value ignored = isIgnored(b, options, b.reshape(labels, column));
    Value loss = b.select(ignored, b.splat(0, b.type(picked)), picked);
    return isWeighted ? b.mul(loss, weights()) : loss;
  }
  double smoothing = options.labelSmoothing;
  Value loss = b.create<nn::CrossEntropyOp>(logits, labels, options.ignoreIndex,
                                            APFloat(isWeighted ? 0 : smoothing))
                   .getLoss();
  if (!isWeighted)
    return loss;
  loss = b.mul(loss, weights());
  if (smoothing == 0)
    return loss;
  // The share that is spread over all classes is weighted by class.
  Value logProbabilities = b.create<nn::LogSoftmaxOp>(
      b.type(logits), logits, b.type(logits).getRank() - 1);
  Value spread =
      b.neg(b.sum(b.mul(logProbabilities, classWeights(b, options, element)),
                  b.type(logits).getRank() - 1));
  Value ignored = isIgnored(b, options, b.reshape(labels, column));
  spread = b.select(ignored, b.splat(0, b.type(spread)), spread);
  return b.add(b.mul(loss, 1 - smoothing),
               b.mul(spread, smoothing / options.classWeights.size()));
}

/// Returns the sum of the weights of labels. Kernels and tensors are named
/// after the labels, not after the loss, so that a reader can tell the two sums
/// apart.
static Value countLabels(TensorBuilder &b, const LossOptions &options,
                         Value labels, Type element) {
  TensorBuilder counting(NameLoc::get(b.getStringAttr("labels")), b);
  return total(counting, weightsOfLabels(counting, options, labels, element));
}

//===----------------------------------------------------------------------===//
// Losses of numbers
//===----------------------------------------------------------------------===//

/// Returns softplus(x) - x * target, whose slope at 0 is correct as well.
static Value binaryCrossEntropy(TensorBuilder &b, Value x, Value target) {
  Value zero = b.splat(0, b.type(x));
  Value isPositive = b.compare(arith::CmpFPredicate::OGE, x, zero);
  Value magnitude = b.select(isPositive, x, b.neg(x));
  Value softplus = b.add(b.select(isPositive, x, zero),
                         b.create<math::Log1pOp>(b.exp(b.neg(magnitude))));
  return b.sub(softplus, b.mul(x, target));
}

/// Returns e^2 / 2 for errors of at most `delta`, and delta * (|e| - delta / 2)
/// beyond.
static Value huber(TensorBuilder &b, Value error, double delta) {
  Value size = magnitude(b, error);
  Value isSmall =
      b.compare(arith::CmpFPredicate::OLE, size, b.splat(delta, b.type(size)));
  return b.select(isSmall, b.mul(b.mul(error, error), 0.5),
                  b.mul(b.add(size, -0.5 * delta), delta));
}

/// Returns `atOne` for a target of 1, `atZero` for one of 0, and a mean of both
/// for a probability between.
static Value blend(TensorBuilder &b, Value target, Value atOne, Value atZero) {
  return b.add(b.mul(target, atOne),
               b.mul(b.sub(b.splat(1, b.type(target)), target), atZero));
}

/// Returns the losses of torchvision.ops.sigmoid_focal_loss.
static Value focal(TensorBuilder &b, const LossOptions &options, Value x,
                   Value target) {
  Value loss = binaryCrossEntropy(b, x, target);
  if (options.focalGamma > 0) {
    // The probability of what the target is not: 1 - sigmoid(x) for a target of
    // 1, which is sigmoid(-x) and, computed so, never exactly 0 for a finite x
    // of a usual size. The slope of a power below 1 would be infinite there.
    Value missed = blend(b, target, b.sigmoid(b.neg(x)), b.sigmoid(x));
    if (options.focalGamma != 1)
      missed = b.create<math::PowFOp>(missed,
                                      b.splat(options.focalGamma, b.type(x)));
    loss = b.mul(loss, missed);
  }
  if (options.focalAlpha < 0)
    return loss;
  return b.mul(loss, blend(b, target, b.splat(options.focalAlpha, b.type(x)),
                           b.splat(1 - options.focalAlpha, b.type(x))));
}

/// Returns the losses of monai.losses.DiceLoss(sigmoid=True): one for each
/// sample and channel.
static Value dice(TensorBuilder &b, double smooth, Value x, Value target) {
  auto dims = llvm::to_vector(
      llvm::seq<int64_t>(firstDiceDim(b.type(x)), b.type(x).getRank()));
  Value probability = b.sigmoid(x);
  Value both = b.sum(b.mul(probability, target), dims),
        each = b.add(b.sum(probability, dims), b.sum(target, dims));
  Value overlap = b.div(b.add(b.mul(both, 2), smooth), b.add(each, smooth));
  return b.sub(b.splat(1, b.type(overlap)), overlap);
}

/// Returns target * (log target - x), 0 for a target of 0.
static Value divergence(TensorBuilder &b, Value x, Value target) {
  Value zero = b.splat(0, b.type(target));
  Value isZero = b.compare(arith::CmpFPredicate::OEQ, target, zero);
  Value entropy = b.select(isZero, zero, b.mul(target, b.log(target)));
  return b.sub(entropy, b.mul(target, x));
}

/// Returns the cross entropy of each row of logits under the probabilities that
/// the labels give for the classes.
static Value softCrossEntropy(TensorBuilder &b, double smoothing, Value logits,
                              Value labels) {
  logits = classesLast(b, logits);
  labels = classesLast(b, labels);
  int64_t dim = b.type(logits).getRank() - 1;
  if (smoothing > 0)
    labels = b.add(b.mul(labels, 1 - smoothing),
                   smoothing / b.type(logits).getDimSize(dim));
  Value logProbabilities =
      b.create<nn::LogSoftmaxOp>(b.type(logits), logits, dim);
  return b.neg(b.sum(b.mul(logProbabilities, labels), dim));
}

/// Returns the losses of the elements, of the rows, or of the parts of the
/// logits.
static Value lossesOfNumbers(TensorBuilder &b, const LossOptions &options,
                             Value logits, Value labels) {
  switch (options.kind) {
  case LossKind::MeanSquaredError: {
    Value error = b.sub(logits, labels);
    return b.mul(error, error);
  }
  case LossKind::L1:
    return magnitude(b, b.sub(logits, labels));
  case LossKind::Huber:
    return huber(b, b.sub(logits, labels), options.huberDelta);
  case LossKind::SmoothL1:
    return options.smoothL1Beta == 0
               ? magnitude(b, b.sub(logits, labels))
               : b.mul(huber(b, b.sub(logits, labels), options.smoothL1Beta),
                       1 / options.smoothL1Beta);
  case LossKind::BinaryCrossEntropyWithLogits:
    return binaryCrossEntropy(b, logits, labels);
  case LossKind::Focal:
    return focal(b, options, logits, labels);
  case LossKind::Dice:
    return dice(b, options.diceSmooth, logits, labels);
  case LossKind::KullbackLeibler:
    return divergence(b, logits, labels);
  case LossKind::SoftCrossEntropy:
    return softCrossEntropy(b, options.labelSmoothing, logits, labels);
  case LossKind::CrossEntropy:
  case LossKind::NegativeLogLikelihood:
  case LossKind::None:
    break;
  }
  llvm_unreachable("the other kinds have no losses of numbers");
}

Loss gpuopt::train::buildLoss(TensorBuilder &b, const LossOptions &options,
                              Value logits, Value labels) {
  RankedTensorType type = b.type(logits),
                   one = RankedTensorType::get({1}, type.getElementType());
  if (options.kind == LossKind::None)
    return {b.mul(total(b, logits), 1.0 / type.getNumElements()),
            b.splat(1, one)};
  if (hasClasses(options.kind))
    return {total(b, lossesOfRows(b, options, logits, labels)),
            countLabels(b, options, labels, type.getElementType())};
  Value sum = total(b, lossesOfNumbers(b, options, logits, labels));
  return {sum, b.splat(targetsOf(options.kind, type), one)};
}

//===----------------------------------------------------------------------===//
// In chunks
//===----------------------------------------------------------------------===//

SmallVector<LossChunk>
gpuopt::train::lossChunks(LossKind kind, Value logits,
                          const LossChunkOptions &options) {
  constexpr int64_t kMostChunks = 16;
  RankedTensorType type = TensorBuilder::type(logits);
  int64_t rows = type.getRank() ? type.getDimSize(0) : 1, together = 0,
          count = 1;
  if (kind == LossKind::CrossEntropy && type.getRank() > 1 &&
      classDim(type) == type.getRank() - 1)
    together = rowsPerSlice(logits);
  if (together == 0)
    return {{0, rows}};
  int64_t slices = rows / together;
  if (options.wanted > 0) {
    count = std::min(options.wanted, slices);
  } else {
    int64_t bits = options.areHalf ? 16 : type.getElementTypeBitWidth(),
            bytesOfSlice = type.getNumElements() / slices * (bits / 8);
    while (count < std::min(slices, kMostChunks) &&
           llvm::divideCeilSigned(slices, count) * bytesOfSlice >
               options.mostBytes)
      ++count;
  }
  // The first chunk begins the sums of gradients, and so has calls of its own;
  // most others are equal, so that a loop can make their calls.
  int64_t larger = slices % count, smaller = count - larger;
  bool beginsWithLarger = larger <= smaller;
  SmallVector<LossChunk> chunks;
  for (int64_t i = 0, from = 0; i < count; from += chunks[i++].size) {
    bool isLarger = beginsWithLarger ? i < larger : i >= smaller;
    chunks.push_back({from, together * (slices / count + isLarger)});
  }
  return chunks;
}

Loss gpuopt::train::buildChunkedLoss(TensorBuilder &b,
                                     const LossOptions &options, Value logits,
                                     Value labels, ArrayRef<LossChunk> chunks) {
  if (chunks.size() == 1)
    return buildLoss(b, options, logits, labels);
  // The losses of rows are small: they are kept, and added up at once.
  SmallVector<Value> losses;
  for (auto [from, size] : chunks)
    losses.push_back(lossesOfRows(b, options, sliceRows(b, logits, from, size),
                                  sliceRows(b, labels, from, size)));
  return {total(b, b.create<nn::ConcatOp>(losses, 0)),
          countLabels(b, options, labels,
                      TensorBuilder::type(logits).getElementType())};
}
