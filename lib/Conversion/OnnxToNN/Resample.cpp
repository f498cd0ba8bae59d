//===- Resample.cpp - Resize, and space exchanged with depth --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Resize goes along one dimension after the other. Nearest: repeated, strided
// or gathered elements, which the compiler finds out. Linear: a product with
// the matrix of weights, whose row for an output is the hat function around the
// coordinate that it reads; so the gradient is a product, too.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

namespace {

/// How one dimension is resized.
struct Axis {
  int64_t dim = 0, from = 0, to = 0;
  double scale = 1; ///< As the node gives it; to / from where it gives sizes.
};

/// The coordinate that output i reads is slope * i + offset.
struct Coordinates {
  double slope = 0, offset = 0;
};

} // namespace

/// Nothing for a mode that is not supported.
static std::optional<Coordinates> coordinatesOf(StringRef mode, Axis axis) {
  double step = 1.0 / axis.scale, centred = 0.5 * step - 0.5;
  if (mode == "half_pixel")
    return Coordinates{step, centred};
  if (mode == "pytorch_half_pixel")
    return axis.to > 1 ? Coordinates{step, centred} : Coordinates{};
  if (mode == "half_pixel_symmetric") {
    // The output's middle reads the input's, whatever the rounding of its size.
    double covered = axis.to / (axis.scale * axis.from);
    return Coordinates{step, axis.from / 2.0 * (1 - covered) + centred};
  }
  if (mode == "asymmetric")
    return Coordinates{step, 0};
  if (mode == "align_corners")
    return axis.to > 1 ? Coordinates{(axis.from - 1.0) / (axis.to - 1.0), 0}
                       : Coordinates{};
  return std::nullopt;
}

/// In single precision, as PyTorch and ONNX Runtime do it: what is a tie or a
/// whole number there is one here.
static float coordinateInSingle(StringRef mode, Axis axis, int64_t i) {
  float x = i, scale = axis.scale;
  if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && axis.to > 1))
    return (x + 0.5f) / scale - 0.5f;
  if (mode == "asymmetric")
    return x / scale;
  if (mode == "align_corners" && axis.to > 1)
    return x * float(axis.from - 1) / float(axis.to - 1);
  Coordinates c = *coordinatesOf(mode, axis);
  return float(c.slope * i + c.offset);
}

static std::optional<int64_t> roundedBy(StringRef mode, float x) {
  if (mode == "round_prefer_floor")
    return std::ceil(x - 0.5f);
  if (mode == "round_prefer_ceil")
    return std::floor(x + 0.5f);
  if (mode == "floor")
    return std::floor(x);
  if (mode == "ceil")
    return std::ceil(x);
  return std::nullopt;
}

/// Which element each output is; nothing for a mode that is not supported.
static std::optional<SmallVector<int64_t>>
nearestOf(NodeConversion &c, StringRef mode, Axis axis) {
  StringRef rounding = c.node.getString("nearest_mode", "round_prefer_floor");
  SmallVector<int64_t> picked;
  for (int64_t i = 0; i < axis.to; ++i) {
    auto at = roundedBy(rounding, coordinateInSingle(mode, axis, i));
    if (!at) {
      c.problem =
          ("attribute nearest_mode = '" + rounding + "' is not supported")
              .str();
      return std::nullopt;
    }
    picked.push_back(std::clamp<int64_t>(*at, 0, axis.from - 1));
  }
  return picked;
}

/// The product with weights [to, from]: max(0, 1 - |coordinate - index|).
static Value interpolate(nn::TensorBuilder &b, Value x, Axis axis,
                         Coordinates coordinates) {
  RankedTensorType type =
      RankedTensorType::get({axis.to, axis.from}, b.type(x).getElementType());
  auto indexAlong = [&](int64_t dim) -> Value {
    Value iota = b.create<nn::IotaOp>(type.clone(b.getI64Type()), dim);
    return b.create<arith::SIToFPOp>(type, iota);
  };
  Value at = b.add(b.mul(indexAlong(0), coordinates.slope), coordinates.offset);
  at = b.create<arith::MaximumFOp>(at, b.splat(0, type));
  at = b.create<arith::MinimumFOp>(at, b.splat(axis.from - 1, type));
  Value distance = b.create<math::AbsFOp>(b.sub(at, indexAlong(1)));
  Value weights = b.create<arith::MaximumFOp>(b.sub(b.splat(1, type), distance),
                                              b.splat(0, type));
  std::string letters, result;
  for (int64_t dim = 0; dim < b.type(x).getRank(); ++dim)
    letters += 'a' + dim;
  result = letters;
  result[axis.dim] = 'z';
  std::string spec =
      letters + ",z" + letters[axis.dim] + std::string("->") + result;
  return b.create<nn::ContractOp>(spec, x, weights);
}

