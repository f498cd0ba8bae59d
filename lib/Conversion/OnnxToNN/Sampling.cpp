//===- Sampling.cpp - Images read at computed places ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// GridSample reads an image of any number of spatial dimensions at coordinates
// that are computed. Along each dimension a coordinate touches some elements,
// the taps, each with a weight; a result is the sum over all combinations of
// taps. Elements are taken as rows of channels, so the gradient of the image
// adds rows, and that of the coordinates follows from the weights.
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace gpuopt;

namespace {

enum class Padding { Zeros, Border, Reflection };
enum class Mode { Nearest, Linear, Cubic };

/// One element that a coordinate touches along a dimension.
struct Tap {
  Value index;  ///< i64, within the dimension.
  Value weight; ///< Null for 1.
};

/// The taps of one dimension of `size` elements.
class Line {
public:
  Line(nn::TensorBuilder &b, int64_t size, Padding padding, bool alignCorners)
      : b(b), size(size), padding(padding), alignCorners(alignCorners) {}

  /// `grid` has coordinates from -1 to 1.
  SmallVector<Tap> taps(Value grid, Mode mode) {
    Value x = alignCorners
                  ? b.mul(b.add(grid, 1.0), (size - 1) / 2.0)
                  : b.mul(b.add(b.mul(b.add(grid, 1.0), size), -1.0), 0.5);
    if (mode == Mode::Cubic)
      return cubic(x);
    x = padded(x);
    if (mode == Mode::Nearest)
      return {tap(b.create<math::RoundEvenOp>(x), Value())};
    Value low = b.create<math::FloorOp>(x);
    Value part = b.sub(x, low);
    Value rest = b.sub(b.splat(1, b.type(x)), part);
    return {tap(low, rest), tap(b.add(low, 1.0), part)};
  }

private:
  /// Keys's cubic convolution with a slope of -3/4. Each tap is padded alone.
  SmallVector<Tap> cubic(Value x) {
    constexpr double kSlope = -0.75;
    Value low = b.create<math::FloorOp>(x);
    Value t = b.sub(x, low);
    auto near = [&](Value d) { // up to a distance of 1
      Value line = b.add(b.mul(d, kSlope + 2), -(kSlope + 3));
      return b.add(b.mul(b.mul(line, d), d), 1.0);
    };
    auto far = [&](Value d) { // up to a distance of 2
      Value inner = b.add(b.mul(b.add(d, -5.0), d), 8.0);
      return b.mul(b.add(b.mul(inner, d), -4.0), kSlope);
    };
    Value rest = b.sub(b.splat(1, b.type(t)), t);
    return {tap(padded(b.add(low, -1.0)), far(b.add(t, 1.0))),
            tap(padded(low), near(t)), tap(padded(b.add(low, 1.0)), near(rest)),
            tap(padded(b.add(low, 2.0)), far(b.add(rest, 1.0)))};
  }

  /// Moves a coordinate into the dimension. With zeros, it stays outside.
  Value padded(Value x) {
    if (padding == Padding::Zeros)
      return x;
    if (padding == Padding::Reflection)
      x = reflected(x);
    x = b.createOrFold<arith::MaximumFOp>(x, b.splat(0, b.type(x)));
    return b.createOrFold<arith::MinimumFOp>(x, b.splat(size - 1, b.type(x)));
  }

  /// Reflects at the first and the last element, or at their outer edges.
  Value reflected(Value x) {
    double low = alignCorners ? 0 : -0.5;
    double span = alignCorners ? size - 1 : size;
    RankedTensorType type = b.type(x);
    if (span == 0)
      return b.splat(0, type);
    Value distance = b.create<math::AbsFOp>(b.add(x, -low));
    Value within = b.create<arith::RemFOp>(distance, b.splat(2 * span, type));
    Value back = b.sub(b.splat(2 * span, type), within);
    Value isFirst =
        b.compare(arith::CmpFPredicate::OLE, within, b.splat(span, type));
    return b.add(b.select(isFirst, within, back), low);
  }

