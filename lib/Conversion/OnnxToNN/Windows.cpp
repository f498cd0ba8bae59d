//===- Windows.cpp - Sums over windows of any rank ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Poolings that are sums, local response normalisation, and what puts windows
// back together. A sum over windows is a sum of strided slices, one dimension
// after the other.
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

#include "Places.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gpuopt;

void gpuopt::roundUp(Span &span, int64_t length) {
  int64_t size = length + span.low;
  int64_t last = llvm::divideCeil(
      std::max<int64_t>(0, size + span.high - span.covered()), span.stride);
  if (last * span.stride >= size)
    --last;
  span.high = std::max(span.high, last * span.stride + span.covered() - size);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A sum has as many slices as its window has elements along a dimension.
static constexpr int64_t kLargestWindow = 256;

/// Returns an attribute with one number per spatial dimension, or two for pads;
/// notes the problem if it does not fit.
static std::optional<SmallVector<int64_t>>
numbersOf(NodeConversion &c, StringRef name, size_t count, int64_t least) {
  auto numbers = c.node.getInts(name, SmallVector<int64_t>(count, least));
  if (numbers.size() == count && llvm::all_of(numbers, [&](int64_t number) {
        return number >= least && number <= INT32_MAX;
      }))
    return numbers;
  c.problem = ("attribute " + name + " must have " + Twine(count) +
               " numbers of at least " + Twine(least))
                  .str();
  return std::nullopt;
}

void gpuopt::padToSame(Span &span, int64_t length, bool moreAtEnd) {
  int64_t windows = llvm::divideCeil(length, span.stride);
  int64_t total = std::max<int64_t>(
      (windows - 1) * span.stride + span.covered() - length, 0);
  span.low = moreAtEnd ? total / 2 : total - total / 2;
  span.high = total - span.low;
}

/// Returns the windows of a pooling, as the attributes have them; notes the
/// problem if they do not fit.
static std::optional<SmallVector<Span>> spansOf(NodeConversion &c) {
  ArrayRef<int64_t> shape = c.type(0).getShape();
  if (shape.size() < 3) {
    c.problem = "the operand must have spatial dimensions";
    return std::nullopt;
  }
  ArrayRef<int64_t> spatial = shape.drop_front(2);
  size_t dims = spatial.size();
  auto kernel = numbersOf(c, "kernel_shape", dims, 1);
  auto strides = numbersOf(c, "strides", dims, 1);
  auto dilations = numbersOf(c, "dilations", dims, 1);
  auto pads = numbersOf(c, "pads", 2 * dims, 0);
  if (!kernel || !strides || !dilations || !pads)
    return std::nullopt;
  StringRef automatic = c.node.getString("auto_pad", "NOTSET");
  SmallVector<Span> spans;
  for (size_t dim = 0; dim < dims; ++dim) {
    Span span{(*kernel)[dim], (*strides)[dim], (*pads)[dim],
              (*pads)[dims + dim], (*dilations)[dim]};
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
      padToSame(span, spatial[dim], automatic == "SAME_UPPER");
    if (span.size > kLargestWindow || span.count(spatial[dim]) < 1) {
      c.problem = "the window does not fit into the padded operand, or has "
                  "more than " +
                  std::to_string(kLargestWindow) + " elements in a dimension";
      return std::nullopt;
    }
    spans.push_back(span);
  }
  return spans;
}

static void roundUpAll(NodeConversion &c, MutableArrayRef<Span> spans) {
  if (c.node.getInt("ceil_mode", 0))
    for (auto [index, span] : llvm::enumerate(spans))
      roundUp(span, c.type(0).getDimSize(2 + index));
}

/// Sums over the windows of one dimension.
static Value sumAlong(nn::TensorBuilder &b, Value x, int64_t dim,
                      const Span &span) {
  SmallVector<int64_t> zeros(b.type(x).getRank(), 0), low(zeros), high(zeros);
  int64_t count = span.count(b.shape(x)[dim]);
  low[dim] = span.low;
  high[dim] = span.high;
  if (span.low || span.high)
    x = b.create<nn::PadOp>(x, low, high, zeros,
                            b.getFloatAttr(b.type(x).getElementType(), 0));
  Value sum;
  for (int64_t i = 0; i < span.size; ++i) {
    SmallVector<int64_t> offsets(zeros), sizes(b.shape(x)),
        strides(zeros.size(), 1);
    offsets[dim] = i * span.dilation;
    sizes[dim] = count;
    strides[dim] = span.stride;
    Value part = b.createOrFold<nn::SliceOp>(x, offsets, sizes, strides);
    sum = sum ? b.add(sum, part) : part;
  }
  return sum;
}

static Value sumWindows(nn::TensorBuilder &b, Value x, ArrayRef<Span> spans) {
  for (auto [index, span] : llvm::enumerate(spans))
    x = sumAlong(b, x, 2 + index, span);
  return x;
}

/// Returns 1 / n for each window along a dimension, where n is the number of
/// its elements from `begin` to `end`.
static Value sharesAlong(nn::TensorBuilder &b, RankedTensorType like,
                         int64_t dim, const Span &span, int64_t begin,
                         int64_t end) {
  SmallVector<int64_t> shape(like.getRank(), 1);
  shape[dim] = like.getDimSize(dim);
  SmallVector<Attribute> shares;
  for (int64_t window = 0; window < shape[dim]; ++window) {
    // The window's elements lie at first + i * dilation.
    int64_t first = window * span.stride - span.low;
    auto countBelow = [&](int64_t limit) {
      int64_t below = llvm::divideCeilSigned(limit - first, span.dilation);
      return std::clamp<int64_t>(below, 0, span.size);
    };
    int64_t elements = countBelow(end) - countBelow(begin);
    shares.push_back(b.getFloatAttr(like.getElementType(),
                                    1.0 / std::max<int64_t>(elements, 1)));
  }
  return b.create<arith::ConstantOp>(
      DenseElementsAttr::get(like.clone(shape), shares));
}

LogicalResult gpuopt::averageWindows(NodeConversion &c) {
  auto given = spansOf(c);
  if (!given)
    return failure();
  SmallVector<Span> spans(*given);
  roundUpAll(c, spans);
  for (auto [index, span] : llvm::enumerate(spans))
    if (!c.canCompute(span.count(c.type(0).getDimSize(2 + index))))
      return failure();
  bool countsPads = c.node.getInt("count_include_pad", 0);
  Value result = sumWindows(c.b, c.input(0), spans);
  for (auto [index, span] : llvm::enumerate(spans)) {
    int64_t dim = 2 + index, size = c.type(0).getDimSize(dim);
    const Span &asGiven = (*given)[index];
    result =
        c.b.mul(result, sharesAlong(c.b, c.b.type(result), dim, span,
                                    countsPads ? -asGiven.low : 0,
                                    countsPads ? size + asGiven.high : size));
  }
  return c.yield(result);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// Yields the p-norm (sum |x|^p)^(1/p), where `sum` adds up the powers.
static LogicalResult yieldNorm(NodeConversion &c,
                               llvm::function_ref<Value(Value)> sum) {
  int64_t p = c.node.getInt("p", 2);
  if (p < 1)
    return c.fail("attribute p = " + Twine(p) + " must be at least 1");
  Value x = c.input(0);
  if (p == 2)
    return c.yield(rootOf(c.b, sum(c.b.mul(x, x)), p));
  Value size = c.b.create<math::AbsFOp>(x);
  if (p == 1)
    return c.yield(sum(size));
  Value powers = c.b.create<math::PowFOp>(size, c.b.splat(p, c.b.type(x)));
  return c.yield(rootOf(c.b, sum(powers), p));
}

static LogicalResult lpPool(NodeConversion &c) {
  auto spans = spansOf(c);
  if (!spans)
    return failure();
  roundUpAll(c, *spans);
  return yieldNorm(c, [&](Value x) { return sumWindows(c.b, x, *spans); });
}

static LogicalResult globalLpPool(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  if (rank < 3)
    return c.fail("the operand must have spatial dimensions");
  auto dims = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  return yieldNorm(c, [&](Value x) { return c.b.sum(x, dims); });
}

/// Yields x / (bias + alpha / size * s)^beta, where s sums the squares of the
/// neighbouring channels.
static LogicalResult localResponseNorm(NodeConversion &c) {
  int64_t size = c.node.getInt("size", 0);
  if (c.type(0).getRank() < 2 || size < 1 || size > kLargestWindow)
    return c.fail("the operand must have channels, and attribute size lie in "
                  "1 .. " +
                  Twine(kLargestWindow));
  Span span;
  span.size = size;
  span.low = (size - 1) / 2;
  span.high = size - 1 - span.low;
  Value x = c.input(0);
  Value sum = sumAlong(c.b, c.b.mul(x, x), 1, span);
  Value base = c.b.add(c.b.mul(sum, c.node.getFloat("alpha", 1e-4) / size),
                       c.node.getFloat("bias", 1));
  double beta = c.node.getFloat("beta", 0.75);
  Value factor =
      c.b.create<math::PowFOp>(base, c.b.splat(-beta, c.b.type(base)));
  return c.yield(c.b.mul(x, factor));
}

//===----------------------------------------------------------------------===//
// Putting together
//===----------------------------------------------------------------------===//

/// Adds columns [batch, channels * window, positions] to the image that their
/// windows came from.
static LogicalResult col2Im(NodeConversion &c) {
  auto image = c.constantInts(1), block = c.constantInts(2);
  if (!image || !block || !c.isShape(*image))
    return failure();
  size_t dims = image->size();
  auto strides = numbersOf(c, "strides", dims, 1);
  auto dilations = numbersOf(c, "dilations", dims, 1);
  auto pads = numbersOf(c, "pads", 2 * dims, 0);
  if (!strides || !dilations || !pads)
    return failure();
  constexpr int64_t kMostTaps = 1024; // one slice for each
  int64_t taps = 1, positions = 1;
  SmallVector<Span> spans;
  SmallVector<int64_t> counts;
  for (size_t dim = 0; dim < dims && block->size() == dims; ++dim) {
    Span span{(*block)[dim], (*strides)[dim], (*pads)[dim], (*pads)[dims + dim],
              (*dilations)[dim]};
    spans.push_back(span);
    bool isWindow = span.size >= 1 && span.size <= kMostTaps;
    counts.push_back(isWindow ? span.count((*image)[dim]) : 0);
    taps *= isWindow && taps <= kMostTaps ? span.size : 1;
    if (llvm::MulOverflow(positions, counts.back(), positions))
      positions = 0;
  }
  bool fits = spans.size() == dims && dims > 0 && c.type(0).getRank() == 3 &&
              taps <= kMostTaps && c.type(0).getDimSize(1) % taps == 0 &&
              c.type(0).getDimSize(2) == positions && positions > 0;
  if (!fits)
    return c.fail("operand 0 must have shape [batch, channels * window, "
                  "positions] for the image and the window, of at most 1024 "
                  "elements, that operands 1 and 2 give");
  int64_t batch = c.type(0).getDimSize(0),
          channels = c.type(0).getDimSize(1) / taps;
  Value columns = c.b.reshape(c.input(0), {batch, channels, taps, positions});
  SmallVector<int64_t> zeros(dims + 2, 0), ones(dims + 2, 1), low(zeros),
      high(zeros), interior(zeros), shape{batch, channels};
  llvm::append_range(shape, counts);
  Value sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Value part = c.b.createOrFold<nn::SliceOp>(
        columns, ArrayRef<int64_t>{0, 0, tap, 0},
        ArrayRef<int64_t>{batch, channels, 1, positions},
        ArrayRef<int64_t>{1, 1, 1, 1});
    for (int64_t dim = dims - 1, rest = tap; dim >= 0; --dim) {
      const Span &span = spans[dim];
      int64_t padded = (*image)[dim] + span.low + span.high;
      low[2 + dim] = rest % span.size * span.dilation;
      high[2 + dim] =
          padded - low[2 + dim] - ((counts[dim] - 1) * span.stride + 1);
      interior[2 + dim] = span.stride - 1;
      rest /= span.size;
    }
    part =
        c.b.create<nn::PadOp>(c.b.reshape(part, shape), low, high, interior,
                              c.b.getFloatAttr(c.type(0).getElementType(), 0));
    sum = sum ? c.b.add(sum, part) : part;
  }
  SmallVector<int64_t> offsets(zeros), sizes{batch, channels};
  for (size_t dim = 0; dim < dims; ++dim)
    offsets[2 + dim] = spans[dim].low;
  llvm::append_range(sizes, *image);
  return c.yield(c.b.createOrFold<nn::SliceOp>(sum, offsets, sizes, ones));
}

/// Puts elements at the places that MaxPool has given, among zeros.
static LogicalResult maxUnpool(NodeConversion &c) {
  ArrayRef<int64_t> from = c.type(0).getShape();
  size_t dims = from.size() < 3 ? 0 : from.size() - 2;
  auto kernel = numbersOf(c, "kernel_shape", dims, 1);
  auto strides = numbersOf(c, "strides", dims, 1);
  auto pads = numbersOf(c, "pads", 2 * dims, 0);
  if (!kernel || !strides || !pads)
    return failure();
  if (dims == 0 || c.type(1).getShape() != from)
    return c.fail("operands must have spatial dimensions, and both one shape");
  constexpr int64_t kFar = int64_t(1) << 31; // times a stride beyond all shapes
  SmallVector<int64_t> shape(from.take_front(2));
  for (size_t dim = 0; dim < dims; ++dim)
    shape.push_back(std::min((from[2 + dim] - 1), kFar) * (*strides)[dim] +
                    (*kernel)[dim] - (*pads)[dim] - (*pads)[dims + dim]);
  if (!c.isShape(shape))
    return failure();
  int64_t size = ShapedType::getNumElements(shape);
  if (size == 0)
    return c.fail("the result would be empty");
  Value places = normalised(c, c.input(1), size);
  if (auto numbers = integersOf(places)) {
    for (int64_t number : *numbers)
      if (number < 0 || number >= size)
        return c.fail("index " + Twine(number) + " is outside of the result");
  } else {
    places = inRange(c, places, size);
  }
  int64_t count = c.type(0).getNumElements();
  Value table = c.b.splat(0, c.type(0).clone({size}));
  Value result =
      c.b.reshape(replaceRows(c.b, table, c.b.reshape(c.input(0), {count}),
                              c.b.reshape(places, {count})),
                  shape);
  if (!c.has(2))
    return c.yield(result);
  auto wanted = c.constantInts(2);
  if (!wanted || !c.isShape(*wanted))
    return failure();
  SmallVector<int64_t> zeros(shape.size(), 0), high;
  for (size_t dim = 0; dim < wanted->size() && dim < shape.size(); ++dim)
    high.push_back((*wanted)[dim] - shape[dim]);
  if (wanted->size() != shape.size() ||
      llvm::any_of(high, [](int64_t more) { return more < 0; }))
    return c.fail("operand 2 (output_shape) must be no smaller than what the "
                  "windows cover");
  return c.yield(
      c.b.create<nn::PadOp>(result, zeros, high, zeros,
                            c.b.getFloatAttr(c.type(0).getElementType(), 0)));
}

ArrayRef<OperatorEntry> gpuopt::poolOperators() {
  static const OperatorEntry entries[] = {
      {"Col2Im", col2Im, "floating-point operands, constant shapes"},
      {"GlobalLpPool", globalLpPool},
      {"LRN", localResponseNorm, "windows of up to 256 channels"},
      {"LpPool", lpPool, "windows of up to 256 in a dimension"},
      {"MaxUnpool", maxUnpool, "constant output_shape"}};
  return entries;
}
