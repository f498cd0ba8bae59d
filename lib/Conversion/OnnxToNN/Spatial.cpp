//===- Spatial.cpp - Convolution and pooling ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ONNX has channels first, nn channels last: each op is surrounded by
// transposes, which nn-absorb-layouts moves together until they cancel.
//
// nn has windows over two dimensions. A third one, the depth, becomes a part of
// the batch (Volume.h). In a convolution, the planes that a window covers
// become channels; pooling runs over the plane first, then over the depth.
//
//===----------------------------------------------------------------------===//

#include "NarrowTypes.h"
#include "Windows.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;

static const int64_t kToChannelsLast[] = {0, 2, 3, 1},
                     kToChannelsFirst[] = {0, 3, 1, 2};

namespace {
/// Attributes of a window over two spatial dimensions, and over a third before
/// them.
struct Window {
  SmallVector<int64_t> kernel, strides, pads, dilations;
  Span depth;
};
} // namespace

/// Moves the first of three dimensions to the depth.
static void splitDepth(Window &window) {
  window.depth = {window.kernel[0], window.strides[0], window.pads[0],
                  window.pads[3], window.dilations[0]};
  for (auto *list : {&window.kernel, &window.strides, &window.dilations})
    list->erase(list->begin());
  window.pads = {window.pads[1], window.pads[2], window.pads[4],
                 window.pads[5]};
}

/// Whether an attribute has `count` numbers of at least `least`, and none so
/// large that sums of products overflow.
static bool isUsable(ArrayRef<int64_t> numbers, size_t count, int64_t least) {
  return numbers.size() == count && llvm::all_of(numbers, [&](int64_t number) {
           return number >= least && number <= INT32_MAX;
         });
}

/// Reads the attributes. A missing spatial dimension (1-D) comes first, with
/// size 1. Returns nothing, and notes the problem, if attributes do not fit.
static std::optional<Window> windowOf(NodeConversion &c,
                                      ArrayRef<int64_t> kernel) {
  size_t dims = kernel.size();
  // The depth is a part of the batch and is lost with it.
  if (dims == 3 && c.type(0).getNumElements() == 0) {
    c.problem = "operand 0 of shape " + shapesText(c.b, {c.input(0)}) +
                " has no elements, which windows over three dimensions need";
    return std::nullopt;
  }
  Window window{llvm::to_vector(kernel),
                c.node.getInts("strides", SmallVector<int64_t>(dims, 1)),
                c.node.getInts("pads", SmallVector<int64_t>(2 * dims, 0)),
                c.node.getInts("dilations", SmallVector<int64_t>(dims, 1)),
                {}};
  if (!isUsable(window.kernel, dims, 1) || !isUsable(window.strides, dims, 1) ||
      !isUsable(window.dilations, dims, 1) ||
      !isUsable(window.pads, 2 * dims, 0)) {
    c.problem = "kernel_shape, strides and dilations must be at least 1, and "
                "pads at least 0, for each spatial dimension";
    return std::nullopt;
  }
  StringRef automatic = c.node.getString("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (size_t dim = 0; dim < dims; ++dim) {
      Span span{kernel[dim], window.strides[dim], 0, 0, window.dilations[dim]};
      padToSame(span, c.type(0).getDimSize(2 + dim), automatic == "SAME_UPPER");
      window.pads[dim] = span.low;
      window.pads[dims + dim] = span.high;
    }
  }
  if (dims == 1) {
    window.kernel.insert(window.kernel.begin(), 1);
    window.strides.insert(window.strides.begin(), 1);
    window.dilations.insert(window.dilations.begin(), 1);
    window.pads = {0, window.pads[0], 0, window.pads[1]};
  }
  if (dims == 3)
    splitDepth(window);
  return window;
}

