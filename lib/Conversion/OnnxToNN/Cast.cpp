//===- Cast.cpp - Conversions of element types ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NarrowTypes.h"

#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"

using namespace mlir;
using namespace gpuopt;

static LogicalResult castTo(NodeConversion &c, Type element) {
  Value x = c.input(0);
  Type from = c.type(0).getElementType();
  RankedTensorType target = c.type(0).clone(element);
  if (from == element)
    return c.yield(x);
  if (element.isInteger(1)) {
    Value zero = c.b.splat(0, c.type(0));
    return c.yield(isa<FloatType>(from)
                       ? c.b.compare(arith::CmpFPredicate::UNE, x, zero)
                       : c.b.compare(arith::CmpIPredicate::ne, x, zero));
  }
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(element);
  if (fromFloat && toFloat)
    return c.yield(inFloatType(c.b, x, element));
  if (fromFloat)
    return c.yield(c.b.createOrFold<arith::FPToSIOp>(target, x));
  bool isUnsigned = from.isInteger(1) || from.isUnsignedInteger();
  if (toFloat)
    return c.yield(isUnsigned ? c.b.createOrFold<arith::UIToFPOp>(target, x)
                              : c.b.createOrFold<arith::SIToFPOp>(target, x));
  if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
    return c.yield(c.b.createOrFold<arith::TruncIOp>(target, x));
  return c.yield(isUnsigned ? c.b.createOrFold<arith::ExtUIOp>(target, x)
                            : c.b.createOrFold<arith::ExtSIOp>(target, x));
}

/// Returns the name of a type of TensorProto.DataType.
static std::string nameOfType(int64_t dataType) {
  static const StringRef names[] = {
      "undefined",      "float",      "uint8",
      "int8",           "uint16",     "int16",
      "int32",          "int64",      "string",
      "bool",           "float16",    "double",
      "uint32",         "uint64",     "complex64",
      "complex128",     "bfloat16",   "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4",          "int4",       "float4e2m1",
      "float8e8m0",     "uint2",      "int2"};
  if (dataType >= 0 && dataType < (int64_t)std::size(names))
    return names[dataType].str();
  return "a type of number " + std::to_string(dataType);
}

/// Casts to a type that is held in f32 or in i32; the latter wraps around.
static LogicalResult castToNarrow(NodeConversion &c, int64_t to) {
  auto format = smallFloatOf(to);
  if (format)
    return c.yield(roundedToSmall(c.b, inSingle(c.b, c.input(0)), *format,
                                  to == 23 || c.node.getInt("saturate", 1),
                                  /*isStraightThrough=*/false));
  if (failed(castTo(c, c.b.getI32Type())))
    return failure();
  Value &result = c.outputs.back().tensors.front();
  result = wrapped(c.b, result, to);
  return success();
}

static LogicalResult cast(NodeConversion &c) {
  int64_t to = c.node.getInt("to", 0);
  if (smallFloatOf(to) || (to > 20 && narrowRangeOf(to)))
    return castToNarrow(c, to);
  Type element = elementTypeOf(c.b, to);
  if (!element)
    return c.fail("a cast to " + nameOfType(to) +
                  " (attribute to = " + Twine(to) + ") is not supported");
  if (failed(castTo(c, element)))
    return failure();
  Value &result = c.outputs.back().tensors.front();
  result = wrapped(c.b, result, to);
  return success();
}
static LogicalResult castLike(NodeConversion &c) {
  int64_t to = narrowDataTypeOf(c.type(1).getElementType());
  if (!to)
    to = declaredDataTypeOf(c.node.getInput(1));
  if (smallFloatOf(to) || narrowRangeOf(to))
    return castToNarrow(c, to);
  if (failed(castTo(c, c.type(1).getElementType())))
    return failure();
  Value &result = c.outputs.back().tensors.front();
  result = wrapped(c.b, result, to);
  return success();
}

/// Returns the bits of each number.
static SmallVector<APInt> bitsOf(DenseElementsAttr constant) {
  if (!isa<FloatType>(constant.getElementType()))
    return llvm::to_vector(constant.getValues<APInt>());
  return llvm::map_to_vector(
      constant.getValues<APFloat>(),
      [](const APFloat &number) { return number.bitcastToAPInt(); });
}

/// Reads the bits of constants as those of another type of the same width.
static LogicalResult bitCast(NodeConversion &c) {
  int64_t to = c.node.getInt("to", 0);
  Type element = elementTypeOf(c.b, to);
  if (!element)
    return c.fail("a cast to " + nameOfType(to) +
                  " (attribute to = " + Twine(to) + ") is not supported");
  DenseElementsAttr constant = constantOf(c.input(0));
  if (!constant)
    return c.fail("operand 0 must be a constant, because programs do not look "
                  "at bits" +
                  c.whatDecides(0));
  if (!c.canCompute(constant.getNumElements()))
    return failure();
  // What is held in a wider type has its own width here.
  auto range = narrowRangeOf(to);
  unsigned width = range                  ? (to < 4 ? 8 : 16)
                   : to == 12             ? 32
                   : element.isInteger(1) ? 8
                                          : element.getIntOrFloatBitWidth();
  unsigned from = constant.getElementType().getIntOrFloatBitWidth();
  if ((from == 1 ? 8 : from) != width)
    return c.fail("elements of " + Twine(from) + " bits cannot be read as " +
                  nameOfType(to) + ", which has " + Twine(width) + " bits");
  bool isUnsigned = to == 2 || to == 4 || to == 12 || to == 13;
  RankedTensorType type = c.type(0).clone(element);
  if (auto number = dyn_cast<FloatType>(element)) {
    auto floats = llvm::map_to_vector(bitsOf(constant), [&](const APInt &bits) {
      return APFloat(number.getFloatSemantics(), bits);
    });
    return c.yield(
        c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, floats)));
  }
  unsigned held = element.getIntOrFloatBitWidth();
  auto integers = llvm::map_to_vector(bitsOf(constant), [&](const APInt &bits) {
    return isUnsigned || from == 1 ? bits.zextOrTrunc(held)
                                   : bits.sextOrTrunc(held);
  });
  return c.yield(
      c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, integers)));
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

Value gpuopt::withoutGradient(nn::TensorBuilder &b, Value x) {
  SmallVector<int64_t> shape(b.shape(x)), joined(shape);
  if (joined.empty())
    joined.push_back(1);
  auto same = b.create<nn::ConcatOp>(ValueRange{b.reshape(x, joined)}, 0);
  same->setAttr(nn::kStopsGradient, b.getUnitAttr());
  return b.reshape(same.getResult(), shape);
}

static LogicalResult identity(NodeConversion &c) {
  bool stopsGradient = c.node.getInt("stops_gradient", 0) && c.has(0) &&
                       c.isFloat(0) && !constantOf(c.input(0));
  if (stopsGradient)
    return c.yield(withoutGradient(c.b, c.input(0)));
  c.outputs.push_back(c.sequence(0));
  return success();
}

ArrayRef<OperatorEntry> gpuopt::castOperators() {
  static const OperatorEntry entries[] = {
      {"BitCast", bitCast, "constants"},
      {"Cast", cast,
       "2 to 16 bits in integers of 32 bits, uint32 in int64, 4 and 8 bits of "
       "floating-point in f32"},
      {"CastLike", castLike, "2 to 16 bits in integers of 32 bits"},
      {"Identity", identity}};
  return entries;
}
