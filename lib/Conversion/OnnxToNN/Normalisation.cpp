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

/// Returns the decimal number that was meant by an attribute in single
/// precision: 0.1 instead of 0.100000001490116.
static double decimal(double attribute) {
  char text[32];
  snprintf(text, sizeof text, "%.7g", attribute);
  return strtod(text, nullptr);
}

static double epsilonOf(NodeConversion &c) {
  return decimal(c.node.getFloat("epsilon", 1e-5));
}

template <typename OpT>
static LogicalResult softmax(NodeConversion &c) {
  bool isOld = c.node.getOpset() < 13;
  auto axis =
      c.axis(c.node.getInt("axis", isOld ? 1 : -1), c.type(0).getRank());
  if (!axis)
    return failure();
  if (isOld) {
    // All dimensions from the axis on count as one.
    int64_t rows =
        ShapedType::getNumElements(c.type(0).getShape().take_front(*axis));
    int64_t columns =
        ShapedType::getNumElements(c.type(0).getShape().drop_front(*axis));
    Value flat = c.b.reshape(c.input(0), {rows, columns});
    return c.yield(c.b.reshape(c.b.create<OpT>(flat, 1), c.type(0).getShape()));
  }
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
  auto norm = c.b.create<nn::LayerNormOp>(c.input(0), c.input(1), bias, *axis,
                                          APFloat(epsilonOf(c)));
  for (Value result : norm.getResults())
    c.outputs.push_back({{result}, false});
  return success();
}

/// Normalises groups of channels, each with all of its spatial dimensions: [N,
/// groups, channels / groups, spatial...] from dimension 2 on.
static LogicalResult normaliseGroups(NodeConversion &c, int64_t groups) {
  RankedTensorType type = c.type(0);
  int64_t channels = type.getDimSize(1);
  if (groups < 1 || channels % groups)
    return c.fail("attribute num_groups = " + Twine(groups) +
                  " does not divide the channels");
  // There is one scale per group up to opset 20, and one per channel from 21
  // on.
  int64_t scales = c.type(1).getNumElements();
  for (unsigned index : {1u, 2u})
    if ((scales != groups && scales != channels) ||
        c.type(index) != type.clone({scales}))
      return c.fail("scale and bias must have one element per channel or per "
                    "group, of the operand's type");
  SmallVector<int64_t> shape{type.getDimSize(0), groups, channels / groups};
  llvm::append_range(shape, type.getShape().drop_front(2));
  auto norm =
      c.b.create<nn::LayerNormOp>(c.b.reshape(c.input(0), shape), Value(),
                                  Value(), 2, APFloat(epsilonOf(c)));
  SmallVector<int64_t> perScale(shape.size() - 1, 1);
  perScale[0] = groups;
  perScale[1] = scales / groups;
  Value result = c.b.mul(norm.getResult(), c.b.reshape(c.input(1), perScale));
  result = c.b.add(result, c.b.reshape(c.input(2), perScale));
  return c.yield(c.b.reshape(result, type.getShape()));
}

static LogicalResult groupNorm(NodeConversion &c) {
  if (c.type(0).getRank() < 2)
    return c.fail("the operand must have rank 2 or more");
  return normaliseGroups(c, c.node.getInt("num_groups", 0));
}

static LogicalResult instanceNorm(NodeConversion &c) {
  if (c.type(0).getRank() < 3)
    return c.fail("the operand must have rank 3 or more");
  return normaliseGroups(c, c.type(0).getDimSize(1));
}

/// Converts x / sqrt(mean(x^2) + epsilon) * scale.
static LogicalResult rmsNorm(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  auto axis = c.axis(c.node.getInt("axis", -1), rank);
  if (!axis)
    return failure();
  if (c.commonShape({c.input(0), c.input(1)}) !=
      llvm::to_vector(c.type(0).getShape()))
    return c.fail("the scale must broadcast to the operand");
  Value x = c.input(0);
  Value square =
      c.b.sum(c.b.mul(x, x), llvm::to_vector(llvm::seq<int64_t>(*axis, rank)));
  double count =
      (double)c.type(0).getNumElements() / c.b.type(square).getNumElements();
  Value rstd = c.b.rsqrt(c.b.add(c.b.mul(square, 1 / count), epsilonOf(c)));
  return c.yield(c.b.mul(c.b.mul(x, rstd), c.input(1)));
}

/// Converts (x - mean) / (sqrt(variance) + 1e-9) over some dimensions.
static LogicalResult meanVarianceNorm(NodeConversion &c) {
  SmallVector<int64_t> axes;
  for (int64_t given : c.node.getInts("axes", {0, 2, 3})) {
    auto axis = c.axis(given, c.type(0).getRank());
    if (!axis)
      return failure();
    if (llvm::is_contained(axes, *axis))
      return c.fail("attribute axes names dimension " + Twine(*axis) +
                    " twice");
    axes.push_back(*axis);
  }
  llvm::sort(axes);
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= c.type(0).getDimSize(axis);
  Value x = c.input(0);
  Value centred = c.b.sub(x, c.b.mul(c.b.sum(x, axes), 1.0 / count));
  Value variance =
      c.b.mul(c.b.sum(c.b.mul(centred, centred), axes), 1.0 / count);
  return c.yield(c.b.div(centred, c.b.add(rootOf(c.b, variance, 2), 1e-9)));
}

