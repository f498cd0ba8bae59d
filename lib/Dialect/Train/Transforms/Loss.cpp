//===- Loss.cpp - What a step minimises -----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loss.h"

#include "SliceRows.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;
using nn::TensorBuilder;

std::optional<LossKind> gpuopt::train::parseLossKind(StringRef name) {
  return llvm::StringSwitch<std::optional<LossKind>>(name)
      .Case("cross_entropy", LossKind::CrossEntropy)
      .Case("mse", LossKind::MeanSquaredError)
      .Case("bce_with_logits", LossKind::BinaryCrossEntropyWithLogits)
      .Case("l1", LossKind::L1)
      .Case("none", LossKind::None)
      .Default(std::nullopt);
}

static int64_t classDim(RankedTensorType logits) {
  return logits.getRank() > 3 ? 1 : logits.getRank() - 1;
}

RankedTensorType gpuopt::train::labelsType(LossKind kind,
                                           RankedTensorType logits) {
  if (kind == LossKind::None)
    return nullptr;
  if (kind != LossKind::CrossEntropy)
    return logits;
  SmallVector<int64_t> shape(logits.getShape());
  shape.erase(shape.begin() + classDim(logits));
  return RankedTensorType::get(shape,
                               IntegerType::get(logits.getContext(), 64));
}

int64_t gpuopt::train::labelsLimit(LossKind kind, RankedTensorType logits) {
  return kind == LossKind::CrossEntropy ? logits.getDimSize(classDim(logits))
                                        : -1;
}

int64_t gpuopt::train::targetsOf(LossKind kind, RankedTensorType logits) {
  RankedTensorType labels = labelsType(kind, logits);
  return labels ? labels.getNumElements() : 1;
}

static Value total(TensorBuilder &b, Value value) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, b.type(value).getRank()));
  return b.reshape(b.sum(value, dims), {1});
}

/// Returns the cross entropy of each row of logits.
static Value crossEntropies(TensorBuilder &b, Value logits, Value labels,
                            int64_t ignoreIndex, double labelSmoothing) {
  int64_t rank = b.type(logits).getRank(), dim = classDim(b.type(logits));
  if (dim != rank - 1) {
    SmallVector<int64_t> classesLast =
        llvm::to_vector(llvm::seq<int64_t>(0, rank));
    classesLast.erase(classesLast.begin() + dim);
    classesLast.push_back(dim);
    logits = b.transpose(logits, classesLast);
  }
  return b
      .create<nn::CrossEntropyOp>(logits, labels, ignoreIndex,
                                  APFloat(labelSmoothing))
      .getLoss();
}

/// Returns the number of labels that count.
static Value countLabels(TensorBuilder &b, Value labels, int64_t ignoreIndex,
                         Type element) {
  Value counts = b.compare(arith::CmpIPredicate::ne, labels,
                           b.splat(ignoreIndex, b.type(labels)));
  return total(b, b.toFloat(counts, element));
}

/// Returns softplus(x) - x * target, whose slope at 0 is correct as well.
static Value binaryCrossEntropy(TensorBuilder &b, Value x, Value target) {
  Value zero = b.splat(0, b.type(x));
  Value isPositive = b.compare(arith::CmpFPredicate::OGE, x, zero);
  Value magnitude = b.select(isPositive, x, b.neg(x));
  Value softplus = b.add(b.select(isPositive, x, zero),
                         b.create<math::Log1pOp>(b.exp(b.neg(magnitude))));
  return b.sub(softplus, b.mul(x, target));
}

Loss gpuopt::train::buildLoss(TensorBuilder &b, LossKind kind, Value logits,
                              Value labels, int64_t ignoreIndex,
                              double labelSmoothing) {
  RankedTensorType one =
      RankedTensorType::get({1}, b.type(logits).getElementType());
  Value elements = b.splat(b.type(logits).getNumElements(), one);
  switch (kind) {
  case LossKind::CrossEntropy:
    return {total(b, crossEntropies(b, logits, labels, ignoreIndex,
                                    labelSmoothing)),
            countLabels(b, labels, ignoreIndex, one.getElementType())};
  case LossKind::MeanSquaredError: {
    Value error = b.sub(logits, labels);
    return {total(b, b.mul(error, error)), elements};
  }
  case LossKind::BinaryCrossEntropyWithLogits:
    return {total(b, binaryCrossEntropy(b, logits, labels)), elements};
  case LossKind::L1:
    return {total(b, b.create<math::AbsFOp>(b.sub(logits, labels))), elements};
  case LossKind::None:
    return {b.mul(total(b, logits), 1.0 / b.type(logits).getNumElements()),
            b.splat(1, one)};
  }
  llvm_unreachable("all kinds are listed");
}

//===----------------------------------------------------------------------===//
// In chunks
//===----------------------------------------------------------------------===//

int64_t gpuopt::train::lossChunks(LossKind kind, Value logits, int64_t wanted,
                                  bool areHalf) {
  constexpr int64_t kMostBytes = int64_t(1) << 30, kMostChunks = 16;
  RankedTensorType type = TensorBuilder::type(logits);
  if (kind != LossKind::CrossEntropy || classDim(type) != type.getRank() - 1 ||
      !isMadeByProduct(logits))
    return 1;
  int64_t rows = type.getDimSize(0);
  if (wanted > 0)
    return rows % wanted == 0 ? wanted : 1;
  int64_t bits = areHalf ? 16 : type.getElementTypeBitWidth(),
          bytes = type.getNumElements() * (bits / 8), chunks = 1;
  for (int64_t count = 1;
       count <= std::min(rows, kMostChunks) && bytes / chunks > kMostBytes;
       ++count)
    if (rows % count == 0)
      chunks = count;
  return chunks;
}

Loss gpuopt::train::buildChunkedLoss(TensorBuilder &b, LossKind kind,
                                     Value logits, Value labels,
                                     int64_t ignoreIndex, double labelSmoothing,
                                     int64_t chunks) {
  if (chunks <= 1)
    return buildLoss(b, kind, logits, labels, ignoreIndex, labelSmoothing);
  int64_t size = TensorBuilder::shape(logits)[0] / chunks;
  // The losses of rows are small: they are kept, and added up at once.
  SmallVector<Value> losses;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    losses.push_back(crossEntropies(b, sliceRows(b, logits, chunk * size, size),
                                    sliceRows(b, labels, chunk * size, size),
                                    ignoreIndex, labelSmoothing));
  return {total(b, b.create<nn::ConcatOp>(losses, 0)),
          countLabels(b, labels, ignoreIndex,
                      TensorBuilder::type(logits).getElementType())};
}
