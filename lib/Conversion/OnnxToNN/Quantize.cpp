//===- Quantize.cpp - Quantised numbers -----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Quantised numbers that are computed are held in floating-point, which has
// them all exactly. So what lies between QuantizeLinear and DequantizeLinear is
// converted as for other numbers, and gradients pass: as PyTorch's
// fake-quantise does, they go straight through the rounding, and stop at
// numbers that have been cut off. Weights that are stored quantised are
// constants.
//
//===----------------------------------------------------------------------===//

#include "NarrowTypes.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

/// Returns a scale or zero point, in floating-point, in a shape that broadcasts
/// to `shape`: one number for all, one for each entry of `axis`, or one for
/// each block of entries. Returns null, and notes the problem, if it does not
/// fit.
static Value spread(NodeConversion &c, unsigned index,
                    ArrayRef<int64_t> shape) {
  Value x = inSingle(c.b, c.input(index));
  if (c.type(index).getNumElements() == 1)
    return c.b.reshape(x, {});
  int64_t rank = shape.size(), block = c.node.getInt("block_size", 0);
  auto axis = c.axis(c.node.getInt("axis", 1), rank);
  if (!axis)
    return {};
  ArrayRef<int64_t> given = c.type(index).getShape();
  SmallVector<int64_t> wide(rank, 1);
  if (block < 1 && given.size() == 1 && given[0] == shape[*axis]) {
    wide[*axis] = shape[*axis];
    return c.b.reshape(x, wide);
  }
  wide.assign(shape.begin(), shape.end());
  int64_t blocks = block > 0 ? llvm::divideCeil(shape[*axis], block) : -1;
  wide[*axis] = blocks;
  if (given != ArrayRef(wide)) {
    c.problem = "operand " + std::to_string(index) +
                " must have one number, one for each entry of the axis, or "
                "one for each block of block_size entries";
    return {};
  }
  // Each number is repeated, and what goes beyond the axis is cut off.
  wide.insert(wide.begin() + *axis + 1, 1);
  x = c.b.reshape(x, wide);
  wide[*axis + 1] = block;
  if (!c.isShape(wide))
    return {};
  x = c.b.broadcast(x, wide);
  wide.erase(wide.begin() + *axis + 1);
  wide[*axis] = blocks * block;
  x = c.b.reshape(x, wide);
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1);
  return c.b.createOrFold<nn::SliceOp>(x, zeros, shape, ones);
}

/// Cuts off what lies outside of a range; its gradient is 0.
static Value cutOff(nn::TensorBuilder &b, Value x, IntegerRange range) {
  using F = arith::CmpFPredicate;
  RankedTensorType type = b.type(x);
  Value least = b.splat(range.least, type), most = b.splat(range.most, type);
  Value notBelow = b.select(b.compare(F::OLT, x, least), least, x);
  return b.select(b.compare(F::OGT, x, most), most, notBelow);
}

/// Rounds x / scale + zero to whole numbers of a range.
static Value quantised(nn::TensorBuilder &b, Value x, Value zero,
                       IntegerRange range) {
  Value rounded = roundedToWhole(b, x, /*isStraightThrough=*/true);
  return cutOff(b, zero ? b.add(rounded, zero) : rounded, range);
}

//===----------------------------------------------------------------------===//
// There and back
//===----------------------------------------------------------------------===//

/// Returns the type of quantised numbers by that of a zero point. One that is
/// computed is held in a wider type, but its node says which it is of.
static int64_t quantisedType(NodeConversion &c, unsigned zero) {
  if (int64_t type = narrowDataTypeOf(c.type(zero).getElementType()))
    return type;
  auto from = c.node.getInput(zero).getDefiningOp<onnx::NodeOp>();
  if (from && from.is("DynamicQuantizeLinear"))
    return 2; // uint8
  return declaredDataTypeOf(c.node.getInput(zero));
}

static LogicalResult quantizeLinear(NodeConversion &c) {
  int64_t to = c.node.getInt("output_dtype", 0);
  if (c.has(2))
    to = quantisedType(c, 2);
  else if (to == 0)
    to = 2; // uint8
  auto range = narrowRangeOf(to);
  auto format = smallFloatOf(to);
  if (!range && !format)
    return c.fail("a type of number " + Twine(to) +
                  " (of operand 2, or attribute output_dtype) is not "
                  "supported");
  ArrayRef<int64_t> shape = c.type(0).getShape();
  Value x = inSingle(c.b, c.input(0)), scale = spread(c, 1, shape), zero;
  if (!scale || (c.has(2) && !(zero = spread(c, 2, shape))))
    return failure();
  x = c.b.div(x, inFloatType(c.b, scale, c.b.type(x).getElementType()));
  if (zero)
    zero = inFloatType(c.b, zero, c.b.type(x).getElementType());
  if (range)
    return c.yield(quantised(c.b, x, zero, *range));
  return c.yield(roundedToSmall(c.b, x, *format,
                                c.node.getInt("saturate", 1) != 0,
                                /*isStraightThrough=*/true));
}