/// Whether the window fits into the padded operand; notes the problem if not.
static bool fits(NodeConversion &c, const Window &window) {
  ArrayRef<int64_t> spatial = c.type(0).getShape().drop_front(2);
  bool isIn = spatial.size() < 3 || window.depth.count(spatial.front()) >= 1;
  for (unsigned dim : {0u, 1u}) {
    if (spatial.size() == 1 && dim == 0)
      continue;
    Span span{window.kernel[dim], window.strides[dim], window.pads[dim],
              window.pads[dim + 2], window.dilations[dim]};
    isIn &= span.count(spatial[spatial.size() - 2 + dim]) >= 1;
  }
  if (!isIn)
    c.problem = "the window does not fit into the padded operand";
  return isIn;
}

/// Converts NCHW (or NCW) to NHWC; the depth of NCDHW becomes a part of the
/// batch.
static Value channelsLast(NodeConversion &c, Value value) {
  SmallVector<int64_t> shape(c.b.shape(value));
  if (shape.size() == 5) {
    value = c.b.transpose(value, {0, 2, 3, 4, 1});
    return c.b.reshape(value,
                       {shape[0] * shape[2], shape[3], shape[4], shape[1]});
  }
  if (shape.size() == 3) {
    shape.insert(shape.begin() + 2, 1);
    value = c.b.reshape(value, shape);
  }
  return c.b.transpose(value, kToChannelsLast);
}

/// Converts back, to the rank of the node's operand.
static Value channelsFirst(NodeConversion &c, Value value) {
  if (c.type(0).getRank() == 5) {
    ArrayRef<int64_t> plane = c.b.shape(value);
    int64_t batch = c.type(0).getDimSize(0);
    value = c.b.reshape(value, {batch, plane[0] / std::max<int64_t>(batch, 1),
                                plane[1], plane[2], plane[3]});
    return c.b.transpose(value, {0, 4, 1, 2, 3});
  }
  value = c.b.transpose(value, kToChannelsFirst);
  if (c.type(0).getRank() == 4)
    return value;
  SmallVector<int64_t> shape(c.b.shape(value));
  shape.erase(shape.begin() + 2);
  return c.b.reshape(value, shape);
}

static Value planar(NodeConversion &c, Value weights) {
  SmallVector<int64_t> shape(c.b.shape(weights));
  if (shape.size() == 5)
    return foldWeights(c.b, weights);
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  return c.b.reshape(weights, shape);
}

static bool checkRanks(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  bool usable = rank >= 3 && rank <= 5 && c.type(1).getRank() == rank;
  if (!usable)
    c.problem = "operands must have one to three spatial dimensions, both as "
                "many";
  return usable;
}

static LogicalResult addBias(NodeConversion &c, Value result) {
  if (c.has(2) && c.b.shape(c.input(2)) != c.b.shape(result).take_back())
    return c.fail("the bias must have one element per channel");
  // Exporters give zeros to convolutions that have no bias.
  if (c.has(2) && !matchPattern(c.input(2), m_AnyZeroFloat()))
    result = c.b.add(result, c.input(2));
  return c.yield(channelsFirst(c, result));
}

static LogicalResult conv(NodeConversion &c) {
  if (!checkRanks(c))
    return failure();
  auto window = windowOf(c, c.type(1).getShape().drop_front(2));
  if (!window)
    return failure();
  int64_t groups = c.node.getInt("group", 1);
  bool isVolume = c.type(0).getRank() == 5;
  Value x = channelsLast(c, c.input(0)), w = planar(c, c.input(1));
  if (groups < 1 ||
      c.type(0).getDimSize(1) != c.type(1).getDimSize(1) * groups ||
      c.b.shape(w)[0] % groups)
    return c.fail(
        "the weights do not fit the operand's channels and the groups");
  if (!fits(c, *window))
    return failure();
  if (isVolume)
    x = gatherDepth(c.b, x, c.type(0).getDimSize(0), window->depth, groups);
  return addBias(c, c.b.create<nn::ConvOp>(x, w, window->strides, window->pads,
                                           window->dilations, groups));
}