/// The dimensions that change; nothing, with the problem noted, where what
/// says so is missing or does not fit.
static std::optional<SmallVector<Axis>> axesOf(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  auto dims = c.node.getInts(
      "axes", llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  std::optional<SmallVector<double>> scales;
  std::optional<SmallVector<int64_t>> sizes;
  bool hasScales = c.has(2) && c.type(2).getNumElements() > 0;
  if (hasScales ? !(scales = c.constantFloats(2))
                : !(sizes = c.constantInts(3)))
    return std::nullopt;
  if ((scales ? scales->size() : sizes->size()) != dims.size()) {
    c.problem = "scales or sizes must have one element per dimension";
    return std::nullopt;
  }
  SmallVector<Axis> axes;
  for (auto [index, given] : llvm::enumerate(dims)) {
    auto dim = c.axis(given, type.getRank());
    if (!dim)
      return std::nullopt;
    Axis axis{*dim, type.getDimSize(*dim)};
    axis.scale =
        scales ? (*scales)[index] : double((*sizes)[index]) / axis.from;
    axis.to =
        scales ? int64_t(std::floor(axis.from * axis.scale)) : (*sizes)[index];
    if (axis.from < 1 || axis.to < 1 || !(axis.scale > 0)) {
      c.problem = "the result would be empty";
      return std::nullopt;
    }
    if (axis.from != axis.to || axis.scale != 1)
      axes.push_back(axis);
  }
  return axes;
}

static LogicalResult resize(NodeConversion &c) {
  if (!c.isFloat(0))
    return c.fail("integer operands are not supported");
  StringRef mode = c.node.getString("mode", "nearest");
  StringRef transformation =
      c.node.getString("coordinate_transformation_mode", "half_pixel");
  StringRef policy = c.node.getString("keep_aspect_ratio_policy", "stretch");
  if (mode != "nearest" && mode != "linear")
    return c.fail("attribute mode = '" + mode + "' is not supported");
  if (!coordinatesOf(transformation, Axis()))
    return c.fail("attribute coordinate_transformation_mode = '" +
                  transformation + "' is not supported");
  if (policy != "stretch")
    return c.fail("attribute keep_aspect_ratio_policy = '" + policy +
                  "' is not supported");
  if (c.node.getInt("antialias", 0))
    return c.fail("attribute antialias = 1 is not supported");
  auto axes = axesOf(c);
  if (!axes)
    return failure();
  Value result = c.input(0);
  for (const Axis &axis : *axes) {
    if (mode == "linear") {
      result =
          interpolate(c.b, result, axis, *coordinatesOf(transformation, axis));
      continue;
    }
    auto picked = nearestOf(c, transformation, axis);
    if (!picked)
      return failure();
    result = pick(c.b, result, axis.dim, *picked);
  }
  return c.yield(result);
}

//===----------------------------------------------------------------------===//
// Space and depth
//===----------------------------------------------------------------------===//

static bool checkBlocks(NodeConversion &c, int64_t block) {
  if (c.type(0).getRank() != 4)
    c.problem = "the operand must have rank 4";
  else if (block < 1)
    c.problem = "attribute blocksize must be at least 1";
  return c.problem.empty();
}

static LogicalResult depthToSpace(NodeConversion &c) {
  int64_t block = c.node.getInt("blocksize", 0);
  if (!checkBlocks(c, block))
    return failure();
  ArrayRef<int64_t> from = c.type(0).getShape();
  StringRef mode = c.node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return c.fail("attribute mode = '" + mode + "' is not supported");
  if (from[1] % (block * block))
    return c.fail("blocksize^2 does not divide the channels");
  int64_t depth = from[1] / (block * block);
  bool depthFirst = mode == "CRD";
  SmallVector<int64_t> split{from[0], depthFirst ? depth : block,
                             block,   depthFirst ? block : depth,
                             from[2], from[3]};
  SmallVector<int64_t> order{0, 3, 4, 1, 5, 2};
  if (depthFirst)
    order = {0, 1, 4, 2, 5, 3};
  Value moved = c.b.transpose(c.b.reshape(c.input(0), split), order);
  return c.yield(
      c.b.reshape(moved, {from[0], depth, from[2] * block, from[3] * block}));
}

static LogicalResult spaceToDepth(NodeConversion &c) {
  int64_t block = c.node.getInt("blocksize", 0);
  if (!checkBlocks(c, block))
    return failure();
  ArrayRef<int64_t> from = c.type(0).getShape();
  if (from[2] % block || from[3] % block)
    return c.fail("blocksize does not divide the spatial dimensions");
  int64_t height = from[2] / block, width = from[3] / block;
  Value split =
      c.b.reshape(c.input(0), {from[0], from[1], height, block, width, block});
  Value moved = c.b.transpose(split, {0, 3, 5, 1, 2, 4});
  return c.yield(
      c.b.reshape(moved, {from[0], from[1] * block * block, height, width}));
}

ArrayRef<OperatorEntry> gpuopt::resampleOperators() {
  static const OperatorEntry entries[] = {
      {"DepthToSpace", depthToSpace},
      {"Resize", resize,
       "nearest and linear, no antialias, no tf_crop_and_resize, constant "
       "scales or sizes"},
      {"SpaceToDepth", spaceToDepth}};
  return entries;
}
