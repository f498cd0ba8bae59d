//===- NarrowTypes.cpp - Types of few bits, held in wider ones ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NarrowTypes.h"

#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;

/// The number that ONNX's TensorProto gives the data type uint32.
constexpr int64_t kUInt32 = 12;

std::optional<SmallFloat> gpuopt::smallFloatOf(int64_t dataType) {
  switch (dataType) {
  case 17: // float8e4m3fn
    return SmallFloat{3, -6, 448, false};
  case 18: // float8e4m3fnuz
    return SmallFloat{3, -7, 240, false};
  case 19: // float8e5m2
    return SmallFloat{2, -14, 57344, true};
  case 20: // float8e5m2fnuz
    return SmallFloat{2, -15, 57344, false};
  case 23: // float4e2m1
    return SmallFloat{1, 0, 6, false};
  default:
    return std::nullopt;
  }
}

std::optional<IntegerRange> gpuopt::narrowRangeOf(int64_t dataType) {
  switch (dataType) {
  case 2: // uint8
    return IntegerRange{0, 255};
  case 3: // int8
    return IntegerRange{-128, 127};
  case 4: // uint16
    return IntegerRange{0, 65535};
  case 5: // int16
    return IntegerRange{-32768, 32767};
  case 21: // uint4
    return IntegerRange{0, 15};
  case 22: // int4
    return IntegerRange{-8, 7};
  case 25: // uint2
    return IntegerRange{0, 3};
  case 26: // int2
    return IntegerRange{-2, 1};
  default:
    return std::nullopt;
  }
}

int64_t gpuopt::narrowDataTypeOf(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 2:
      return isUnsigned ? 25 : 26;
    case 4:
      return isUnsigned ? 21 : 22;
    case 8:
      return isUnsigned ? 2 : 3;
    case 16:
      return isUnsigned ? 4 : 5;
    default:
      return 0;
    }
  }
  return llvm::TypeSwitch<Type, int64_t>(element)
      .Case([](Float8E4M3FNType) { return 17; })
      .Case([](Float8E4M3FNUZType) { return 18; })
      .Case([](Float8E5M2Type) { return 19; })
      .Case([](Float8E5M2FNUZType) { return 20; })
      .Case([](Float4E2M1FNType) { return 23; })
      .Default([](Type) { return 0; });
}

Value gpuopt::inSingle(nn::TensorBuilder &b, Value x) {
  Type element = b.type(x).getElementType();
  RankedTensorType target = b.type(x).clone(b.getF32Type());
  if (auto number = dyn_cast<FloatType>(element))
    return number.getWidth() >= 32 ? x
                                   : b.createOrFold<arith::ExtFOp>(target, x);
  bool isUnsigned = element.isInteger(1) || element.isUnsignedInteger();
  return isUnsigned ? b.createOrFold<arith::UIToFPOp>(target, x)
                    : b.createOrFold<arith::SIToFPOp>(target, x);
}

Value gpuopt::roundedToWhole(nn::TensorBuilder &b, Value x,
                             bool isStraightThrough) {
  Value rounded = b.createOrFold<math::RoundEvenOp>(x);
  if (auto op = rounded.getDefiningOp<math::RoundEvenOp>();
      op && isStraightThrough)
    op->setAttr(nn::kStraightThrough, b.getUnitAttr());
  return rounded;
}

DenseElementsAttr gpuopt::shiftConstants(DenseElementsAttr x,
                                         DenseElementsAttr by, bool left) {
  bool isUnsigned = x.getElementType().isUnsignedInteger();
  SmallVector<APInt> shifted;
  for (auto [number, amount] :
       llvm::zip(x.getValues<APInt>(), by.getValues<APInt>())) {
    unsigned width = number.getBitWidth();
    if (amount.ult(width)) // nor negative
      shifted.push_back(left         ? number.shl(amount)
                        : isUnsigned ? number.lshr(amount)
                                     : number.ashr(amount));
    else
      shifted.push_back(left || isUnsigned || !number.isNegative()
                            ? APInt::getZero(width)
                            : APInt::getAllOnes(width));
  }
  return DenseElementsAttr::get(x.getType(), shifted);
}

Value gpuopt::wrapped(nn::TensorBuilder &b, Value x, int64_t dataType) {
  RankedTensorType type = b.type(x);
  auto range = narrowRangeOf(dataType);
  if (dataType == kUInt32 || (range && range->least == 0)) {
    double most = range ? range->most : 0xffffffff;
    return b.createOrFold<arith::AndIOp>(x, b.splat(most, type));
  }
  if (!range)
    return x;
  // The sign is that of the highest bit that is left.
  int bits = 1 + llvm::Log2_64_Ceil(static_cast<uint64_t>(range->most) + 1);
  Value shift = b.splat(32 - bits, type);
  return b.createOrFold<arith::ShRSIOp>(b.createOrFold<arith::ShLIOp>(x, shift),
                                        shift);
}

