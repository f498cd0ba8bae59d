//===- Losses.cpp - Losses that are a part of the model -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// The loss of rows of scores [rows..., classes] by the class that each row
/// should have, with a weight of each class and a label that is ignored.
class ClassLoss {
public:
  ClassLoss(NodeConversion &c) : c(c), b(c.b) {}

  /// Checks the operands, and puts the classes last.
  LogicalResult read() {
    ArrayRef<int64_t> shape = c.type(0).getShape();
    if (shape.size() < 2 || shape[1] < 1)
      return c.fail("operand 0 must have shape [batch, classes, ...]");
    SmallVector<int64_t> rows{shape[0]};
    llvm::append_range(rows, shape.drop_front(2));
    if (c.type(1).getShape() != ArrayRef(rows))
      return c.fail("operand 1 must have the shape of operand 0 without the "
                    "classes");
    if (c.has(2) && c.type(2).getShape() != ArrayRef<int64_t>{shape[1]})
      return c.fail("operand 2 must have a weight for each class");
    reduction = c.node.getString("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
      return c.fail("attribute reduction = '" + reduction +
                    "' is not supported");
    toBack = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    toBack.erase(toBack.begin() + 1);
    toBack.push_back(1);
    scores = b.transpose(c.input(0), toBack);
    classes = shape[1];
    readLabels();
    return success();
  }

  /// Returns rows in the order of operand 0.
  Value classesFirst(Value rows) {
    SmallVector<int64_t> back(toBack.size());
    for (auto [index, dim] : llvm::enumerate(toBack))
      back[dim] = index;
    return b.transpose(rows, back);
  }

  /// Returns the loss of log-probabilities.
  Value ofLogProbabilities(Value logProbabilities) {
    Value picked = pickClass(logProbabilities);
    RankedTensorType type = b.type(picked);
    Value one = b.splat(1, type);
    Value weight = one;
    if (c.has(2)) {
      SmallVector<int64_t> perClass(type.getRank() + 1, 1);
      perClass.back() = classes;
      weight = pickClass(b.broadcast(b.reshape(c.input(2), perClass),
                                     b.shape(logProbabilities)));
    }
    if (isIgnored) {
      weight = b.select(isIgnored, b.splat(0, type), weight);
      // What is ignored may be infinite.
      picked = b.select(isIgnored, b.splat(0, type), picked);
    }
    return reduced(b.neg(b.mul(picked, weight)), weight);
  }

  /// Returns the loss of scores by the op whose gradient is the difference of
  /// probabilities and labels. It has no weights of classes.
  Value ofScores() {
    int64_t none = ignored.value_or(-1);
    Value marked = labels;
    if (isIgnored)
      marked = b.select(isIgnored, b.splat(none, b.type(labels)), labels);
    auto entropy =
        b.create<nn::CrossEntropyOp>(scores, marked, none, APFloat(0.0));
    SmallVector<int64_t> rows(b.shape(labels));
    Value loss = b.reshape(entropy.getLoss(), rows);
    Value weight = b.splat(1, b.type(loss));
    if (isIgnored)
      weight = b.select(isIgnored, b.splat(0, b.type(loss)), weight);
    return reduced(loss, weight);
  }

  Value scores; ///< [rows..., classes]

private:
  /// Labels that are ignored become class 0, the others are checked.
  void readLabels() {
    labels = c.input(1);
    if (!b.type(labels).getElementType().isInteger(64))
      labels = b.createOrFold<arith::ExtSIOp>(
          b.type(labels).clone(b.getI64Type()), labels);
    ignored = c.node.getInt("ignore_index");
    if (ignored) {
      isIgnored = b.compare(arith::CmpIPredicate::eq, labels,
                            b.splat(*ignored, b.type(labels)));
      labels = b.select(isIgnored, b.splat(0, b.type(labels)), labels);
    }
    labels = inRange(c, labels, classes);
  }

  /// Returns of each row the number that its label's class has.
  Value pickClass(Value x) {
    RankedTensorType type = b.type(x);
    SmallVector<int64_t> shape(b.shape(labels));
    shape.push_back(1);
    Value place =
        b.create<nn::IotaOp>(type.clone(b.getI64Type()), type.getRank() - 1);
    Value isLabel =
        b.compare(arith::CmpIPredicate::eq, place, b.reshape(labels, shape));
    Value sum =
        b.sum(b.select(isLabel, x, b.splat(0, type)), type.getRank() - 1);
    return b.reshape(sum, b.shape(labels));
  }

  Value reduced(Value loss, Value weight) {
    if (reduction == "none")
      return loss;
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, b.type(loss).getRank()));
    auto total = [&](Value x) { return b.reshape(b.sum(x, dims), {}); };
    if (reduction == "sum")
      return total(loss);
    return b.div(total(loss), total(weight));
  }

  NodeConversion &c;
  nn::TensorBuilder &b;
  StringRef reduction;
  SmallVector<int64_t> toBack; ///< The permutation that puts classes last.
  int64_t classes = 0;
  Value labels, isIgnored; ///< The latter is null if no label is ignored.
  std::optional<int64_t> ignored;
};

} // namespace

static LogicalResult negativeLogLikelihood(NodeConversion &c) {
  ClassLoss loss(c);
  if (failed(loss.read()))
    return failure();
  return c.yield(loss.ofLogProbabilities(loss.scores));
}

static LogicalResult softmaxCrossEntropy(NodeConversion &c) {
  ClassLoss loss(c);
  if (failed(loss.read()))
    return failure();
  int64_t last = c.type(0).getRank() - 1;
  bool wantsProbabilities =
      c.node->getNumResults() > 1 && !c.node.getOutputs()[1].use_empty();
  if (!c.has(2) && !wantsProbabilities)
    return c.yield(loss.ofScores());
  Value logProbabilities = c.b.create<nn::LogSoftmaxOp>(loss.scores, last);
  c.outputs.push_back({{loss.ofLogProbabilities(logProbabilities)}, false});
  c.outputs.push_back({{loss.classesFirst(logProbabilities)}, false});
  return success();
}

ArrayRef<OperatorEntry> gpuopt::lossOperators() {
  static const OperatorEntry entries[] = {
      {"NegativeLogLikelihoodLoss", negativeLogLikelihood},
      {"SoftmaxCrossEntropyLoss", softmaxCrossEntropy}};
  return entries;
}
