//===- Resample.cpp - Resize, and space exchanged with depth --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Converts Resize one dimension after the other. Mode nearest repeats, strides
// or gathers elements, whichever fits the indices. Mode linear is a product
// with a matrix of weights, whose row for an output is the hat function around
// the coordinate that it reads; so the gradient is a product, too.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "llvm/ADT/DenseSet.h"

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
  int64_t number = 0; ///< Among those that the node names.
  double scale = 1;   ///< As the node gives it; to / from where it gives sizes.
};

/// Output i reads the coordinate slope * i + offset.
struct Coordinates {
  double slope = 0, offset = 0;
};

} // namespace

/// Returns the coordinates, or nothing for a mode that is not supported.
static std::optional<Coordinates> coordinatesOf(StringRef mode, Axis axis) {
  double step = 1.0 / axis.scale, centred = 0.5 * step - 0.5;
  if (mode == "half_pixel")
    return Coordinates{step, centred};
  if (mode == "pytorch_half_pixel")
    return axis.to > 1 ? Coordinates{step, centred} : Coordinates{};
  if (mode == "half_pixel_symmetric") {
    // The middle of the output reads the middle of the input, however its size
    // was rounded.
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

/// Computes a coordinate in single precision, as PyTorch and ONNX Runtime do,
/// so that ties and whole numbers are the same as theirs.
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

/// Up to opset 10, the attributes that choose coordinates are missing.
static bool isOld(NodeConversion &c) { return c.node.getOpset() < 11; }

/// Returns which element each output is; nothing for a mode that is not
/// supported.
static std::optional<SmallVector<int64_t>>
nearestOf(NodeConversion &c, StringRef mode, Axis axis) {
  StringRef rounding = c.node.getString(
      "nearest_mode", isOld(c) ? "floor" : "round_prefer_floor");
  if (!c.canCompute(axis.to))
    return std::nullopt;
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

namespace {

/// Builds the weights [to, from] with which the elements of one dimension are
/// averaged, from the distance of each element to the coordinate.
class Weights {
public:
  Weights(nn::TensorBuilder &b, Type element, Axis axis,
          Coordinates coordinates)
      : b(b), from(axis.from),
        type(RankedTensorType::get({axis.to, axis.from}, element)) {
    at = b.add(b.mul(indexAlong(0), coordinates.slope), coordinates.offset);
  }

  /// Weights are max(0, 1 - |distance|). Coordinates beyond the ends read the
  /// last elements.
  Value linear() {
    at = b.create<arith::MaximumFOp>(at, b.splat(0, type));
    at = b.create<arith::MinimumFOp>(at, b.splat(from - 1, type));
    Value distance = b.create<math::AbsFOp>(b.sub(at, indexAlong(1)));
    return b.create<arith::MaximumFOp>(b.sub(b.splat(1, type), distance),
                                       b.splat(0, type));
  }

  /// Weights are Keys's cubic convolution with the slope `a` at a distance of
  /// 1. Elements beyond the ends, at most two on each side, are those at the
  /// ends.
  Value cubic(double a) {
    Value index = indexAlong(1);
    auto isAt = [&](int64_t end) {
      return b.compare(arith::CmpFPredicate::OEQ, index, b.splat(end, type));
    };
    auto beyond = [&](int64_t first, int64_t second, int64_t end) {
      Value outside =
          b.add(kernel(b.add(at, -first), a), kernel(b.add(at, -second), a));
      return b.select(isAt(end), outside, b.splat(0, type));
    };
    Value ends = b.add(beyond(-1, -2, 0), beyond(from, from + 1, from - 1));
    return b.add(kernel(b.sub(at, index), a), ends);
  }

private:
  Value indexAlong(int64_t dim) {
    Value iota = b.create<nn::IotaOp>(type.clone(b.getI64Type()), dim);
    return b.create<arith::SIToFPOp>(type, iota);
  }

  /// Computes, for x = |distance|, (a + 2) x^3 - (a + 3) x^2 + 1 up to 1, and
  /// a (x^3 - 5 x^2 + 8 x - 4) up to 2.
  Value kernel(Value distance, double a) {
    Value x = b.create<math::AbsFOp>(distance);
    Value square = b.mul(x, x);
    Value near = b.add(b.mul(square, b.add(b.mul(x, a + 2), -(a + 3))), 1.0);
    Value far =
        b.mul(b.add(b.mul(x, b.add(b.mul(x, b.add(x, -5.0)), 8.0)), -4.0), a);
    auto within = [&](double limit) {
      return b.compare(arith::CmpFPredicate::OLT, x, b.splat(limit, type));
    };
    Value outer = b.select(within(2), far, b.splat(0, type));
    return b.select(within(1), near, outer);
  }

  nn::TensorBuilder &b;
  int64_t from;
  RankedTensorType type;
  Value at; ///< The coordinate of each output.
};

} // namespace

/// The weight of an element at a distance from the coordinate: linear, or
/// Keys's cubic convolution with the slope `a`.
static double filterAt(double distance, std::optional<double> a) {
  double x = std::abs(distance);
  if (!a)
    return std::max(0.0, 1 - x);
  if (x <= 1)
    return ((*a + 2) * x - (*a + 3)) * x * x + 1;
  return x < 2 ? *a * (((x - 5) * x + 8) * x - 4) : 0;
}

/// Computes weights [to, from] one by one. With `antialias`, the filter of a
/// smaller result is as wide as its elements are; with `excludesOutside`,
/// elements beyond the ends do not count, instead of being those at the ends.
/// Returns null, and notes the problem, if the weights are too many.
static Value filterWeights(NodeConversion &c, const Axis &axis,
                           Coordinates coordinates, std::optional<double> a,
                           bool antialias, bool excludesOutside) {
  if (axis.from > kMostComputedElements / axis.to) {
    c.problem = "a dimension of " + std::to_string(axis.from) +
                " elements is too large to be resized to " +
                std::to_string(axis.to) + " in this way";
    return {};
  }
  double width = antialias ? std::min(axis.scale, 1.0) : 1;
  int64_t reach = std::ceil((a ? 2 : 1) / width);
  Type element = c.type(0).getElementType();
  SmallVector<APFloat> rounded;
  for (int64_t i = 0; i < axis.to; ++i) {
    double at = coordinates.slope * i + coordinates.offset, sum = 0;
    constexpr double kFar = 1e9; // beyond all elements
    at = std::isfinite(at) ? std::clamp(at, -kFar, kFar) : kFar;
    SmallVector<double> row(axis.from, 0);
    int64_t middle = std::floor(at);
    for (int64_t k = middle - reach; k <= middle + reach + 1; ++k) {
      if (excludesOutside && (k < 0 || k >= axis.from))
        continue;
      double weight = filterAt((k - at) * width, a);
      row[std::clamp<int64_t>(k, 0, axis.from - 1)] += weight;
      sum += weight;
    }
    for (double weight : row)
      rounded.push_back(
          c.b.getFloatAttr(element, sum == 0 ? 0 : weight / sum).getValue());
  }
  auto type = RankedTensorType::get({axis.to, axis.from}, element);
  return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, rounded));
}

/// Whether the result shows a region of the operand.
static bool cropsRegion(NodeConversion &c) {
  return c.node.getString("coordinate_transformation_mode", "half_pixel") ==
         "tf_crop_and_resize";
}

/// Returns the dimensions that change. Returns nothing, and notes the problem,
/// if the sizes or scales are missing or do not fit.
static std::optional<SmallVector<Axis>> resizedAxes(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  auto dims = c.node.getInts(
      "axes", llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  std::optional<SmallVector<double>> scales;
  std::optional<SmallVector<int64_t>> sizes;
  bool hasScales = c.has(2) && c.type(2).getNumElements() > 0;
  if (!hasScales && !c.has(3)) {
    c.problem = "operand 2 (scales) or 3 (sizes) must be given, but both are "
                "missing or empty";
    return std::nullopt;
  }
  if (hasScales ? !(scales = c.constantFloats(2))
                : !(sizes = c.constantInts(3)))
    return std::nullopt;
  size_t given = scales ? scales->size() : sizes->size();
  if (given != dims.size()) {
    c.problem = "operand " + std::to_string(scales ? 2 : 3) +
                (scales ? " (scales)" : " (sizes)") +
                " must have one number for each of the " +
                std::to_string(dims.size()) + " dimensions that are resized" +
                ", but has " + std::to_string(given);
    return std::nullopt;
  }
  // Sizes that keep the aspect ratio are limits of one scale for all.
  StringRef policy = c.node.getString("keep_aspect_ratio_policy", "stretch");
  std::optional<double> common;
  for (auto [index, given] : llvm::enumerate(dims))
    if (auto dim = c.axis(given, type.getRank());
        dim && sizes && policy != "stretch" && type.getDimSize(*dim) > 0) {
      double scale = double((*sizes)[index]) / type.getDimSize(*dim);
      common = !common                  ? scale
               : policy == "not_larger" ? std::min(*common, scale)
                                        : std::max(*common, scale);
    }
  SmallVector<Axis> axes;
  llvm::SmallDenseSet<int64_t> named;
  for (auto [index, given] : llvm::enumerate(dims)) {
    auto dim = c.axis(given, type.getRank());
    if (!dim)
      return std::nullopt;
    if (!named.insert(*dim).second) {
      c.problem =
          "attribute axes names dimension " + std::to_string(*dim) + " twice";
      return std::nullopt;
    }
    Axis axis{*dim, type.getDimSize(*dim)};
    axis.number = index;
    // A dimension without elements can only stay so.
    if (axis.from == 0 &&
        (!sizes || policy != "stretch" || (*sizes)[index] == 0))
      continue;
    if (axis.from == 0) {
      c.problem = "dimension " + std::to_string(*dim) +
                  " has no elements and cannot be resized to " +
                  std::to_string((*sizes)[index]);
      return std::nullopt;
    }
    axis.scale = scales   ? (*scales)[index]
                 : common ? *common
                          : double((*sizes)[index]) / axis.from;
    if (!(axis.from * axis.scale <= INT32_MAX)) { // nor NaN
      c.problem = "the result would be too large";
      return std::nullopt;
    }
    // Scales are floats, and so are their products with sizes, in PyTorch and
    // onnxruntime: 10 * 0.7 is 7, where that of the double nearest to the float
    // 0.7 is less.
    axis.to = scales ? int64_t(std::floor(float(axis.from) * float(axis.scale)))
              : common ? int64_t(std::floor(axis.from * axis.scale + 0.5))
                       : (*sizes)[index];
    if (axis.from < 1 || axis.to < 1 || !(axis.scale > 0)) {
      c.problem = "the result would be empty";
      return std::nullopt;
    }
    if (axis.from != axis.to || axis.scale != 1 || cropsRegion(c))
      axes.push_back(axis);
  }
  return axes;
}

/// Resizes one dimension to a region of it. What the result shows from outside
/// of the operand is the attribute extrapolation_value.
static Value cropped(NodeConversion &c, Value x, const Axis &axis,
                     size_t axisCount, std::optional<double> a) {
  auto region = c.constantFloats(1);
  if (!region || region->size() != 2 * axisCount) {
    c.problem = "operand 1 (the region) must be a constant of two numbers for "
                "each dimension that is resized" +
                c.whatDecides(1);
    return {};
  }
  double begin = (*region)[axis.number],
         end = (*region)[axisCount + axis.number], last = axis.from - 1;
  Coordinates coordinates{0, (begin + end) / 2 * last};
  if (axis.to > 1)
    coordinates = {(end - begin) * last / (axis.to - 1), begin * last};
  Value weights = filterWeights(c, axis, coordinates, a, /*antialias=*/false,
                                c.node.getInt("exclude_outside", 0) != 0);
  if (!weights)
    return {};
  x = multiplyAlong(c.b, x, axis.dim, weights, /*isTransposed=*/true);
  SmallVector<bool> isOutside;
  for (int64_t i = 0; i < axis.to; ++i) {
    double at = coordinates.slope * i + coordinates.offset;
    isOutside.push_back(!(at >= 0 && at <= last)); // nor NaN
  }
  SmallVector<int64_t> line(c.b.type(x).getRank(), 1);
  line[axis.dim] = axis.to;
  Value outside = c.b.create<arith::ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get(line, c.b.getI1Type()), isOutside));
  return c.b.select(
      c.b.broadcast(outside, c.b.shape(x)),
      c.b.splat(c.node.getFloat("extrapolation_value", 0), c.b.type(x)), x);
}