static LogicalResult dequantizeLinear(NodeConversion &c) {
  Type element = c.type(1).getElementType();
  if (auto given = c.node.getInt("output_dtype", 0)) {
    element = elementTypeOf(c.b, given);
    if (!element || !isa<FloatType>(element))
      return c.fail("attribute output_dtype = " + Twine(given) +
                    " names no floating-point type");
  }
  ArrayRef<int64_t> shape = c.type(0).getShape();
  Value x = inSingle(c.b, c.input(0)), scale = spread(c, 1, shape), zero;
  if (!scale || (c.has(2) && !(zero = spread(c, 2, shape))))
    return failure();
  Type wide = c.b.type(scale).getElementType();
  x = inFloatType(c.b, x, wide);
  if (zero)
    x = c.b.sub(x, inFloatType(c.b, zero, wide));
  return c.yield(inFloatType(c.b, c.b.mul(x, scale), element));
}

/// Quantises to uint8 by a scale that covers all elements and 0.
static LogicalResult dynamicQuantizeLinear(NodeConversion &c) {
  IntegerRange range{0, 255};
  Value x = inSingle(c.b, c.input(0));
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, c.type(0).getRank()));
  auto extreme = [&](nn::ReductionKind kind) {
    return dims.empty() ? x : c.b.reshape(c.b.reduce(kind, x, dims), {});
  };
  Value least = extreme(nn::ReductionKind::Min),
        most = extreme(nn::ReductionKind::Max);
  Value none = c.b.splat(0, c.b.type(least));
  least = c.b.createOrFold<arith::MinimumFOp>(least, none);
  most = c.b.createOrFold<arith::MaximumFOp>(most, none);
  // A division keeps the middle of the range a tie; a product with 1 / 255 need
  // not.
  Value scale =
      c.b.div(c.b.sub(most, least), c.b.splat(range.most, c.b.type(least)));
  Value isZero = c.b.compare(arith::CmpFPredicate::OEQ, scale, none);
  scale = c.b.select(isZero, c.b.splat(1, c.b.type(scale)), scale);
  Value zero = quantised(c.b, c.b.neg(c.b.div(least, scale)), {}, range);
  for (Value result :
       {quantised(c.b, c.b.div(x, scale), zero, range), scale, zero})
    c.outputs.push_back({{result}, false});
  return success();
}

//===----------------------------------------------------------------------===//
// Products of quantised numbers
//===----------------------------------------------------------------------===//

/// Returns the difference of an operand and its zero point, which the number of
/// `dim` has one of, or all have. Sums of products of such numbers are exact in
/// f64.
static Value centred(NodeConversion &c, unsigned index, unsigned zeroIndex,
                     int64_t dim) {
  Type wide = c.b.getF64Type();
  Value x = inFloatType(c.b, inSingle(c.b, c.input(index)), wide);
  if (!c.has(zeroIndex))
    return x;
  Value zero = inFloatType(c.b, inSingle(c.b, c.input(zeroIndex)), wide);
  SmallVector<int64_t> shape(c.type(zeroIndex).getShape());
  if (c.type(zeroIndex).getNumElements() == 1) {
    shape.clear();
  } else if (shape.size() == 1 && dim < c.type(index).getRank()) {
    shape.assign(c.type(index).getRank(), 1);
    shape[dim] = c.type(zeroIndex).getDimSize(0);
  }
  zero = c.b.reshape(zero, shape);
  auto common = c.commonShape({x, zero});
  if (common && ArrayRef(*common) == c.b.shape(x))
    return c.b.sub(x, zero);
  c.problem = "operand " + std::to_string(zeroIndex) +
              " (a zero point) does not fit operand " + std::to_string(index);
  return {};
}

/// Converts a product as operator `name` of the two factors, with the node's
/// attributes; null if it fails.
static Value multiplied(NodeConversion &c, StringRef name, Value a, Value b) {
  if (!a || !b)
    return {};
  Converted factors[] = {{{a}, false}, {{b}, false}};
  NodeConversion inner(c.node, factors, c.b, c.state);
  if (succeeded(findOperator(name)->convert(inner)))
    return inner.outputs.front().tensors.front();
  c.problem = inner.problem;
  return {};
}

static LogicalResult yieldInteger(NodeConversion &c, Value sums) {
  if (!sums)
    return failure();
  return c.yield(c.b.createOrFold<arith::FPToSIOp>(
      c.b.type(sums).clone(c.b.getI32Type()), sums));
}