/// Operators whose results grow out of the range of their operands, of which
/// they have the type.
static const StringRef kGrowing[] = {
    "Abs",       "Add",       "CumProd",         "CumSum",         "Div", "Mul",
    "Neg",       "Pow",       "ReduceL1",        "ReduceProd",     "Sub", "Sum",
    "ReduceSum", "ScatterND", "ReduceSumSquare", "ScatterElements"};
/// Other operators whose results have the type of operand 0.
static const StringRef kKeeping[] = {
    "BitShift",   "BitwiseAnd", "BitwiseNot", "BitwiseOr",
    "BitwiseXor", "Clip",       "Concat",     "Expand",
    "Flatten",    "Gather",     "GatherND",   "Identity",
    "Max",        "Min",        "Mod",        "ReduceMax",
    "ReduceMin",  "Reshape",    "Slice",      "Squeeze",
    "Tile",       "Transpose",  "Unsqueeze",  "GatherElements",
    "MaxPool"};

int64_t gpuopt::declaredDataTypeOf(Value value) {
  while (true) {
    Type element = getElementTypeOrSelf(value.getType());
    if (element.isUnsignedInteger(32))
      return 12;
    if (int64_t narrow = narrowDataTypeOf(element))
      return narrow;
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (!node || node.is("Cast"))
      return node ? node.getInt("to", 0) : 0;
    // What the file gives no type has that of an operand.
    if (element.isIntOrFloat() || node.getInputs().empty() ||
        (!llvm::is_contained(kGrowing, node.getOpType()) &&
         !llvm::is_contained(kKeeping, node.getOpType())))
      return 0;
    value = node.getInputs().front();
  }
}

Value gpuopt::wrappedAsDeclared(NodeConversion &c, Value x) {
  int64_t dataType = 0;
  if (!c.node.getOutputs().empty())
    dataType = declaredDataTypeOf(c.node.getOutputs().front());
  for (Value operand : c.node.getInputs())
    if (!dataType)
      dataType = declaredDataTypeOf(operand);
  bool isHeld =
      c.b.type(x).getElementType().isInteger(dataType == kUInt32 ? 64 : 32);
  return isHeld ? wrapped(c.b, x, dataType) : x;
}

RankedTensorType gpuopt::heldTypeOf(RankedTensorType type) {
  Builder b(type.getContext());
  if (auto number = dyn_cast<FloatType>(type.getElementType()))
    return number.getWidth() <= 8 ? type.clone(b.getF32Type()) : type;
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!integer || integer.getWidth() == 1)
    return type;
  if (integer.getWidth() <= 16)
    return type.clone(b.getI32Type());
  return integer.isUnsigned() && integer.getWidth() == 32
             ? type.clone(b.getI64Type())
             : type;
}

/// Whether a value is a constant of up to 32 unsigned bits that has no place in
/// the signed integers of its width. In those that programs hold it in, it has.
static bool needsWiderIntegers(Value x) {
  DenseElementsAttr constant = constantOf(x);
  return constant && constant.getElementType().isUnsignedInteger() &&
         constant.getElementType().getIntOrFloatBitWidth() <= 32 &&
         !constant.empty() && exceedsSigned(constant);
}

void gpuopt::holdConstants(onnx::NodeOp node, nn::TensorBuilder &b,
                           SmallVectorImpl<Converted> &inputs) {
  // The type of a constant says in which type these compute.
  static const StringRef byType[] = {"BitCast",        "Cast",
                                     "CastLike",       "ConvInteger",
                                     "Identity",       "MatMulInteger",
                                     "QLinearConv",    "QLinearMatMul",
                                     "QuantizeLinear", "DequantizeLinear"};
  if (llvm::is_contained(byType, node.getOpType()))
    return;
  auto isHeld = [&](Value x) {
    return !constantOf(x) || b.type(x).getElementType().isSignlessInteger(32);
  };
  bool areHeld = false, hasLongUnsigned = false;
  for (auto [index, input] : llvm::enumerate(inputs))
    for (Value x : input.tensors) {
      areHeld |= isHeld(x) || (computesSigned(node.getOpType(), index) &&
                               needsWiderIntegers(x));
      hasLongUnsigned |=
          getElementTypeOrSelf(x.getType()).isUnsignedInteger(32);
    }
  // Only the file tells that other constants of int64 hold uint32.
  if (!areHeld && hasLongUnsigned)
    areHeld = llvm::any_of(llvm::zip(node.getInputs(), inputs),
                           [&](const auto &each) {
                             const auto &[value, input] = each;
                             return !input.tensors.empty() &&
                                    b.type(input.tensors.front())
                                        .getElementType()
                                        .isSignlessInteger(64) &&
                                    declaredDataTypeOf(value) == kUInt32;
                           });
  if (!areHeld)
    return;
  for (Converted &input : inputs)
    for (Value &x : input.tensors) {
      RankedTensorType type = b.type(x), held = heldTypeOf(type);
      if (held == type || !constantOf(x))
        continue;
      if (isa<FloatType>(type.getElementType())) {
        x = inSingle(b, x);
        continue;
      }
      x = type.getElementType().isUnsignedInteger()
              ? b.createOrFold<arith::ExtUIOp>(held, x)
              : b.createOrFold<arith::ExtSIOp>(held, x);
    }
}

