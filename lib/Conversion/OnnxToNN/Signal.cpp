//===- Signal.cpp - Fourier transforms, windows of signals ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A transform is a product with constant matrices of cosines and sines, so its
// gradient is a product as well. Complex numbers have a last dimension of 2.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace gpuopt;

static constexpr double kTwoPi = 2 * llvm::numbers::pi;

/// Returns a constant of these numbers.
static Value makeFloats(nn::TensorBuilder &b, ArrayRef<int64_t> shape,
                        ArrayRef<double> numbers, Type element) {
  SmallVector<APFloat> rounded;
  for (double number : numbers)
    rounded.push_back(b.getFloatAttr(element, number).getValue());
  auto type = RankedTensorType::get(shape, element);
  return b.create<arith::ConstantOp>(DenseElementsAttr::get(type, rounded));
}

/// Returns the floating-point type that the attribute output_datatype names;
/// notes the problem if it names none.
static Type outputTypeOf(NodeConversion &c) {
  int64_t number = c.node.getInt("output_datatype", 1);
  Type element = elementTypeOf(c.b, number);
  if (element && isa<FloatType>(element))
    return element;
  c.problem = "attribute output_datatype = " + std::to_string(number) +
              " names no floating-point type";
  return {};
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Builds a window: a sum of cosines of 0, 1 and 2 periods over its size.
static LogicalResult cosineWindow(NodeConversion &c, double zero, double one,
                                  double two) {
  auto size = c.constantInt(0);
  Type element = outputTypeOf(c);
  if (!size || !element || !c.isShape({*size}) || !c.canCompute(*size))
    return failure();
  int64_t period = c.node.getInt("periodic", 1) ? *size : *size - 1;
  SmallVector<double> numbers;
  for (int64_t i = 0; i < *size; ++i) {
    double angle = kTwoPi * i / std::max<int64_t>(period, 1);
    numbers.push_back(zero + one * std::cos(angle) + two * std::cos(2 * angle));
  }
  return c.yield(makeFloats(c.b, {*size}, numbers, element));
}
static LogicalResult hannWindow(NodeConversion &c) {
  return cosineWindow(c, 0.5, -0.5, 0);
}
static LogicalResult hammingWindow(NodeConversion &c) {
  return cosineWindow(c, 25.0 / 46, -21.0 / 46, 0);
}
static LogicalResult blackmanWindow(NodeConversion &c) {
  return cosineWindow(c, 0.42, -0.5, 0.08);
}

static double melOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
static double hertzOf(double mel) {
  return 700 * (std::pow(10, mel / 2595) - 1);
}

/// Builds triangles over the bins of a spectrum, whose corners lie at equal
/// distances on the mel scale.
static LogicalResult melWeightMatrix(NodeConversion &c) {
  auto count = c.constantInt(0), length = c.constantInt(1),
       rate = c.constantInt(2);
  auto low = c.constantFloat(3), high = c.constantFloat(4);
  Type element = outputTypeOf(c);
  if (!count || !length || !rate || !low || !high || !element)
    return failure();
  int64_t bins = *length / 2 + 1;
  if (*length < 1 || *rate < 1 || !(*low >= 0 && *low < *high && *high < 1e9) ||
      !c.isShape({bins, *count}))
    return c.fail(
        "expects a length and a rate of at least 1, edges of the bands "
        "with 0 <= lower < upper, and a number of bands that is not "
        "negative");
  if (!c.canCompute(bins) || !c.canCompute(bins * *count))
    return failure();
  double step = (melOf(*high) - melOf(*low)) / (*count + 2);
  SmallVector<int64_t> corners;
  for (int64_t i = 0; i < *count + 2; ++i) {
    double hertz = hertzOf(melOf(*low) + i * step);
    corners.push_back(std::floor((*length + 1) * hertz / *rate));
  }
  SmallVector<double> numbers(bins * *count, 0);
  auto set = [&](int64_t bin, int64_t band, double weight) {
    if (bin >= 0 && bin < bins)
      numbers[bin * *count + band] = weight;
  };
  for (int64_t band = 0; band < *count; ++band) {
    int64_t first = corners[band], middle = corners[band + 1],
            last = corners[band + 2];
    if (first == middle)
      set(middle, band, 1);
    for (int64_t bin = first; bin <= std::min(middle, bins) && first < middle;
         ++bin)
      set(bin, band, double(bin - first) / (middle - first));
    for (int64_t bin = middle; bin < std::min(last, bins); ++bin)
      set(bin, band, double(last - bin) / (last - middle));
  }
  return c.yield(makeFloats(c.b, {bins, *count}, numbers, element));
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

namespace {

/// The real and the imaginary parts of numbers; no imaginary parts if all are
/// real.
struct Numbers {
  Value real, imaginary;
};

/// The matrices of a transform [inputs, outputs].
struct Waves {
  Value cosines, sines;
};

} // namespace

/// Builds weight(i) * cos and sin of 2 pi i k / length, for each input i and
/// output k. Returns nothing, and notes the problem, if they are too large.
template <typename Weight>
static std::optional<Waves> makeWaves(NodeConversion &c, int64_t inputs,
                                      int64_t outputs, int64_t length,
                                      Weight weight) {
  if (inputs > kMostComputedElements / std::max<int64_t>(outputs, 1)) {
    c.problem = "a transform of " + std::to_string(inputs) + " numbers to " +
                std::to_string(outputs) + " would need a matrix of more than " +
                std::to_string(kMostComputedElements) + " elements";
    return std::nullopt;
  }
  SmallVector<double> cosines, sines;
  for (int64_t i = 0; i < inputs; ++i)
    for (int64_t k = 0; k < outputs; ++k) {
      double angle = kTwoPi * (i * k % length) / length;
      cosines.push_back(weight(i) * std::cos(angle));
      sines.push_back(weight(i) * std::sin(angle));
    }
  Type element = c.type(0).getElementType();
  return Waves{makeFloats(c.b, {inputs, outputs}, cosines, element),
               makeFloats(c.b, {inputs, outputs}, sines, element)};
}

/// Splits the last dimension, of size 1 or 2.
static Numbers numbersOf(nn::TensorBuilder &b, Value x) {
  ArrayRef<int64_t> shape = b.shape(x).drop_back();
  int64_t last = shape.size();
  auto part = [&](int64_t number) {
    return b.reshape(partOf(b, x, last, number, 1), shape);
  };
  return {part(0), b.shape(x).back() == 2 ? part(1) : Value()};
}

static Value joined(nn::TensorBuilder &b, const Numbers &numbers) {
  SmallVector<int64_t> shape(b.shape(numbers.real));
  shape.push_back(1);
  Value real = b.reshape(numbers.real, shape);
  if (!numbers.imaginary)
    return real;
  return b.createOrFold<nn::ConcatOp>(
      ValueRange{real, b.reshape(numbers.imaginary, shape)}, shape.size() - 1);
}

/// Multiplies numbers by cos - j sin, or by cos + j sin where `inverse`.
static Numbers transformed(nn::TensorBuilder &b, const Numbers &x, int64_t axis,
                           const Waves &waves, bool inverse) {
  Value real = multiplyAlong(b, x.real, axis, waves.cosines);
  Value imaginary = multiplyAlong(b, x.real, axis, waves.sines);
  if (!inverse)
    imaginary = b.neg(imaginary);
  if (!x.imaginary)
    return {real, imaginary};
  Value crossed = multiplyAlong(b, x.imaginary, axis, waves.sines);
  return {inverse ? b.sub(real, crossed) : b.add(real, crossed),
          b.add(imaginary, multiplyAlong(b, x.imaginary, axis, waves.cosines))};
}

/// Returns real numbers from the first half of their spectrum, which stands for
/// the other half as well.
static LogicalResult realFromHalf(NodeConversion &c, const Numbers &x,
                                  int64_t axis, int64_t length) {
  SmallVector<int64_t> result(c.b.shape(x.real));
  int64_t bins = std::exchange(result[axis], length);
  if (!c.isShape(result))
    return failure();
  auto weight = [&](int64_t bin) {
    return (bin == 0 || 2 * bin == length ? 1.0 : 2.0) / length;
  };
  auto waves = makeWaves(c, bins, length, length, weight);
  if (!waves)
    return failure();
  Value real = transformed(c.b, x, axis, *waves, /*inverse=*/true).real;
  return c.yield(joined(c.b, {real, {}}));
}

static LogicalResult dft(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  int64_t components = rank ? c.type(0).getShape().back() : 0;
  if (rank < 2 || components < 1 || components > 2)
    return c.fail("the operand must have shape [..., 1] or [..., 2], but has " +
                  Twine(rank) + " dimensions, the last of " +
                  Twine(components));
  int64_t given = c.node.getOpset() < 20 ? c.node.getInt("axis", 1) : -2;
  if (c.has(2)) {
    auto operand = c.constantInt(2);
    if (!operand)
      return failure();
    given = *operand;
  }
  auto axis = c.axis(given, rank);
  if (!axis || !c.hasLetters(rank))
    return failure();
  if (*axis == rank - 1)
    return c.fail("the axis must not be the last dimension");
  bool inverse = c.node.getInt("inverse", 0),
       onesided = c.node.getInt("onesided", 0);
  bool isHalf = inverse && onesided;
  int64_t size = c.type(0).getDimSize(*axis),
          length = isHalf ? 2 * (size - 1) : size;
  if (c.has(1)) {
    auto operand = c.constantInt(1);
    if (!operand)
      return failure();
    length = *operand;
  }
  if (length < 1 || size < 1)
    return c.fail("the transform has a length of " + Twine(length));
  // Numbers behind the length are left out; those that are missing count as 0.
  int64_t used = std::min(size, isHalf ? length / 2 + 1 : length);
  Numbers x = numbersOf(c.b, partOf(c.b, c.input(0), *axis, 0, used));
  if (isHalf)
    return realFromHalf(c, x, *axis, length);
  SmallVector<int64_t> result(c.type(0).getShape().drop_back());
  result[*axis] = onesided ? length / 2 + 1 : length;
  result.push_back(2);
  if (!c.isShape(result))
    return failure();
  auto waves = makeWaves(c, used, result[*axis], length,
                         [&](int64_t) { return inverse ? 1.0 / length : 1.0; });
  if (!waves)
    return failure();
  return c.yield(joined(c.b, transformed(c.b, x, *axis, *waves, inverse)));
}

/// Returns frames [batch, frames, length] of numbers [batch, size].
static Value framesOf(nn::TensorBuilder &b, Value x, int64_t step,
                      int64_t length) {
  ArrayRef<int64_t> shape = b.shape(x);
  int64_t count = (shape[1] - length) / step + 1;
  SmallVector<int64_t> places;
  for (int64_t frame = 0; frame < count; ++frame)
    for (int64_t i = 0; i < length; ++i)
      places.push_back(frame * step + i);
  auto type = RankedTensorType::get({count, length}, b.getI64Type());
  Value indices = b.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, ArrayRef<int64_t>(places)));
  return b.transpose(b.create<nn::TakeOp>(b.transpose(x, {1, 0}), indices),
                     {2, 0, 1});
}

