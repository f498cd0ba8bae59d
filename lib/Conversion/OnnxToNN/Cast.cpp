//===- Cast.cpp - Conversions of element types ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

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
    return c.yield(from.getIntOrFloatBitWidth() <
                           element.getIntOrFloatBitWidth()
                       ? c.b.createOrFold<arith::ExtFOp>(target, x)
                       : c.b.createOrFold<arith::TruncFOp>(target, x));
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
      "undefined", "float",  "uint8",     "int8",       "uint16",  "int16",
      "int32",     "int64",  "string",    "bool",       "float16", "double",
      "uint32",    "uint64", "complex64", "complex128", "bfloat16"};
  if (dataType >= 0 && dataType < (int64_t)std::size(names))
    return names[dataType].str();
  return "a type of number " + std::to_string(dataType);
}

/// Keeps of integers what the narrow type of a cast has room for.
static Value wrapped(nn::TensorBuilder &b, Value x, int64_t dataType) {
  RankedTensorType type = b.type(x);
  if (dataType == 2 || dataType == 4 || dataType == 12) {
    double most = dataType == 2 ? 0xff : dataType == 4 ? 0xffff : 0xffffffff;
    return b.createOrFold<arith::AndIOp>(x, b.splat(most, type));
  }
  if (dataType != 3 && dataType != 5)
    return x;
  // The sign is that of the highest bit that is left.
  Value shift = b.splat(dataType == 3 ? 24 : 16, type);
  return b.createOrFold<arith::ShRSIOp>(b.createOrFold<arith::ShLIOp>(x, shift),
                                        shift);
}

static LogicalResult cast(NodeConversion &c) {
  int64_t to = c.node.getInt("to", 0);
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
  return castTo(c, c.type(1).getElementType());
}

ArrayRef<OperatorEntry> gpuopt::castOperators() {
  static const OperatorEntry entries[] = {
      {"Cast", cast, "8 and 16 bits in integers of 32 bits, uint32 in int64"},
      {"CastLike", castLike,
       "8 and 16 bits in integers of 32 bits, which do not wrap around"}};
  return entries;
}
