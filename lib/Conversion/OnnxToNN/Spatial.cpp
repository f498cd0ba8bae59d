//===- Spatial.cpp - Convolution and pooling ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ONNX has channels first, nn channels last: each op is surrounded by
// transposes, which nn-absorb-layouts moves together until they cancel.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

static const int64_t kToChannelsLast[] = {0, 2, 3, 1},
                     kToChannelsFirst[] = {0, 3, 1, 2};

namespace {
/// Attributes of a window over two spatial dimensions.
struct Window {
  SmallVector<int64_t> kernel, strides, pads, dilations;
};
} // namespace

/// Reads the attributes; a missing spatial dimension (1-D) goes first, with
/// size 1. Nothing, with the problem noted, for more than two dimensions.
static std::optional<Window> windowOf(NodeConversion &c,
                                      ArrayRef<int64_t> kernel) {
  size_t dims = kernel.size();
  if (dims != 1 && dims != 2) {
    c.problem = "only one or two spatial dimensions are supported";
    return std::nullopt;
  }
  Window window{llvm::to_vector(kernel),
                c.node.getInts("strides", SmallVector<int64_t>(dims, 1)),
                c.node.getInts("pads", SmallVector<int64_t>(2 * dims, 0)),
                c.node.getInts("dilations", SmallVector<int64_t>(dims, 1))};
  StringRef automatic = c.node.getString("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (size_t dim = 0; dim < dims; ++dim) {
      int64_t size = c.type(0).getDimSize(2 + dim),
              stride = window.strides[dim];
      int64_t covered = (llvm::divideCeil(size, stride) - 1) * stride +
                        (kernel[dim] - 1) * window.dilations[dim] + 1;
      int64_t total = std::max<int64_t>(covered - size, 0);
      int64_t begin = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.pads[dim] = begin;
      window.pads[dims + dim] = total - begin;
    }
  }
  if (dims == 1) {
    window.kernel.insert(window.kernel.begin(), 1);
    window.strides.insert(window.strides.begin(), 1);
    window.dilations.insert(window.dilations.begin(), 1);
    window.pads = {0, window.pads[0], 0, window.pads[1]};
  }
  return window;
}

/// NCHW (or NCW) to NHWC.
static Value channelsLast(NodeConversion &c, Value value) {
  SmallVector<int64_t> shape(c.b.shape(value));
  if (shape.size() == 3) {
    shape.insert(shape.begin() + 2, 1);
    value = c.b.reshape(value, shape);
  }
  return c.b.transpose(value, kToChannelsLast);
}

/// Back, to the rank that the node's operand had.
static Value channelsFirst(NodeConversion &c, Value value) {
  value = c.b.transpose(value, kToChannelsFirst);
  if (c.type(0).getRank() == 4)
    return value;
  SmallVector<int64_t> shape(c.b.shape(value));
  shape.erase(shape.begin() + 2);
  return c.b.reshape(value, shape);
}

static Value planar(NodeConversion &c, Value weights) {
  SmallVector<int64_t> shape(c.b.shape(weights));
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  return c.b.reshape(weights, shape);
}

static bool checkOperands(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  bool usable = c.isFloat(0) && (rank == 3 || rank == 4) &&
                c.type(1).getRank() == rank &&
                c.type(0).getElementType() == c.type(1).getElementType();
  if (!usable)
    c.problem = "operands must have one floating-point type and one or two "
                "spatial dimensions";
  return usable;
}

static LogicalResult addBias(NodeConversion &c, Value result) {
  if (c.has(2))
    result = c.b.add(result, c.input(2));
  return c.yield(channelsFirst(c, result));
}

static LogicalResult conv(NodeConversion &c) {
  if (!checkOperands(c))
    return failure();
  auto window = windowOf(c, c.type(1).getShape().drop_front(2));
  if (!window)
    return failure();
  int64_t groups = c.node.getInt("group", 1);
  Value x = channelsLast(c, c.input(0)), w = planar(c, c.input(1));
  if (groups < 1 || c.type(0).getDimSize(1) != c.b.shape(w)[1] * groups ||
      c.b.shape(w)[0] % groups)
    return c.fail(
        "the weights do not fit the operand's channels and the groups");
  for (unsigned dim : {0u, 1u})
    if (c.b.shape(x)[1 + dim] + window->pads[dim] + window->pads[dim + 2] <
        (window->kernel[dim] - 1) * window->dilations[dim] + 1)
      return c.fail("the window does not fit into the padded operand");
  return addBias(c, c.b.create<nn::ConvOp>(x, w, window->strides, window->pads,
                                           window->dilations, groups));
}