/// Matrices have their zero points by row on the left, by column on the right.
static Value matrixProduct(NodeConversion &c, unsigned a, unsigned zeroOfA,
                           unsigned b, unsigned zeroOfB) {
  int64_t rowDim = std::max<int64_t>(c.type(a).getRank() - 2, 0),
          columnDim = std::max<int64_t>(c.type(b).getRank() - 1, 0);
  return multiplied(c, "MatMul", centred(c, a, zeroOfA, rowDim),
                    centred(c, b, zeroOfB, columnDim));
}

static LogicalResult matMulInteger(NodeConversion &c) {
  return yieldInteger(c, matrixProduct(c, 0, 2, 1, 3));
}
static LogicalResult convInteger(NodeConversion &c) {
  return yieldInteger(
      c, multiplied(c, "Conv", centred(c, 0, 2, 0), centred(c, 1, 3, 0)));
}

/// Returns a scale as f64, with the numbers of a vector along `dim` of `rank`.
static Value scaleOf(NodeConversion &c, unsigned index, int64_t rank,
                     int64_t dim) {
  Value scale =
      inFloatType(c.b, inSingle(c.b, c.input(index)), c.b.getF64Type());
  if (c.type(index).getNumElements() == 1)
    return c.b.reshape(scale, {});
  if (c.type(index).getRank() != 1 || dim >= rank)
    return scale;
  SmallVector<int64_t> shape(rank, 1);
  shape[dim] = c.type(index).getDimSize(0);
  return c.b.reshape(scale, shape);
}

/// Quantises sums of products, whose scales are those of operands `a`, `b` and,
/// for the result, `y`.
static LogicalResult requantised(NodeConversion &c, Value sums, Value scaleOfA,
                                 Value scaleOfB, unsigned y, unsigned zero) {
  auto range = narrowRangeOf(quantisedType(c, zero));
  if (!range || c.type(y).getNumElements() != 1 ||
      c.type(zero).getNumElements() != 1)
    return c.fail("operands " + Twine(y) + " and " + Twine(zero) +
                  " (the scale and zero point of the result) must have one "
                  "element each, and operand " +
                  Twine(zero) + " must be of 8 or 16 bits");
  auto common = c.commonShape({sums, scaleOfA, scaleOfB});
  if (!common || ArrayRef(*common) != c.b.shape(sums))
    return c.fail("the scales do not fit the result");
  Type wide = c.b.getF64Type();
  Value scale = c.b.div(c.b.mul(scaleOfA, scaleOfB), scaleOf(c, y, 0, 0));
  Value offset =
      c.b.reshape(inFloatType(c.b, inSingle(c.b, c.input(zero)), wide), {});
  Value result = quantised(c.b, c.b.mul(sums, scale), offset, *range);
  return c.yield(inFloatType(c.b, result, c.b.getF32Type()));
}

static LogicalResult qLinearMatMul(NodeConversion &c) {
  Value sums = matrixProduct(c, 0, 2, 3, 5);
  if (!sums)
    return failure();
  int64_t rank = c.b.type(sums).getRank();
  return requantised(c, sums,
                     scaleOf(c, 1, rank, std::max<int64_t>(rank - 2, 0)),
                     scaleOf(c, 4, rank, std::max<int64_t>(rank - 1, 0)), 6, 7);
}

static LogicalResult qLinearConv(NodeConversion &c) {
  Value sums = multiplied(c, "Conv", centred(c, 0, 2, 0), centred(c, 3, 5, 0));
  if (!sums)
    return failure();
  int64_t rank = c.b.type(sums).getRank();
  if (c.has(8)) {
    SmallVector<int64_t> perChannel(rank, 1);
    perChannel[1] = c.b.shape(sums)[1];
    if (c.type(8).getNumElements() != perChannel[1])
      return c.fail("operand 8 (the bias) must have a number for each channel");
    Value bias = c.b.createOrFold<arith::SIToFPOp>(
        c.type(8).clone(c.b.getF64Type()), c.input(8));
    sums = c.b.add(sums, c.b.reshape(bias, perChannel));
  }
  return requantised(c, sums, scaleOf(c, 1, rank, 1), scaleOf(c, 4, rank, 1), 6,
                     7);
}

ArrayRef<OperatorEntry> gpuopt::quantizeOperators() {
  static const char held[] =
      "results in floating-point; stored numbers are constants";
  static const OperatorEntry entries[] = {
      {"ConvInteger", convInteger, "stored numbers are constants"},
      {"DequantizeLinear", dequantizeLinear, "stored numbers are constants"},
      {"DynamicQuantizeLinear", dynamicQuantizeLinear, held},
      {"MatMulInteger", matMulInteger, "stored numbers are constants"},
      {"QLinearConv", qLinearConv, held},
      {"QLinearMatMul", qLinearMatMul, held},
      {"QuantizeLinear", quantizeLinear, held}};
  return entries;
}
