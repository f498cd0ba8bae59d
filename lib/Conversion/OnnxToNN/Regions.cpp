//===- Regions.cpp - RoiAlign, DeformConv ---------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Both read images between their pixels: at places that are computed, each the
// weighted sum of the four pixels around it; in RoiAlign's mode max it is the
// largest of the four weighted pixels, as ONNX's reference has it. Pixels are
// taken as rows of channels, so that the gradient of the image adds rows.
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace gpuopt;

using F = arith::CmpFPredicate;

/// The two pixels around a coordinate along a dimension, and their weights.
namespace {
struct Neighbours {
  Value low, high, ofLow, ofHigh;
};
} // namespace

static Value oneMinus(nn::TensorBuilder &b, Value x) {
  return b.sub(b.splat(1, b.type(x)), x);
}

/// Returns a whole coordinate as i64, within 0 .. size - 1.
static Value placeOf(nn::TensorBuilder &b, Value x, int64_t size) {
  RankedTensorType index = b.type(x).clone(b.getI64Type());
  Value place = b.createOrFold<arith::FPToSIOp>(index, x);
  place = b.createOrFold<arith::MaxSIOp>(place, b.splat(0, index));
  return b.createOrFold<arith::MinSIOp>(place, b.splat(size - 1, index));
}

static Value betweenEnds(nn::TensorBuilder &b, Value x, double least,
                         double most) {
  RankedTensorType type = b.type(x);
  return b.createOrFold<arith::AndIOp>(
      b.compare(F::OGE, x, b.splat(least, type)),
      b.compare(F::OLE, x, b.splat(most, type)));
}

/// Combines two of the four weighted pixels around a place.
using Combination = function_ref<Value(Value, Value)>;