static LogicalResult stft(NodeConversion &c) {
  ArrayRef<int64_t> shape = c.type(0).getShape();
  if (shape.size() != 3 || shape[2] < 1 || shape[2] > 2)
    return c.fail("the signal must have shape [batch, length, 1 or 2]");
  auto step = c.constantInt(1);
  if (!step)
    return failure();
  int64_t length = c.has(2) ? c.type(2).getNumElements() : shape[1];
  if (c.has(3)) {
    auto operand = c.constantInt(3);
    if (!operand)
      return failure();
    length = *operand;
  }
  if (*step < 1 || length < 1 || length > shape[1])
    return c.fail("frames of " + Twine(length) + " in steps of " +
                  Twine(*step) + " do not fit into a signal of " +
                  Twine(shape[1]));
  if (c.has(2) && c.type(2) != c.type(0).clone({length}))
    return c.fail("the window must have " + Twine(length) +
                  " elements of the signal's type");
  int64_t frames = (shape[1] - length) / *step + 1;
  if (!c.canCompute(frames > kMostComputedElements / length
                        ? kMostComputedElements + 1
                        : frames * length))
    return failure();
  int64_t outputs = c.node.getInt("onesided", 1) ? length / 2 + 1 : length;
  if (!c.isShape({shape[0], frames, length}) ||
      !c.isShape({shape[0], frames, outputs, 2}))
    return failure();
  auto waves =
      makeWaves(c, length, outputs, length, [](int64_t) { return 1.0; });
  if (!waves)
    return failure();
  Numbers x = numbersOf(c.b, c.input(0));
  for (Value *part : {&x.real, &x.imaginary}) {
    if (!*part)
      continue;
    *part = framesOf(c.b, *part, *step, length);
    if (c.has(2))
      *part = c.b.mul(*part, c.input(2));
  }
  return c.yield(joined(c.b, transformed(c.b, x, 2, *waves, false)));
}

ArrayRef<OperatorEntry> gpuopt::signalOperators() {
  static const char matrix[] =
      "constant length; a matrix of at most 2^24 elements";
  static const OperatorEntry entries[] = {
      {"BlackmanWindow", blackmanWindow, "constant size"},
      {"DFT", dft, matrix},
      {"HammingWindow", hammingWindow, "constant size"},
      {"HannWindow", hannWindow, "constant size"},
      {"MelWeightMatrix", melWeightMatrix, "constants"},
      {"STFT", stft, matrix}};
  return entries;
}