/// Converts x / norm(x) along an axis; the result is 0 where the norm is.
static LogicalResult lpNorm(NodeConversion &c) {
  auto axis = c.axis(c.node.getInt("axis", -1), c.type(0).getRank());
  int64_t p = c.node.getInt("p", 2);
  if (!axis)
    return failure();
  if (p != 1 && p != 2)
    return c.fail("attribute p = " + Twine(p) + " is not supported");
  Value x = c.input(0);
  Value magnitude = p == 1 ? c.b.createOrFold<math::AbsFOp>(x) : c.b.mul(x, x);
  Value sum = c.b.sum(magnitude, *axis);
  // A norm of 0 is replaced, so that its slope is finite as well.
  Value isZero =
      c.b.compare(arith::CmpFPredicate::OEQ, sum, c.b.splat(0, c.b.type(sum)));
  Value norm = c.b.select(isZero, c.b.splat(1, c.b.type(sum)), sum);
  if (p == 2)
    norm = c.b.createOrFold<math::SqrtOp>(norm);
  return c.yield(c.b.div(x, norm));
}

/// Returns a running statistic as the nodes before have left it: those of an
/// encoder that is called twice have the same variables.
static Value currentStatistic(NodeConversion &c, unsigned index) {
  if (auto read = c.input(index).getDefiningOp<train::ReadOp>())
    for (auto &[variable, value] : llvm::reverse(c.state.writes))
      if (variable == read.getVariableAttr())
        return value;
  return c.input(index);
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
      currentStatistic(c, 3), currentStatistic(c, 4), APFloat(epsilonOf(c)),
      APFloat(momentum), c.state.freezeBatchNorm);
  if (!c.state.freezeBatchNorm)
    for (auto [index, value] : {std::pair(3u, norm.getNewMean()),
                                std::pair(4u, norm.getNewVariance())})
      if (auto read = c.input(index).getDefiningOp<train::ReadOp>()) {
        if (c.state.uncertainGraphs > 0)
          return c.fail("running statistics inside of a loop, or of an If that "
                        "depends on data, are not supported: give "
                        "--batch-norm=frozen, or move the node out of it");
        c.state.writes.push_back({read.getVariableAttr(), value});
      }
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
  // By the specification, a node without the third operand drops nothing.
  bool training = false;
  if (c.has(2)) {
    DenseElementsAttr value = constantOf(c.input(2));
    if (!value || value.getNumElements() != 1)
      return c.fail("operand 2 (training_mode) must be a constant of one "
                    "element" +
                    c.whatDecides(2));
    training = !(*value.getValues<APInt>().begin()).isZero();
  }
  if (!(ratio >= 0 && ratio < 1))
    return c.fail("the ratio must lie in [0, 1)");
  if (!training && ratio > 0)
    (c.has(2) ? c.state.idleDropouts : c.state.untoldDropouts)
        .push_back(c.node);
  if (!training || ratio == 0) {
    // The mask, if there is one, keeps everything.
    c.outputs.push_back({{c.input(0)}, false});
    return c.yield(c.b.splat(-1, c.type(0).clone(c.b.getI1Type())));
  }
  auto dropped = [&](Value x) -> Value {
    return c.b.create<nn::DropoutOp>(x, APFloat(ratio), c.state.nextStream++);
  };
  if (c.node.getOutputs().size() < 2 || c.node.getOutputs()[1].use_empty())
    return c.yield(dropped(c.input(0)));
  // What is kept of ones is the mask, and has the factor of the others.
  RankedTensorType type = c.type(0);
  Value factors = dropped(c.b.splat(1, type)), none = c.b.splat(0, type);
  Value isKept = c.b.compare(arith::CmpFPredicate::OGT, factors, none);
  c.outputs.push_back(
      {{c.b.select(isKept, c.b.mul(c.input(0), factors), none)}, false});
  return c.yield(isKept);
}

ArrayRef<OperatorEntry> gpuopt::normalisationOperators() {
  static const OperatorEntry entries[] = {
      {"BatchNormalization", batchNorm,
       "in training form unless --batch-norm=frozen"},
      {"Dropout", dropout, "ratio and training_mode are constants"},
      {"GroupNormalization", groupNorm},
      {"InstanceNormalization", instanceNorm},
      {"LayerNormalization", layerNorm,
       "scale and bias have exactly the shape of the normalised dimensions"},
      {"LogSoftmax", softmax<nn::LogSoftmaxOp>},
      {"LpNormalization", lpNorm},
      {"MeanVarianceNormalization", meanVarianceNorm},
      {"RMSNormalization", rmsNorm},
      {"Softmax", softmax<nn::SoftmaxOp>}};
  return entries;
}