  /// Makes a tap of a whole coordinate. What lies outside has no weight.
  Tap tap(Value at, Value weight) {
    RankedTensorType type = b.type(at), index = type.clone(b.getI64Type());
    if (padding == Padding::Zeros) {
      Value isIn = b.createOrFold<arith::AndIOp>(
          b.compare(arith::CmpFPredicate::OGE, at, b.splat(0, type)),
          b.compare(arith::CmpFPredicate::OLE, at, b.splat(size - 1, type)));
      weight =
          b.select(isIn, weight ? weight : b.splat(1, type), b.splat(0, type));
    }
    Value place = b.create<arith::FPToSIOp>(index, at);
    place = b.createOrFold<arith::MaxSIOp>(place, b.splat(0, index));
    place = b.createOrFold<arith::MinSIOp>(place, b.splat(size - 1, index));
    return {place, weight};
  }

  nn::TensorBuilder &b;
  int64_t size;
  Padding padding;
  bool alignCorners;
};

} // namespace

/// Returns the coordinates of one dimension, [batch, outputs...].
static Value coordinatesOf(NodeConversion &c, int64_t number) {
  SmallVector<int64_t> shape(c.type(1).getShape()), offsets(shape.size(), 0),
      ones(shape.size(), 1);
  offsets.back() = number;
  shape.back() = 1;
  Value part = c.b.createOrFold<nn::SliceOp>(c.input(1), offsets, shape, ones);
  return c.b.reshape(part, ArrayRef(shape).drop_back());
}

/// Sums what the taps of all dimensions take from `rows` [batch * elements,
/// channels], from dimension `dim` on.
static Value sumTaps(nn::TensorBuilder &b, Value rows,
                     ArrayRef<SmallVector<Tap>> taps, ArrayRef<int64_t> sizes,
                     Value place, Value weight) {
  if (taps.empty()) {
    Value taken = b.create<nn::TakeOp>(rows, place);
    if (!weight)
      return taken;
    SmallVector<int64_t> wide(b.shape(weight));
    wide.push_back(1);
    return b.mul(taken, b.reshape(weight, wide));
  }
  Value sum;
  for (const Tap &tap : taps.front()) {
    Value next = b.createOrFold<arith::MulIOp>(
        place, b.splat(sizes.front(), b.type(place)));
    next = b.createOrFold<arith::AddIOp>(next, tap.index);
    Value product = weight && tap.weight ? b.mul(weight, tap.weight)
                    : weight             ? weight
                                         : tap.weight;
    Value part =
        sumTaps(b, rows, taps.drop_front(), sizes.drop_front(), next, product);
    sum = sum ? b.add(sum, part) : part;
  }
  return sum;
}

