//===- EvaluationOutputs.cpp - What metrics are computed from -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/EvaluationOutputs.h"

#include "Backward/SliceRows.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/settings/compile_table.h"
#include "gpuopt/settings/metric_names.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;
using nn::TensorBuilder;

std::string gpuopt::train::findEvaluationOutputs(ArrayRef<std::string> metrics,
                                                 LossKind kind,
                                                 EvaluationOutputs &outputs) {
  for (const std::string &name : metrics) {
    std::string error = metric_error(name, compile_time::kLosses[int(kind)]);
    if (!error.empty())
      return "eval-metrics: '" + name + "' " + error;
    switch (parse_metric_name(name).kind) {
    case MetricKind::Accuracy:
    case MetricKind::F1:
      (choosesClass(kind) ? outputs.predictions : outputs.logits) = true;
      break;
    case MetricKind::TopKAccuracy:
      outputs.ranks = true;
      break;
    case MetricKind::Perplexity:
    case MetricKind::Unknown:
      break;
    }
  }
  return "";
}

namespace {

/// The logits of some rows with the classes in the last dimension, and the
/// numbers of the classes as integers and, exact up to 2^24, as the logits'
/// type.
struct Classes {
  Classes(TensorBuilder &b, Value logits)
      : logits(classesLast(b, logits)), type(b.type(this->logits)),
        dim(type.getRank() - 1),
        places(b.create<nn::IotaOp>(type.clone(b.getI64Type()), dim)),
        numbers(b.create<arith::SIToFPOp>(type, places)) {}

  Value logits;
  RankedTensorType type;
  int64_t dim;
  Value places, numbers;
};

} // namespace

static Value toInteger(TensorBuilder &b, Value number) {
  return b.create<arith::FPToSIOp>(b.type(number).clone(b.getI64Type()),
                                   number);
}

/// Returns the first of the classes with the largest logit; one behind the last
/// class for a row of NaN, which is never right.
static Value predictionsOf(TensorBuilder &b, const Classes &c) {
  Value most = b.reduce(nn::ReductionKind::Max, c.logits, c.dim);
  Value isMost = b.compare(arith::CmpFPredicate::OEQ, c.logits, most);
  Value candidates =
      b.select(isMost, c.numbers, b.splat(c.type.getDimSize(c.dim), c.type));
  return toInteger(b, b.reduce(nn::ReductionKind::Min, candidates, c.dim));
}

/// Returns how many other classes are not less likely than the label's, where
/// of two equal ones the first is more likely. Where the logit of either class
/// is NaN, the other class counts as more likely than the label's.
static Value ranksOf(TensorBuilder &b, const Classes &c, Value labels) {
  SmallVector<int64_t> column(c.type.getShape());
  column.back() = 1;
  labels = b.reshape(labels, column);
  Value isLabel = b.compare(arith::CmpIPredicate::eq, c.places, labels);
  Value own = b.sum(b.select(isLabel, c.logits, b.splat(0, c.type)), c.dim);
  Value isBehind = b.compare(arith::CmpIPredicate::sgt, c.places, labels);
  Value isLess = b.compare(arith::CmpFPredicate::OLT, c.logits, own);
  Value isEqual = b.compare(arith::CmpFPredicate::OEQ, c.logits, own);
  // A class counts unless it is the label, is less likely, or is equal and
  // comes later.
  Value one = b.splat(1, c.type), none = b.splat(0, c.type);
  Value counted = b.select(isEqual, b.select(isBehind, none, one), one);
  counted = b.select(isLess, none, counted);
  counted = b.select(isLabel, none, counted);
  return toInteger(b, b.sum(counted, c.dim));
}

void gpuopt::train::buildEvaluationOutputs(TensorBuilder &b,
                                           const EvaluationOutputs &outputs,
                                           Value logits, Value labels,
                                           ArrayRef<LossChunk> chunks) {
  if (outputs.logits)
    b.create<OutputOp>("metrics.logits", logits);
  if (!outputs.predictions && !outputs.ranks)
    return;
  if (isa<FloatType>(TensorBuilder::type(labels).getElementType())) {
    Classes probabilities(b, labels);
    labels = b.reshape(
        predictionsOf(b, probabilities),
        labelsType(LossKind::CrossEntropy, b.type(logits)).getShape());
    b.create<OutputOp>("metrics.labels", labels);
  }
  SmallVector<Value> predictions, ranks;
  for (LossChunk chunk : chunks) {
    auto rows = [&](Value value) {
      return chunks.size() == 1 ? value
                                : sliceRows(b, value, chunk.from, chunk.size);
    };
    Classes classes(b, rows(logits));
    if (outputs.predictions)
      predictions.push_back(predictionsOf(b, classes));
    if (outputs.ranks)
      ranks.push_back(ranksOf(b, classes, rows(labels)));
  }
  auto add = [&](StringRef name, ArrayRef<Value> parts) {
    if (parts.empty())
      return;
    Value all = parts.size() == 1
                    ? parts.front()
                    : b.create<nn::ConcatOp>(parts, 0).getResult();
    b.create<OutputOp>(name, b.reshape(all, TensorBuilder::shape(labels)));
  };
  add("metrics.predictions", predictions);
  add("metrics.ranks", ranks);
}
