//===- Random.cpp - Random numbers ----------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// All numbers are made from those of nn.random_uniform, which a step that
// computes something again draws again. The program's seed decides them; the
// attribute seed of a node does not.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

/// Draws uniform numbers in [0, 1), of another stream at each call. All are
/// drawn in f32: those in half precision, so that log and comparisons never see
/// a 1 (a uniform result may still round to `high`); and those in double, which
/// have the 24 bits of a float.
static Value drawUniform(NodeConversion &c, ArrayRef<int64_t> shape,
                         Type element) {
  Value draw = c.b.create<nn::RandomUniformOp>(
      RankedTensorType::get(shape, c.b.getF32Type()), c.state.nextStream++);
  if (!element.isF64())
    return draw;
  return c.b.create<arith::ExtFOp>(c.b.type(draw).clone(element), draw);
}

/// Rounds numbers that were drawn to the element type of the result.
static Value rounded(NodeConversion &c, Value drawn, Type element) {
  RankedTensorType type = c.b.type(drawn);
  if (type.getElementType() == element)
    return drawn;
  return c.b.create<arith::TruncFOp>(type.clone(element), drawn);
}

/// Draws standard normal numbers (Box and Muller, "A note on the generation of
/// random normal deviates", 1958).
static Value drawNormal(NodeConversion &c, ArrayRef<int64_t> shape,
                        Type element) {
  constexpr double kTwoPi = 6.283185307179586;
  Value u = drawUniform(c, shape, element), v = drawUniform(c, shape, element);
  Value positive = c.b.sub(c.b.splat(1, c.b.type(u)), u); // in (0, 1]
  Value radius = c.b.create<math::SqrtOp>(c.b.mul(c.b.log(positive), -2.0));
  return c.b.mul(radius, c.b.create<math::CosOp>(c.b.mul(v, kTwoPi)));
}

/// Returns the element type that the attribute dtype names, or else `fallback`;
/// notes the problem if it is not floating-point.
static Type floatTypeOf(NodeConversion &c, Type fallback) {
  auto dtype = c.node.getInt("dtype");
  Type element = dtype ? elementTypeOf(c.b, *dtype) : fallback;
  if (element && isa<FloatType>(element))
    return element;
  c.problem = dtype ? "attribute dtype = " + std::to_string(*dtype) +
                          " names no floating-point type"
                    : "attribute dtype is needed where the operand is not "
                      "floating-point";
  return {};
}

/// Returns the attribute shape; notes the problem if it is none.
static std::optional<SmallVector<int64_t>> shapeOf(NodeConversion &c) {
  auto shape = c.node.getInts("shape");
  if (shape && c.isShape(*shape))
    return shape;
  if (!shape)
    c.problem = "attribute shape is missing";
  return std::nullopt;
}

static LogicalResult yieldUniform(NodeConversion &c, ArrayRef<int64_t> shape,
                                  Type element) {
  double low = c.node.getFloat("low", 0), high = c.node.getFloat("high", 1);
  Value draw = drawUniform(c, shape, element);
  return c.yield(rounded(c, c.b.add(c.b.mul(draw, high - low), low), element));
}
static LogicalResult yieldNormal(NodeConversion &c, ArrayRef<int64_t> shape,
                                 Type element) {
  Value draw = drawNormal(c, shape, element);
  Value scaled = c.b.add(c.b.mul(draw, c.node.getFloat("scale", 1)),
                         c.node.getFloat("mean", 0));
  return c.yield(rounded(c, scaled, element));
}

using Yield = LogicalResult (*)(NodeConversion &, ArrayRef<int64_t>, Type);

template <Yield yield>
static LogicalResult ofShape(NodeConversion &c) {
  auto shape = shapeOf(c);
  Type element = floatTypeOf(c, c.b.getF32Type());
  return shape && element ? yield(c, *shape, element) : failure();
}
template <Yield yield>
static LogicalResult likeOperand(NodeConversion &c) {
  Type element = floatTypeOf(c, c.type(0).getElementType());
  return element ? yield(c, c.type(0).getShape(), element) : failure();
}

/// Gives 1 with the probability that the operand is. The draw is f32 for
/// operands in half precision, so these are widened.
static LogicalResult bernoulli(NodeConversion &c) {
  auto dtype = c.node.getInt("dtype");
  Type element =
      dtype ? elementTypeOf(c.b, *dtype) : c.type(0).getElementType();
  if (!element)
    return c.fail("attribute dtype = " + Twine(*dtype) + " is not supported");
  Value draw = drawUniform(c, c.type(0).getShape(), c.type(0).getElementType());
  Value probability = c.input(0);
  if (c.b.type(draw) != c.type(0))
    probability = c.b.create<arith::ExtFOp>(c.b.type(draw), probability);
  Value isOne = c.b.compare(arith::CmpFPredicate::OLT, draw, probability);
  if (element.isInteger(1))
    return c.yield(isOne);
  if (isa<FloatType>(element))
    return c.yield(c.b.toFloat(isOne, element));
  return c.yield(c.b.create<arith::ExtUIOp>(c.type(0).clone(element), isOne));
}

/// Draws classes by unnormalised log-probabilities: the class is the argument
/// of the maximum after a Gumbel-distributed number has been added to each
/// (Gumbel, "Statistical theory of extreme values", 1954).
static LogicalResult multinomial(NodeConversion &c) {
  int64_t samples = c.node.getInt("sample_size", 1),
          dtype = c.node.getInt("dtype", 6);
  Type element = elementTypeOf(c.b, dtype);
  if (dtype != 6 && dtype != 7)
    return c.fail("attribute dtype = " + Twine(dtype) +
                  " names neither int32 nor int64");
  if (c.type(0).getRank() != 2 || c.type(0).getDimSize(1) < 1)
    return c.fail("the operand must have rank 2, and a class at least");
  ArrayRef<int64_t> from = c.type(0).getShape();
  SmallVector<int64_t> shape{from[0], samples, from[1]};
  if (samples < 1 || !c.isShape(shape))
    return c.fail("attribute sample_size = " + Twine(samples) +
                  " must be at least 1, and the result no larger than 2^48");
  Value draw = drawUniform(c, shape, c.type(0).getElementType());
  Value gumbel = c.b.neg(c.b.log(c.b.neg(c.b.log(draw))));
  Value scores = c.input(0);
  if (c.type(0).getElementType() != c.b.type(draw).getElementType())
    scores = c.b.create<arith::ExtFOp>(
        c.type(0).clone(c.b.type(draw).getElementType()), scores);
  scores = c.b.add(c.b.reshape(scores, {from[0], 1, from[1]}), gumbel);
  Value index = findExtreme(c.b, scores, 2, /*largest=*/true);
  index = c.b.reshape(index, {from[0], samples});
  if (element.isInteger(32))
    index = c.b.create<arith::TruncIOp>(c.b.type(index).clone(element), index);
  return c.yield(index);
}

ArrayRef<OperatorEntry> gpuopt::randomOperators() {
  static const char seed[] = "drawn by the program's seed";
  static const OperatorEntry entries[] = {
      {"Bernoulli", bernoulli, seed},
      {"Multinomial", multinomial, seed},
      {"RandomNormal", ofShape<yieldNormal>, seed},
      {"RandomNormalLike", likeOperand<yieldNormal>, seed},
      {"RandomUniform", ofShape<yieldUniform>, seed},
      {"RandomUniformLike", likeOperand<yieldUniform>, seed}};
  return entries;
}