/// Sets the padding of a transposed convolution of which output_shape or
/// auto_pad give the size of the result. What is beyond the last window is
/// added to `extra`, the output's own padding.
static LogicalResult padToShape(NodeConversion &c, Window &window,
                                MutableArrayRef<int64_t> extra) {
  StringRef automatic = c.node.getString("auto_pad", "NOTSET");
  auto shape = c.node.getInts("output_shape");
  size_t dims = extra.size();
  if (shape && !isUsable(*shape, dims, 1))
    return c.fail("attribute output_shape must be at least 1 for each spatial "
                  "dimension");
  if (!shape && automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    return success();
  for (size_t dim = 0; dim < dims; ++dim) {
    bool isDepth = dims == 3 && dim == 0;
    size_t plane = dim + 2 - dims; // of two spatial dimensions
    Span span = isDepth ? window.depth
                        : Span{window.kernel[plane], window.strides[plane], 0,
                               0, window.dilations[plane]};
    int64_t size = c.type(0).getDimSize(2 + dim);
    int64_t wanted = shape ? (*shape)[dim] : size * span.stride;
    int64_t total =
        (size - 1) * span.stride + span.covered() + extra[dim] - wanted;
    extra[dim] += std::max<int64_t>(-total, 0);
    total = std::max<int64_t>(total, 0);
    int64_t low = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    (isDepth ? window.depth.low : window.pads[plane]) = low;
    (isDepth ? window.depth.high : window.pads[plane + 2]) = total - low;
  }
  return success();
}

static LogicalResult convTranspose(NodeConversion &c) {
  if (!checkRanks(c))
    return failure();
  auto window = windowOf(c, c.type(1).getShape().drop_front(2));
  if (!window)
    return failure();
  SmallVector<int64_t> extra = c.node.getInts(
      "output_padding", SmallVector<int64_t>(c.type(0).getRank() - 2, 0));
  if (!isUsable(extra, c.type(0).getRank() - 2, 0))
    return c.fail("attribute output_padding must be at least 0 for each "
                  "spatial dimension");
  if (failed(padToShape(c, *window, extra)))
    return failure();
  if (extra.size() == 1)
    extra.insert(extra.begin(), 0);
  int64_t extraDepth = extra.size() == 3 ? extra.front() : 0;
  extra = llvm::to_vector(ArrayRef(extra).take_back(2));
  int64_t groups = c.node.getInt("group", 1);
  Value x = channelsLast(c, c.input(0)), w = planar(c, c.input(1));
  if (groups < 1 || c.b.shape(w)[0] != c.b.shape(x)[3] ||
      c.b.shape(x)[3] % groups)
    return c.fail(
        "the weights do not fit the operand's channels and the groups");
  SmallVector<int64_t> shape{c.b.shape(x)[0]};
  for (unsigned dim : {0u, 1u})
    shape.push_back((c.b.shape(x)[1 + dim] - 1) * window->strides[dim] -
                    window->pads[dim] - window->pads[dim + 2] +
                    (window->kernel[dim] - 1) * window->dilations[dim] + 1 +
                    extra[dim]);
  shape.push_back(c.b.shape(w)[1] * groups);
  bool isVolume = c.type(0).getRank() == 5;
  if (isVolume)
    shape.push_back((c.type(0).getDimSize(2) - 1) * window->depth.stride +
                    window->depth.covered() + extraDepth - window->depth.low -
                    window->depth.high);
  if (!c.isShape(shape))
    return failure();
  shape.resize(4);
  // Rows and columns from a stride on behind the last window are of no window.
  SmallVector<int64_t> behind(4, 0), zeros(4, 0);
  for (unsigned dim : {0u, 1u}) {
    behind[1 + dim] =
        std::max<int64_t>(extra[dim] - window->strides[dim] + 1, 0);
    shape[1 + dim] -= behind[1 + dim];
  }
  // The weights [in, out / groups, h, w] are those of the adjoint convolution.
  Value result = c.b.create<nn::ConvInputGradOp>(c.b.type(x).clone(shape), x, w,
                                                 window->strides, window->pads,
                                                 window->dilations, groups);
  if (isVolume)
    result = scatterDepth(c.b, result, c.type(0).getDimSize(0), window->depth,
                          groups, extraDepth);
  if (behind != zeros)
    result = c.b.create<nn::PadOp>(
        result, zeros, behind, zeros,
        c.b.getFloatAttr(c.b.type(result).getElementType(), 0));
  return addBias(c, result);
}

static void roundUp(Window &window, ArrayRef<int64_t> spatial) {
  size_t dims = spatial.size();
  if (dims == 3)
    roundUp(window.depth, spatial.front());
  for (unsigned dim : {0u, 1u}) {
    if (dims == 1 && dim == 0)
      continue;
    Span span{window.kernel[dim], window.strides[dim], window.pads[dim],
              window.pads[dim + 2], window.dilations[dim]};
    roundUp(span, spatial[dims - 2 + dim]);
    window.pads[dim + 2] = span.high;
  }
}

static std::optional<Window> poolWindow(NodeConversion &c) {
  auto kernel = c.node.getInts("kernel_shape");
  int64_t rank = c.type(0).getRank();
  if (!kernel || rank < 3 || rank > 5 || (int64_t)kernel->size() != rank - 2) {
    c.problem = "only one to three spatial dimensions, with attribute "
                "kernel_shape for each, are supported";
    return std::nullopt;
  }
  auto window = windowOf(c, *kernel);
  if (window && c.node.getInt("ceil_mode", 0))
    roundUp(*window, c.type(0).getShape().drop_front(2));
  if (window && !fits(c, *window))
    return std::nullopt;
  return window;
}

/// Pools planes along the depth, with the depth as the height of the operand.
static Value poolDepth(NodeConversion &c, Value planes, const Span &depth,
                       llvm::function_ref<Value(Value, const Window &)> pool) {
  if (c.type(0).getRank() < 5)
    return planes;
  SmallVector<int64_t> shape(c.b.shape(planes));
  int64_t batch = c.type(0).getDimSize(0);
  Window window{{depth.size, 1},
                {depth.stride, 1},
                {depth.low, 0, depth.high, 0},
                {depth.dilation, 1},
                {}};
  Value lines =
      c.b.reshape(planes, {batch, shape[0] / std::max<int64_t>(batch, 1),
                           shape[1] * shape[2], shape[3]});
  Value pooled = pool(lines, window);
  shape[0] = batch * c.b.shape(pooled)[1];
  return c.b.reshape(pooled, shape);
}

/// Returns the places of maxima in their planes, [N, H, W, C], as places in the
/// whole operand, in row-major order or with columns that are stored whole.
static Value placesOfMaxima(NodeConversion &c, Value argmax) {
  ArrayRef<int64_t> shape = c.type(0).getShape();
  int64_t width = shape.back(), height = shape.size() == 4 ? shape[2] : 1;
  Value place = c.b.create<arith::ExtSIOp>(
      c.b.type(argmax).clone(c.b.getI64Type()), argmax);
  RankedTensorType type = c.b.type(place);
  auto times = [&](Value x, int64_t factor) {
    return c.b.createOrFold<arith::MulIOp>(x, c.b.splat(factor, type));
  };
  auto plus = [&](Value x, Value y) {
    return c.b.createOrFold<arith::AddIOp>(x, y);
  };
  if (c.node.getInt("storage_order", 0)) {
    Value row = c.b.createOrFold<arith::DivSIOp>(place, c.b.splat(width, type));
    Value column =
        c.b.createOrFold<arith::RemSIOp>(place, c.b.splat(width, type));
    place = plus(times(column, height), row);
  }
  Value plane = plus(times(c.b.create<nn::IotaOp>(type, 0), shape[1]),
                     c.b.create<nn::IotaOp>(type, 3));
  return channelsFirst(c, plus(place, times(plane, height * width)));
}

/// Pools lines and planes, with the places of the maxima.
static LogicalResult maxPoolWithPlaces(NodeConversion &c, const Window &w) {
  if (c.type(0).getRank() > 4)
    return c.fail("output 1 (indices) is supported for one or two spatial "
                  "dimensions");
  auto pool = c.b.create<nn::MaxPoolOp>(channelsLast(c, c.input(0)), w.kernel,
                                        w.strides, w.pads, w.dilations);
  c.outputs.push_back({{channelsFirst(c, pool.getResult())}, false});
  c.outputs.push_back({{placesOfMaxima(c, pool.getArgmax())}, false});
  return success();
}

static LogicalResult maxPool(NodeConversion &c);

/// Pools integers of 8 bits, all of which are numbers of single precision.
static LogicalResult maxPoolOfIntegers(NodeConversion &c) {
  if (!llvm::is_contained({2, 3}, declaredDataTypeOf(c.node.getInputs()[0])))
    return c.fail("operand 0 must be floating-point, uint8 or int8");
  RankedTensorType type = c.type(0);
  Value numbers =
      c.b.create<arith::SIToFPOp>(type.clone(c.b.getF32Type()), c.input(0));
  SmallVector<Converted> inputs{{{numbers}, false}};
  NodeConversion inner(c.node, inputs, c.b, c.state);
  if (failed(maxPool(inner)))
    return c.fail(inner.problem);
  // A window that lies in the padding alone has the least integer.
  bool isSigned = declaredDataTypeOf(c.node.getInputs()[0]) == 3;
  Value &largest = inner.outputs.front().tensors.front();
  largest = c.b.createOrFold<arith::MaximumFOp>(
      largest, c.b.splat(isSigned ? -128 : 0, c.b.type(largest)));
  largest = c.b.create<arith::FPToSIOp>(
      c.b.type(largest).clone(type.getElementType()), largest);
  c.outputs = inner.outputs;
  return success();
}

/// Among equal elements, the first in the plane of the first depth wins: it is
/// the first of the window.
static LogicalResult maxPool(NodeConversion &c) {
  if (!c.isFloat(0))
    return maxPoolOfIntegers(c);
  auto window = poolWindow(c);
  if (!window)
    return failure();
  if (c.node.getOutputs().size() > 1 && !c.node.getOutputs()[1].use_empty())
    return maxPoolWithPlaces(c, *window);
  auto pool = [&](Value x, const Window &w) -> Value {
    return c.b
        .create<nn::MaxPoolOp>(x, w.kernel, w.strides, w.pads, w.dilations)
        .getResult();
  };
  Value planes = pool(channelsLast(c, c.input(0)), *window);
  return c.yield(channelsFirst(c, poolDepth(c, planes, window->depth, pool)));
}

static LogicalResult averagePool(NodeConversion &c) {
  auto window = poolWindow(c);
  if (!window)
    return failure();
  bool isDilated = window->dilations != SmallVector<int64_t>{1, 1} ||
                   window->depth.dilation != 1;
  if (isDilated ||
      (c.node.getInt("ceil_mode", 0) && c.node.getInt("count_include_pad", 0)))
    return averageWindows(c);
  bool countsPads = c.node.getInt("count_include_pad", 0) != 0;
  auto pool = [&](Value x, const Window &w) -> Value {
    return c.b.create<nn::AvgPoolOp>(x, w.kernel, w.strides, w.pads,
                                     countsPads);
  };
  Value planes = pool(channelsLast(c, c.input(0)), *window);
  return c.yield(channelsFirst(c, poolDepth(c, planes, window->depth, pool)));
}

static LogicalResult globalPool(NodeConversion &c, nn::ReductionKind kind) {
  if (c.type(0).getRank() < 3)
    return c.fail("the operand must have spatial dimensions");
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
       "one to three spatial dimensions, windows of up to 256 in a dimension "
       "where dilated or rounded up with pads counted"},
      {"Conv", conv, "one to three spatial dimensions"},
      {"ConvTranspose", convTranspose, "one to three spatial dimensions"},
      {"GlobalAveragePool", globalAveragePool},
      {"GlobalMaxPool", globalMaxPool},
      {"MaxPool", maxPool,
       "one to three spatial dimensions, indices of one or two"}};
  return entries;
}