Value gpuopt::heldConstant(nn::TensorBuilder &b, Value x) {
  auto constant = dyn_cast_or_null<DenseIntElementsAttr>(constantOf(x));
  if (!constant || !constant.getElementType().isUnsignedInteger())
    return x;
  unsigned width = constant.getElementType().getIntOrFloatBitWidth();
  auto isTooLarge = [&](const APInt &number) {
    return width == 64 && number.isNegative();
  };
  if (constant.isSplat()
          ? isTooLarge(constant.getSplatValue<APInt>())
          : llvm::any_of(constant.getValues<APInt>(), isTooLarge))
    return {};
  unsigned heldWidth = width <= 16 ? 32 : 64;
  auto held =
      constant.mapValues(b.getIntegerType(heldWidth), [&](const APInt &number) {
        return number.zextOrTrunc(heldWidth);
      });
  return b.create<arith::ConstantOp>(held);
}

void gpuopt::wrapResults(NodeConversion &c) {
  if (!llvm::is_contained(kGrowing, c.node.getOpType()))
    return;
  for (Converted &output : c.outputs)
    for (Value &x : output.tensors)
      x = wrappedAsDeclared(c, x);
}

/// Returns a constant with each number changed.
static Value mapConstant(nn::TensorBuilder &b, DenseElementsAttr constant,
                         function_ref<double(double)> change) {
  Type element = constant.getElementType();
  auto changed = [&](APFloat number) {
    bool lossy = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return b.getFloatAttr(element, change(number.convertToDouble())).getValue();
  };
  if (constant.isSplat())
    return b.create<arith::ConstantOp>(DenseElementsAttr::get(
        constant.getType(), changed(constant.getSplatValue<APFloat>())));
  SmallVector<APFloat> numbers;
  for (const APFloat &number : constant.getValues<APFloat>())
    numbers.push_back(changed(number));
  return b.create<arith::ConstantOp>(
      DenseElementsAttr::get(constant.getType(), numbers));
}

static double roundedNumber(double x, const SmallFloat &format,
                            bool saturates) {
  if (std::isnan(x) || x == 0)
    return x;
  int exponent = std::isinf(x) ? format.leastExponent
                               : std::max(std::ilogb(x), format.leastExponent);
  double quantum = std::ldexp(1, exponent - format.mantissaBits);
  double rounded = std::nearbyint(x / quantum) * quantum;
  if (std::abs(rounded) <= format.largest)
    return rounded;
  double beyond = saturates            ? format.largest
                  : format.hasInfinity ? INFINITY
                                       : NAN;
  return std::copysign(beyond, x);
}

Value gpuopt::roundedToSmall(nn::TensorBuilder &b, Value x,
                             const SmallFloat &format, bool saturates,
                             bool isStraightThrough) {
  if (DenseElementsAttr constant = constantOf(x))
    return mapConstant(b, constant, [&](double number) {
      return roundedNumber(number, format, saturates);
    });
  using F = arith::CmpFPredicate;
  RankedTensorType type = b.type(x);
  Value magnitude = b.create<math::AbsFOp>(x);
  auto quantumOf = [&](int exponent) {
    return b.splat(std::ldexp(1, exponent - format.mantissaBits), type);
  };
  // The distance of neighbours doubles at each power of two.
  Value quantum = quantumOf(format.leastExponent);
  for (int exponent = format.leastExponent + 1;
       exponent <= std::ilogb(format.largest); ++exponent)
    quantum = b.select(
        b.compare(F::OGE, magnitude, b.splat(std::ldexp(1, exponent), type)),
        quantumOf(exponent), quantum);
  Value rounded =
      b.mul(roundedToWhole(b, b.div(x, quantum), isStraightThrough), quantum);
  Value isBelow = b.compare(F::OLT, rounded, b.splat(-format.largest, type));
  Value isAbove = b.compare(F::OGT, rounded, b.splat(format.largest, type));
  double beyond = saturates            ? format.largest
                  : format.hasInfinity ? INFINITY
                                       : NAN;
  rounded = b.select(isBelow, b.splat(-beyond, type), rounded);
  return b.select(isAbove, b.splat(beyond, type), rounded);
}