/// Combines pixels of `rows` [images * height * width, channels], for images of
/// the index `image`. The places are those that broadcasting y and x to `shape`
/// gives; the result has shape [shape..., channels].
static Value combinedPixels(nn::TensorBuilder &b, Value rows, Value image,
                            const Neighbours &y, const Neighbours &x,
                            int64_t height, int64_t width,
                            ArrayRef<int64_t> shape, Combination combine) {
  auto index = [&](Value place) { return b.broadcast(place, shape); };
  auto scaled = [&](Value place, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(place, b.splat(factor, b.type(place)));
  };
  Value base = scaled(index(image), height), whole;
  SmallVector<int64_t> wide(shape);
  wide.push_back(1);
  for (auto [row, rowWeight] : {std::pair(y.low, y.ofLow), {y.high, y.ofHigh}})
    for (auto [column, columnWeight] :
         {std::pair(x.low, x.ofLow), {x.high, x.ofHigh}}) {
      Value place = b.createOrFold<arith::AddIOp>(base, index(row));
      place =
          b.createOrFold<arith::AddIOp>(scaled(place, width), index(column));
      Value taken = b.create<nn::TakeOp>(rows, place);
      Value weight = b.mul(b.broadcast(rowWeight, shape),
                           b.broadcast(columnWeight, shape));
      Value part = b.mul(taken, b.reshape(weight, wide));
      whole = whole ? combine(whole, part) : part;
    }
  return whole;
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

namespace {

/// The places that a RoiAlign node reads along one dimension of its regions.
struct SampledLine {
  Neighbours neighbours; ///< [regions, outputs * samples].
  Value isCounted;       ///< [regions, 1, samples]: whether a sample counts.
  Value count;           ///< [regions, 1, 1]: how many do.
};

class RoiAlign {
public:
  explicit RoiAlign(NodeConversion &c) : c(c), b(c.b) {}

  LogicalResult convert() {
    if (failed(check()))
      return failure();
    auto rows = lineOf(1, 3, shape[2], outHeight),
         columns = lineOf(0, 2, shape[3], outWidth);
    if (!rows || !columns)
      return failure();
    int64_t rowSamples = b.shape(rows->isCounted)[2],
            columnSamples = b.shape(columns->isCounted)[2];
    SmallVector<int64_t> places{regions, outHeight * rowSamples,
                                outWidth * columnSamples};
    if (!c.isShape({regions, places[1], places[2], shape[1]}))
      return failure();
    auto alongRows = [&](Value x) {
      return b.reshape(x, {regions, places[1], 1});
    };
    auto alongColumns = [&](Value x) {
      return b.reshape(x, {regions, 1, places[2]});
    };
    auto spreadOut = [](Neighbours n, auto along) {
      return Neighbours{along(n.low), along(n.high), along(n.ofLow),
                        along(n.ofHigh)};
    };
    Value image = inRange(c, normalised(c, c.input(2), shape[0]), shape[0]);
    Value pixels = withMergedRows(b, b.transpose(c.input(0), {0, 2, 3, 1}), 3);
    Value samples = combinedPixels(
        b, pixels, b.reshape(image, {regions, 1, 1}),
        spreadOut(rows->neighbours, alongRows),
        spreadOut(columns->neighbours, alongColumns), shape[2], shape[3],
        places, [&](Value one, Value other) {
          return takesLargest ? larger(one, other) : b.add(one, other);
        });
    samples = b.reshape(samples, {regions, outHeight, rowSamples, outWidth,
                                  columnSamples, shape[1]});
    Value result = pooled(samples, *rows, *columns);
    result = b.reshape(result, {regions, outHeight, outWidth, shape[1]});
    return c.yield(b.transpose(result, {0, 3, 1, 2}));
  }

private:
  Value larger(Value one, Value other) {
    return b.select(b.compare(F::OGE, one, other), one, other);
  }

  /// Pools [regions, height, rowSamples, width, columnSamples, channels] over
  /// the samples that count.
  Value pooled(Value samples, const SampledLine &rows,
               const SampledLine &columns) {
    int64_t rowSamples = b.shape(samples)[2],
            columnSamples = b.shape(samples)[4];
    SmallVector<int64_t> all{regions, 1, rowSamples, 1, columnSamples, 1};
    Value counted = b.createOrFold<arith::AndIOp>(
        b.broadcast(
            b.reshape(rows.isCounted, {regions, 1, rowSamples, 1, 1, 1}), all),
        b.broadcast(
            b.reshape(columns.isCounted, {regions, 1, 1, 1, columnSamples, 1}),
            all));
    counted = b.broadcast(counted, b.shape(samples));
    double rest = takesLargest ? -std::numeric_limits<double>::infinity() : 0;
    samples = b.select(counted, samples, b.splat(rest, b.type(samples)));
    if (takesLargest)
      return b.reduce(nn::ReductionKind::Max, samples, {2, 4});
    Value count =
        b.reshape(b.mul(rows.count, columns.count), {regions, 1, 1, 1, 1, 1});
    return b.div(b.sum(samples, {2, 4}), count);
  }

  LogicalResult check() {
    shape = llvm::to_vector(c.type(0).getShape());
    regions = c.type(1).getRank() ? c.type(1).getDimSize(0) : 0;
    if (shape.size() != 4 || shape[0] < 1 || shape[2] < 1 || shape[3] < 1 ||
        regions < 1 || c.node.getInt("output_height", 1) < 1 ||
        c.node.getInt("output_width", 1) < 1 ||
        c.type(1) != c.type(0).clone({regions, 4}) ||
        c.type(2).getShape() != ArrayRef<int64_t>{regions})
      return c.fail("operands must have shapes [images, channels, height, "
                    "width], [regions, 4] and [regions]");
    outHeight = c.node.getInt("output_height", 1);
    outWidth = c.node.getInt("output_width", 1);
    if (!c.isShape({regions, outHeight, outWidth, shape[1]}) ||
        !c.canCompute(regions))
      return failure();
    StringRef mode = c.node.getString("mode", "avg");
    if (mode != "avg" && mode != "max")
      return c.fail("attribute mode = '" + mode + "' is not supported");
    takesLargest = mode == "max";
    // Before opset 16, regions are not moved by half a pixel.
    StringRef fallback =
        c.node.getOpset() < 16 ? "output_half_pixel" : "half_pixel";
    movesHalf = c.node.getString("coordinate_transformation_mode", fallback) ==
                "half_pixel";
    return success();
  }

  /// Returns a column of the regions in pixels, [regions, 1, 1].
  Value edge(int64_t column) {
    Value x = b.createOrFold<nn::SliceOp>(
        c.input(1), ArrayRef<int64_t>{0, column}, ArrayRef<int64_t>{regions, 1},
        ArrayRef<int64_t>{1, 1});
    x = b.mul(b.reshape(x, {regions, 1, 1}),
              c.node.getFloat("spatial_scale", 1));
    return movesHalf ? b.add(x, -0.5) : x;
  }

  /// Returns for each region how many samples an output takes; nothing if data
  /// decide that.
  std::optional<SmallVector<int64_t>> countsOf(int64_t first, int64_t last,
                                               int64_t outputs) {
    constexpr int64_t kMostSamples = 256;
    int64_t ratio = c.node.getInt("sampling_ratio", 0);
    SmallVector<int64_t> counts(regions, ratio);
    if (ratio < 1) {
      auto numbers = c.constantFloats(1);
      if (!numbers) {
        c.problem = "the regions decide how many samples are taken if "
                    "sampling_ratio is 0, so operand 1 must be a constant: set "
                    "sampling_ratio" +
                    c.whatDecides(1);
        return std::nullopt;
      }
      for (int64_t region = 0; region < regions; ++region) {
        double size =
            ((*numbers)[4 * region + last] - (*numbers)[4 * region + first]) *
            c.node.getFloat("spatial_scale", 1);
        if (!movesHalf)
          size = std::max(size, 1.0);
        double samples = size / outputs;
        counts[region] = samples > 0 ? std::ceil(std::min(samples, 1e9)) : 1;
      }
    }
    for (int64_t count : counts)
      if (count > kMostSamples) {
        c.problem = "an output takes " + std::to_string(count) +
                    " samples along a dimension, but at most " +
                    std::to_string(kMostSamples) + " are supported";
        return std::nullopt;
      }
    return counts;
  }

  std::optional<SampledLine> lineOf(int64_t first, int64_t last, int64_t size,
                                    int64_t outputs) {
    auto counts = countsOf(first, last, outputs);
    if (!counts)
      return std::nullopt;
    int64_t samples = *llvm::max_element(*counts);
    RankedTensorType type = c.type(0).clone({regions, outputs, samples});
    auto numbersAlong = [&](int64_t dim) {
      return b.create<arith::SIToFPOp>(
          type, b.create<nn::IotaOp>(type.clone(b.getI64Type()), dim));
    };
    Value count = b.createOrFold<arith::SIToFPOp>(
        type.clone({regions, 1, 1}),
        b.reshape(makeInts(c, *counts), {regions, 1, 1}));
    Value begin = edge(first), length = b.sub(edge(last), begin);
    if (!movesHalf)
      length =
          b.createOrFold<arith::MaximumFOp>(length, b.splat(1, b.type(length)));
    Value bin = b.mul(length, 1.0 / outputs);
    Value within = b.div(b.add(numbersAlong(2), 0.5), count);
    Value at = b.add(b.mul(b.add(numbersAlong(1), within), bin), begin);
    // More than a pixel outside of the image, there is nothing.
    Value isIn = b.toFloat(betweenEnds(b, at, -1, size), type.getElementType());
    at = b.createOrFold<arith::MaximumFOp>(at, b.splat(0, type));
    at = b.createOrFold<arith::MinimumFOp>(at, b.splat(size - 1, type));
    Value low = b.create<math::FloorOp>(at), part = b.sub(at, low);
    SampledLine line;
    line.neighbours = {placeOf(b, low, size), placeOf(b, b.add(low, 1.0), size),
                       b.mul(oneMinus(b, part), isIn), b.mul(part, isIn)};
    RankedTensorType counted = type.clone({regions, 1, samples});
    Value number = b.create<nn::IotaOp>(counted.clone(b.getI64Type()), 2);
    line.isCounted =
        b.compare(arith::CmpIPredicate::slt, number,
                  b.broadcast(b.reshape(makeInts(c, *counts), {regions, 1, 1}),
                              counted.getShape()));
    line.count = count;
    return line;
  }

  NodeConversion &c;
  nn::TensorBuilder &b;
  SmallVector<int64_t> shape;
  int64_t regions = 0, outHeight = 1, outWidth = 1;
  bool movesHalf = true, takesLargest = false;
};

} // namespace

static LogicalResult roiAlign(NodeConversion &c) {
  return RoiAlign(c).convert();
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

namespace {

/// A convolution of images whose windows read each element at an offset of its
/// own.
class DeformConv {
public:
  explicit DeformConv(NodeConversion &c) : c(c), b(c.b) {}

  LogicalResult convert() {
    if (failed(check()))
      return failure();
    int64_t outputs = out[0] * out[1], perGroup = channels / offsetGroups;
    places = {batch, offsetGroups, taps, out[0], out[1]};
    Value offsets =
        b.reshape(c.input(2), {batch, offsetGroups, taps, 2, out[0], out[1]});
    Neighbours y = neighboursOf(offsets, 0), x = neighboursOf(offsets, 1);
    // An image for each group of channels that share their offsets.
    Value images = b.reshape(c.input(0),
                             {batch, offsetGroups, perGroup, size[0], size[1]});
    Value pixels = withMergedRows(b, b.transpose(images, {0, 1, 3, 4, 2}), 4);
    auto number = RankedTensorType::get({batch * offsetGroups}, b.getI64Type());
    Value image = b.reshape(b.create<nn::IotaOp>(number, 0),
                            {batch, offsetGroups, 1, 1, 1});
    Value taken = combinedPixels(
        b, pixels, image, y, x, size[0], size[1], places,
        [&](Value one, Value other) { return b.add(one, other); });
    if (c.has(4))
      taken = b.mul(taken, b.reshape(c.input(4), {batch, offsetGroups, taps,
                                                  out[0], out[1], 1}));
    // [batch, groups, channels of a group * taps, outputs].
    Value columns =
        b.reshape(b.transpose(taken, {0, 1, 5, 2, 3, 4}),
                  {batch, groups, channels / groups * taps, outputs});
    Value weights = b.reshape(
        c.input(1), {groups, outChannels / groups, channels / groups * taps});
    Value result = b.create<nn::ContractOp>("bgkp,gok->bgop", columns, weights);
    result = b.reshape(result, {batch, outChannels, out[0], out[1]});
    if (c.has(3))
      result = b.add(result, b.reshape(c.input(3), {outChannels, 1, 1}));
    return c.yield(result);
  }

private:
  LogicalResult check() {
    ArrayRef<int64_t> shape = c.type(0).getShape(),
                      weights = c.type(1).getShape();
    if (shape.size() != 4 || weights.size() != 4 || shape[2] < 1 ||
        shape[3] < 1 || weights[2] < 1 || weights[3] < 1 ||
        weights[2] > INT32_MAX || weights[3] > INT32_MAX)
      return c.fail("only images of two dimensions are supported");
    batch = shape[0];
    channels = shape[1];
    size = {shape[2], shape[3]};
    outChannels = weights[0];
    taps = weights[2] * weights[3];
    kernel = {weights[2], weights[3]};
    groups = c.node.getInt("group", 1);
    offsetGroups = c.node.getInt("offset_group", 1);
    strides = c.node.getInts("strides", {1, 1});
    dilations = c.node.getInts("dilations", {1, 1});
    pads = c.node.getInts("pads", {0, 0, 0, 0});
    auto isWithin = [](int64_t least) {
      return [=](int64_t number) {
        return number >= least && number <= INT32_MAX;
      };
    };
    if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4 ||
        !llvm::all_of(strides, isWithin(1)) ||
        !llvm::all_of(dilations, isWithin(1)) ||
        !llvm::all_of(pads, isWithin(0)))
      return c.fail("attributes strides, dilations and pads must have a number "
                    "for each dimension, and pads one for each of its ends");
    if (groups < 1 || offsetGroups < 1 || channels % groups ||
        channels % offsetGroups || outChannels % groups ||
        weights[1] * groups != channels)
      return c.fail("the number of channels must be a multiple of group and of "
                    "offset_group, and the weights must have the channels of "
                    "one group");
    for (int dim : {0, 1}) {
      int64_t room = size[dim] + pads[dim] + pads[2 + dim] -
                     ((kernel[dim] - 1) * dilations[dim] + 1);
      out.push_back(room < 0 ? 0 : room / strides[dim] + 1);
    }
    // The offsets, the pixels that are read, and the result.
    if (!c.isShape({batch, offsetGroups, taps, 2, out[0], out[1]}) ||
        !c.isShape({batch, channels, taps, out[0], out[1]}) ||
        !c.isShape({batch, outChannels, out[0], out[1]}))
      return failure();
    RankedTensorType type = c.type(0);
    if (out[0] < 1 || out[1] < 1 ||
        c.type(2) !=
            type.clone({batch, offsetGroups * taps * 2, out[0], out[1]}) ||
        (c.has(3) && c.type(3) != type.clone({outChannels})) ||
        (c.has(4) &&
         c.type(4) != type.clone({batch, offsetGroups * taps, out[0], out[1]})))
      return c.fail("offsets, bias or mask do not fit the result");
    return success();
  }

  /// Returns the pixels that are read along dimension `dim`, as the offsets
  /// [batch, groups, taps, 2, height, width] move them. What lies outside
  /// counts as 0.
  Neighbours neighboursOf(Value offsets, int64_t dim) {
    SmallVector<int64_t> begin(6, 0), part(b.shape(offsets)), ones(6, 1);
    begin[3] = dim;
    part[3] = 1;
    Value offset = b.reshape(
        b.createOrFold<nn::SliceOp>(offsets, begin, part, ones), places);
    RankedTensorType type = b.type(offset), index = type.clone(b.getI64Type());
    auto times = [&](Value x, int64_t factor) {
      return b.createOrFold<arith::MulIOp>(x, b.splat(factor, index));
    };
    Value tap = b.create<nn::IotaOp>(index, 2);
    Value width = b.splat(kernel[1], index);
    tap = dim == 0 ? b.createOrFold<arith::DivSIOp>(tap, width)
                   : b.createOrFold<arith::RemSIOp>(tap, width);
    Value at = b.createOrFold<arith::AddIOp>(
        times(b.create<nn::IotaOp>(index, 3 + dim), strides[dim]),
        times(tap, dilations[dim]));
    Value x = b.add(b.create<arith::SIToFPOp>(type, at), -double(pads[dim]));
    x = b.add(x, offset);
    Value low = b.create<math::FloorOp>(x), share = b.sub(x, low),
          high = b.add(low, 1.0);
    auto weight = [&](Value place, Value share) {
      Value isIn = betweenEnds(b, place, 0, size[dim] - 1);
      return b.select(isIn, share, b.splat(0, type));
    };
    return {placeOf(b, low, size[dim]), placeOf(b, high, size[dim]),
            weight(low, oneMinus(b, share)), weight(high, share)};
  }

  NodeConversion &c;
  nn::TensorBuilder &b;
  int64_t batch = 0, channels = 0, outChannels = 0, taps = 0, groups = 1,
          offsetGroups = 1;
  SmallVector<int64_t> size, kernel, out, strides, dilations, pads, places;
};

} // namespace

static LogicalResult deformConv(NodeConversion &c) {
  return DeformConv(c).convert();
}

ArrayRef<OperatorEntry> gpuopt::regionOperators() {
  static const OperatorEntry entries[] = {
      {"DeformConv", deformConv, "two spatial dimensions"},
      {"RoiAlign", roiAlign, "regions are constants if sampling_ratio is 0"}};
  return entries;
}