static LogicalResult gridSample(NodeConversion &c) {
  int64_t rank = c.type(0).getRank(), spatial = rank - 2;
  ArrayRef<int64_t> shape = c.type(0).getShape();
  if (rank < 3 || c.type(1).getRank() != rank ||
      c.type(1).getShape().back() != spatial ||
      c.type(1).getDimSize(0) != shape[0] ||
      llvm::is_contained(shape.drop_front(2), 0))
    return c.fail("the grid must have shape [batch, outputs..., " +
                  Twine(spatial) +
                  "], and the operand spatial dimensions that "
                  "are not empty");
  auto mode = llvm::StringSwitch<std::optional<Mode>>(
                  c.node.getString("mode", "linear"))
                  .Case("nearest", Mode::Nearest)
                  .Cases({"linear", "bilinear"}, Mode::Linear)
                  .Cases({"cubic", "bicubic"}, Mode::Cubic)
                  .Default(std::nullopt);
  auto padding = llvm::StringSwitch<std::optional<Padding>>(
                     c.node.getString("padding_mode", "zeros"))
                     .Case("zeros", Padding::Zeros)
                     .Case("border", Padding::Border)
                     .Case("reflection", Padding::Reflection)
                     .Default(std::nullopt);
  if (!mode || !padding)
    return c.fail("attribute mode or padding_mode is not supported");
  constexpr int64_t kMostTaps = 1024; // as many gathers
  int64_t perLine = *mode == Mode::Cubic ? 4 : *mode == Mode::Linear ? 2 : 1;
  int64_t perResult = 1;
  for (int64_t dim = 0; dim < spatial && perResult <= kMostTaps; ++dim)
    perResult *= perLine;
  if (perResult > kMostTaps)
    return c.fail("each result reads " + Twine(perLine) + "^" + Twine(spatial) +
                  " elements, but at most " + Twine(kMostTaps) +
                  " are supported");
  SmallVector<SmallVector<Tap>> taps;
  for (int64_t dim = 0; dim < spatial; ++dim) {
    Line line(c.b, shape[2 + dim], *padding,
              c.node.getInt("align_corners", 0) != 0);
    // The grid names the last dimension first.
    taps.push_back(line.taps(coordinatesOf(c, spatial - 1 - dim), *mode));
  }
  auto toBack = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  toBack.erase(toBack.begin() + 1);
  toBack.push_back(1);
  Value rows = withMergedRows(c.b, c.b.transpose(c.input(0), toBack), rank - 1);
  Value image = c.b.create<nn::IotaOp>(c.b.type(taps[0][0].index), 0);
  Value sum = sumTaps(c.b, rows, taps, shape.drop_front(2), image, Value());
  auto back = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
  back.insert(back.begin(), {0, rank - 1});
  return c.yield(c.b.transpose(sum, back));
}

/// Returns the grid that reads an image through affine maps [batch, d, d + 1].
static LogicalResult affineGrid(NodeConversion &c) {
  auto size = c.constantInts(1);
  if (!size)
    return failure();
  int64_t spatial = (int64_t)size->size() - 2;
  if (spatial < 1 || !c.isShape(*size) ||
      c.type(0).getShape() !=
          ArrayRef<int64_t>{(*size)[0], spatial, spatial + 1})
    return c.fail("operand 0 must have shape [batch, d, d + 1] for the d "
                  "spatial dimensions of operand 1");
  bool alignCorners = c.node.getInt("align_corners", 0);
  SmallVector<int64_t> shape{(*size)[0]};
  llvm::append_range(shape, ArrayRef(*size).drop_front(2));
  shape.push_back(spatial);
  auto column = [&](int64_t number) { // of the maps, for all outputs
    SmallVector<int64_t> perImage(shape.size(), 1);
    perImage.front() = shape.front();
    perImage.back() = spatial;
    Value part = c.b.createOrFold<nn::SliceOp>(
        c.input(0), ArrayRef<int64_t>{0, 0, number},
        ArrayRef<int64_t>{shape[0], spatial, 1}, ArrayRef<int64_t>{1, 1, 1});
    return c.b.reshape(part, perImage);
  };
  Value grid = c.b.broadcast(column(spatial), shape);
  for (int64_t number = 0; number < spatial; ++number) {
    int64_t dim = spatial - number, count = shape[dim]; // the last comes first
    SmallVector<int64_t> line(shape.size(), 1);
    line[dim] = count;
    auto type = RankedTensorType::get(line, c.type(0).getElementType());
    Value index = c.b.create<nn::IotaOp>(type.clone(c.b.getI64Type()), dim);
    double step = !alignCorners ? 2.0 / count
                  : count > 1   ? 2.0 / (count - 1)
                                : 0;
    double first = alignCorners ? (count > 1 ? -1 : 0) : -1 + step / 2;
    Value at =
        c.b.add(c.b.mul(c.b.create<arith::SIToFPOp>(type, index), step), first);
    grid = c.b.add(grid, c.b.mul(column(number), at));
  }
  return c.yield(grid);
}

ArrayRef<OperatorEntry> gpuopt::samplingOperators() {
  static const OperatorEntry entries[] = {
      {"AffineGrid", affineGrid, "constant size"},
      {"GridSample", gridSample,
       "floating-point operands, up to 1024 elements read for each result"}};
  return entries;
}
