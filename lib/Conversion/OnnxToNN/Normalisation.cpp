//===- Normalisation.cpp - Softmax, normalisation, dropout ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;

/// Attributes are single precision; the number that was meant is the decimal
/// one, 0.1 rather than 0.100000001490116.
static double decimal(double attribute) {
  char text[32];
  snprintf(text, sizeof text, "%.7g", attribute);
  return strtod(text, nullptr);
}

template <typename OpT>
static LogicalResult softmax(NodeConversion &c) {
  auto axis = c.axis(c.node.getInt("axis", -1), c.type(0).getRank());
  if (!axis)
    return failure();
  return c.yield(c.b.create<OpT>(c.input(0), *axis));
}

static LogicalResult layerNorm(NodeConversion &c) {
  auto axis = c.axis(c.node.getInt("axis", -1), c.type(0).getRank());
  if (!axis)
    return failure();
  auto normalised = c.b.shape(c.input(0)).drop_front(*axis);
  for (unsigned index : {1u, 2u})
    if (c.has(index) && c.b.shape(c.input(index)) != normalised)
      return c.fail(
          "scale and bias must have the shape of the normalised dimensions");
  Value bias = c.has(2) ? c.input(2) : Value();
  auto norm = c.b.create<nn::LayerNormOp>(
      c.input(0), c.input(1), bias, *axis,
      APFloat(decimal(c.node.getFloat("epsilon", 1e-5))));
  for (Value result : norm.getResults())
    c.outputs.push_back({{result}, false});
  return success();
}

static LogicalResult batchNorm(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  if (type.getRank() < 2)
    return c.fail("the operand must have rank 2 or more");
  for (unsigned index = 1; index < 5; ++index)
    if (c.type(index) != type.clone({type.getDimSize(1)}))
      return c.fail("scale, bias and statistics must have one element per "
                    "channel, of the operand's type");
  // Channels last.
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  permutation.erase(permutation.begin() + 1);
  permutation.push_back(1);
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [index, dim] : llvm::enumerate(permutation))
    inverse[dim] = index;
  // ONNX's momentum weighs the running statistics, PyTorch's the batch's.
  double momentum = decimal(1 - decimal(c.node.getFloat("momentum", 0.9)));
  auto norm = c.b.create<nn::BatchNormOp>(
      c.b.transpose(c.input(0), permutation), c.input(1), c.input(2),
      c.input(3), c.input(4),
      APFloat(decimal(c.node.getFloat("epsilon", 1e-5))), APFloat(momentum),
      c.state.freezeBatchNorm);
  if (!c.state.freezeBatchNorm)
    for (auto [index, value] : {std::pair(3u, norm.getNewMean()),
                                std::pair(4u, norm.getNewVariance())})
      if (auto read = c.input(index).getDefiningOp<train::ReadOp>())
        c.state.writes.push_back({read.getVariableAttr(), value});
  if (failed(c.yield(c.b.transpose(norm.getResult(), inverse))))
    return failure();
  c.outputs.push_back({{norm.getNewMean()}, false});
  c.outputs.push_back({{norm.getNewVariance()}, false});
  return success();
}

static LogicalResult dropout(NodeConversion &c) {
  double ratio = 0.5;
  if (c.has(1)) {
    auto given = c.constantFloat(1);
    if (!given)
      return failure();
    ratio = *given;
  }
  // Without the third operand the node drops nothing, by the specification.
  bool training = false;
  if (c.has(2)) {
    DenseElementsAttr value;
    if (!matchPattern(c.input(2), m_Constant(&value)))
      return c.fail("operand 2 (training_mode) must be a constant");
    training = !(*value.getValues<APInt>().begin()).isZero();
  }
  if (!(ratio >= 0 && ratio < 1))
    return c.fail("the ratio must lie in [0, 1)");
  if (!training || ratio == 0)
    return c.yield(c.input(0));
  return c.yield(c.b.create<nn::DropoutOp>(c.input(0), APFloat(ratio),
                                           c.state.nextStream++));
}

static LogicalResult randomUniformLike(NodeConversion &c) {
  double low = c.node.getFloat("low", 0), high = c.node.getFloat("high", 1);
  Value draw = c.b.create<nn::RandomUniformOp>(c.type(0), c.state.nextStream++);
  return c.yield(c.b.add(c.b.mul(draw, high - low), low));
}

ArrayRef<OperatorEntry> gpuopt::normalisationOperators() {
  static const OperatorEntry entries[] = {
      {"BatchNormalization", batchNorm,
       "in training form unless --batch-norm=frozen"},
      {"Dropout", dropout, "ratio and training_mode are constants; no mask"},
      {"LayerNormalization", layerNorm},
      {"LogSoftmax", softmax<nn::LogSoftmaxOp>},
      {"RandomUniformLike", randomUniformLike},
      {"Softmax", softmax<nn::SoftmaxOp>}};
  return entries;
}