static LogicalResult convTranspose(NodeConversion &c) {
  if (!checkOperands(c))
    return failure();
  auto window = windowOf(c, c.type(1).getShape().drop_front(2));
  if (!window)
    return failure();
  if (c.node.hasOnnxAttribute("output_shape") ||
      c.node.getString("auto_pad", "NOTSET") != "NOTSET")
    return c.fail("attributes output_shape and auto_pad are not supported");
  SmallVector<int64_t> extra = c.node.getInts(
      "output_padding", SmallVector<int64_t>(c.type(0).getRank() - 2, 0));
  if (extra.size() == 1)
    extra.insert(extra.begin(), 0);
  int64_t groups = c.node.getInt("group", 1);
  Value x = channelsLast(c, c.input(0)), w = planar(c, c.input(1));
  if (c.b.shape(w)[0] != c.b.shape(x)[3] || c.b.shape(x)[3] % groups)
    return c.fail(
        "the weights do not fit the operand's channels and the groups");
  SmallVector<int64_t> shape{c.b.shape(x)[0]};
  for (unsigned dim : {0u, 1u})
    shape.push_back((c.b.shape(x)[1 + dim] - 1) * window->strides[dim] -
                    window->pads[dim] - window->pads[dim + 2] +
                    (window->kernel[dim] - 1) * window->dilations[dim] + 1 +
                    extra[dim]);
  shape.push_back(c.b.shape(w)[1] * groups);
  // The weights [in, out / groups, h, w] are those of the adjoint convolution.
  return addBias(c, c.b.create<nn::ConvInputGradOp>(
                        c.b.type(x).clone(shape), x, w, window->strides,
                        window->pads, window->dilations, groups));
}

/// Pads the end for a last window that does not fit whole, unless it would
/// begin in what is padded there.
static void roundUp(Window &window, ArrayRef<int64_t> spatial) {
  for (unsigned dim : {0u, 1u}) {
    if (spatial.size() == 1 && dim == 0)
      continue;
    int64_t size = spatial[spatial.size() - 2 + dim] + window.pads[dim];
    int64_t stride = window.strides[dim], &end = window.pads[dim + 2];
    int64_t covered = (window.kernel[dim] - 1) * window.dilations[dim] + 1;
    int64_t last =
        llvm::divideCeil(std::max<int64_t>(0, size + end - covered), stride);
    if (last * stride >= size)
      --last;
    end = std::max(end, last * stride + covered - size);
  }
}

static std::optional<Window> poolWindow(NodeConversion &c) {
  auto kernel = c.node.getInts("kernel_shape");
  int64_t rank = c.type(0).getRank();
  if (!c.isFloat(0) || !kernel || (rank != 3 && rank != 4) ||
      (int64_t)kernel->size() != rank - 2) {
    c.problem = "only floating-point operands with one or two spatial "
                "dimensions are supported";
    return std::nullopt;
  }
  auto window = windowOf(c, *kernel);
  if (window && c.node.getInt("ceil_mode", 0))
    roundUp(*window, c.type(0).getShape().drop_front(2));
  return window;
}

static LogicalResult maxPool(NodeConversion &c) {
  auto window = poolWindow(c);
  if (!window)
    return failure();
  auto pool = c.b.create<nn::MaxPoolOp>(channelsLast(c, c.input(0)),
                                        window->kernel, window->strides,
                                        window->pads, window->dilations);
  return c.yield(channelsFirst(c, pool.getResult()));
}

static LogicalResult averagePool(NodeConversion &c) {
  auto window = poolWindow(c);
  if (!window)
    return failure();
  if (window->dilations != SmallVector<int64_t>{1, 1})
    return c.fail("attribute dilations is not supported");
  if (c.node.getInt("ceil_mode", 0) && c.node.getInt("count_include_pad", 0))
    return c.fail("attributes ceil_mode = 1 and count_include_pad = 1 are not "
                  "supported together");
  Value pooled = c.b.create<nn::AvgPoolOp>(
      channelsLast(c, c.input(0)), window->kernel, window->strides,
      window->pads, c.node.getInt("count_include_pad", 0) != 0);
  return c.yield(channelsFirst(c, pooled));
}

static LogicalResult globalPool(NodeConversion &c, nn::ReductionKind kind) {
  if (c.type(0).getRank() < 3 || !c.isFloat(0))
    return c.fail(
        "the operand must be floating-point and have spatial dimensions");
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, c.type(0).getRank()));
  Value reduced = c.b.reduce(kind, c.input(0), dims);
  double count =
      (double)c.type(0).getNumElements() / c.b.type(reduced).getNumElements();
  return c.yield(kind == nn::ReductionKind::Sum ? c.b.mul(reduced, 1 / count)
                                                : reduced);
}
static LogicalResult globalAveragePool(NodeConversion &c) {
  return globalPool(c, nn::ReductionKind::Sum);
}
static LogicalResult globalMaxPool(NodeConversion &c) {
  return globalPool(c, nn::ReductionKind::Max);
}

ArrayRef<OperatorEntry> gpuopt::spatialOperators() {
  static const OperatorEntry entries[] = {
      {"AveragePool", averagePool,
       "one or two spatial dimensions, no dilations, ceil_mode without "
       "count_include_pad"},
      {"Conv", conv, "one or two spatial dimensions"},
      {"ConvTranspose", convTranspose,
       "one or two spatial dimensions, no output_shape, no auto_pad"},
      {"GlobalAveragePool", globalAveragePool},
      {"GlobalMaxPool", globalMaxPool},
      {"MaxPool", maxPool, "one or two spatial dimensions, no indices"}};
  return entries;
}