static LogicalResult resize(NodeConversion &c) {
  StringRef mode = c.node.getString("mode", "nearest");
  StringRef transformation = c.node.getString(
      "coordinate_transformation_mode", isOld(c) ? "asymmetric" : "half_pixel");
  StringRef policy = c.node.getString("keep_aspect_ratio_policy", "stretch");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return c.fail("attribute mode = '" + mode + "' is not supported");
  bool crops = cropsRegion(c);
  if (!crops && !coordinatesOf(transformation, Axis()))
    return c.fail("attribute coordinate_transformation_mode = '" +
                  transformation + "' is not supported");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return c.fail("attribute keep_aspect_ratio_policy = '" + policy +
                  "' is not supported");
  bool antialias = c.node.getInt("antialias", 0),
       excludesOutside = c.node.getInt("exclude_outside", 0);
  if (crops && (mode == "nearest" || antialias))
    return c.fail("tf_crop_and_resize is supported only with mode linear or "
                  "cubic, without antialias");
  std::optional<double> cubic;
  if (mode == "cubic")
    cubic = c.node.getFloat("cubic_coeff_a", -0.75);
  auto axes = resizedAxes(c);
  if (!axes || (mode != "nearest" && !c.hasLetters(c.type(0).getRank())))
    return failure();
  Value result = c.input(0);
  for (const Axis &axis : *axes) {
    if (crops) {
      result = cropped(c, result, axis,
                       c.node.getInts("axes")
                           .value_or(SmallVector<int64_t>(c.type(0).getRank()))
                           .size(),
                       cubic);
      if (!result)
        return failure();
      continue;
    }
    if (mode != "nearest" && (antialias || excludesOutside)) {
      Value weights =
          filterWeights(c, axis, *coordinatesOf(transformation, axis), cubic,
                        antialias, excludesOutside);
      if (!weights)
        return failure();
      result =
          multiplyAlong(c.b, result, axis.dim, weights, /*isTransposed=*/true);
      continue;
    }
    if (mode != "nearest") {
      Weights weights(c.b, c.type(0).getElementType(), axis,
                      *coordinatesOf(transformation, axis));
      result = multiplyAlong(c.b, result, axis.dim,
                             cubic ? weights.cubic(*cubic) : weights.linear(),
                             /*isTransposed=*/true);
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

/// The square of a larger block has more elements than a tensor.
static constexpr int64_t kLargestBlock = int64_t(1) << 24;
static_assert(kLargestBlock * kLargestBlock <= kMostElements);

static bool checkBlocks(NodeConversion &c, int64_t block) {
  if (c.type(0).getRank() != 4)
    c.problem = "the operand must have rank 4";
  else if (block < 1)
    c.problem = "attribute blocksize must be at least 1";
  else if (block > kLargestBlock)
    c.problem = "attribute blocksize = " + std::to_string(block) +
                " must be at most " + std::to_string(kLargestBlock);
  // Only a tensor without elements has larger dimensions than these.
  for (int64_t size : c.type(0).getShape())
    if (c.problem.empty() && size > INT64_MAX / (block * block))
      c.problem = "attribute blocksize = " + std::to_string(block) +
                  " is too large for a dimension of " + std::to_string(size);
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
  StringRef mode = c.node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return c.fail("attribute mode = '" + mode + "' is not supported");
  if (from[2] % block || from[3] % block)
    return c.fail("blocksize does not divide the spatial dimensions");
  int64_t height = from[2] / block, width = from[3] / block;
  Value split =
      c.b.reshape(c.input(0), {from[0], from[1], height, block, width, block});
  SmallVector<int64_t> order{0, 3, 5, 1, 2, 4};
  if (mode == "CRD")
    order = {0, 1, 3, 5, 2, 4};
  Value moved = c.b.transpose(split, order);
  return c.yield(
      c.b.reshape(moved, {from[0], from[1] * block * block, height, width}));
}

ArrayRef<OperatorEntry> gpuopt::resampleOperators() {
  static const OperatorEntry entries[] = {
      {"DepthToSpace", depthToSpace},
      {"Resize", resize,
       "floating-point operands, constant scales, sizes and regions; "
       "tf_crop_and_resize of linear and "
       "cubic alone"},
      {"SpaceToDepth", spaceToDepth},
      {"Upsample", resize, "as Resize, up to opset 9"}};
  return entries;
}
