//===- Elementwise.cpp - Arithmetic, comparisons, activations -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NarrowTypes.h"

#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "gpuopt/Dialect/NN/IR/RepeatedElements.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Two and more operands
//===----------------------------------------------------------------------===//

/// Broadcasts the operands to each other. Returns nothing, and notes the
/// problem, if they do not fit.
static std::optional<SmallVector<Value>> aligned(NodeConversion &c) {
  SmallVector<Value> values;
  for (unsigned index = 0; index < c.inputCount(); ++index)
    values.push_back(c.input(index));
  auto shape = c.commonShape(values);
  if (!shape)
    return std::nullopt;
  for (Value &value : values)
    value = c.b.broadcast(value, *shape);
  return values;
}

/// Returns the constant that a value repeats, without the repetition; null if
/// there is none.
static Value constantBelow(nn::TensorBuilder &b, Value value) {
  if (auto broadcast = value.getDefiningOp<nn::BroadcastOp>())
    value = broadcast.getInput();
  DenseElementsAttr constant = constantOf(value);
  return constant ? b.create<arith::ConstantOp>(nn::withoutRepeats(constant))
                  : Value();
}

/// Does the same, but leaves repetitions that all operands have, such as that
/// of an attention mask over the batch, to the result, whose `shape` is given.
/// So the result is small enough to be a constant. This is for operands that
/// are all constants; kernels repeat other operands as they read them.
static std::optional<SmallVector<Value>>
alignedOnce(NodeConversion &c, SmallVector<int64_t> &shape) {
  auto values = aligned(c);
  if (!values)
    return std::nullopt;
  shape = llvm::to_vector(c.b.shape(values->front()));
  SmallVector<Value> sources;
  SmallVector<int64_t> common;
  for (Value value : *values) {
    Value source = constantBelow(c.b, value);
    if (!source)
      return values;
    sources.push_back(source);
    common = c.b.commonShape(common, c.b.shape(source));
  }
  for (Value &source : sources)
    source = c.b.broadcast(source, common);
  return sources;
}

/// Lets Max and Min pass the gradient on where an operand equals a constant, as
/// torch.clamp does, which is exported so. Relu and Clip do not.
static void passAtBound(Value extremum) {
  auto isConstant = [](Value value) {
    auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
    return bool(constantOf(broadcast ? broadcast.getInput() : value));
  };
  Operation *op = extremum.getDefiningOp();
  if (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op) &&
      llvm::any_of(op->getOperands(), isConstant))
    op->setAttr(nn::kPassesAtBound, UnitAttr::get(op->getContext()));
}

template <typename FloatOp, typename IntOp>
static LogicalResult arithmetic(NodeConversion &c) {
  auto values = aligned(c);
  if (!values)
    return failure();
  bool isFloat = c.isFloat(0);
  Value result = (*values)[0];
  for (Value other : ArrayRef(*values).drop_front()) {
    Value next = isFloat ? c.b.createOrFold<FloatOp>(result, other)
                         : c.b.createOrFold<IntOp>(result, other);
    if (next != result && next != other)
      passAtBound(next);
    result = next;
  }
  return c.yield(result);
}

static LogicalResult mean(NodeConversion &c) {
  if (failed(arithmetic<arith::AddFOp, arith::AddIOp>(c)))
    return failure();
  Value &sum = c.outputs[0].tensors[0];
  sum = c.b.mul(sum, 1.0 / c.inputCount());
  return success();
}

static LogicalResult power(NodeConversion &c) {
  auto values = aligned(c);
  if (!values)
    return failure();
  Value x = (*values)[0], e = (*values)[1];
  if (!c.isFloat(0)) {
    // Integers are exact up to 2^53.
    RankedTensorType type = c.b.type(x);
    Value powers = c.b.createOrFold<math::PowFOp>(
        inDouble(c.b, x), c.isFloat(1) ? inFloatType(c.b, e, c.b.getF64Type())
                                       : inDouble(c.b, e));
    // A whole power may have come out just below or above itself. Of whole
    // exponents, the others are negative and give at most 1/2, which rounds to
    // the even 0, as it should; of fractions, they are cut off.
    Value whole = c.b.createOrFold<math::RoundEvenOp>(powers);
    if (c.isFloat(1)) {
      Value distance = c.b.createOrFold<math::AbsFOp>(c.b.sub(powers, whole));
      Value room = c.b.mul(c.b.createOrFold<math::AbsFOp>(powers), 0x1p-44);
      whole = c.b.select(c.b.compare(arith::CmpFPredicate::OLE, distance, room),
                         whole, powers);
    }
    powers = whole;
    return c.yield(c.b.createOrFold<arith::FPToSIOp>(type, powers));
  }
  if (!c.isFloat(1))
    e = c.b.createOrFold<arith::SIToFPOp>(c.b.type(x), e);
  else if (c.type(1).getElementType() != c.type(0).getElementType())
    e = inFloatType(c.b, e, c.type(0).getElementType());
  // Small whole powers become products, whose gradients are cheap and exact.
  DenseElementsAttr exponent;
  if (matchPattern(e, m_Constant(&exponent)) && exponent.isSplat()) {
    APFloat number = exponent.getSplatValue<APFloat>();
    bool lossy = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    double value = number.convertToDouble();
    if (value == 1)
      return c.yield(x);
    if (value == 2)
      return c.yield(c.b.mul(x, x));
    if (value == 3)
      return c.yield(c.b.mul(c.b.mul(x, x), x));
    if (value == 0.5)
      return c.yield(c.b.createOrFold<math::SqrtOp>(x));
  }
  return c.yield(c.b.createOrFold<math::PowFOp>(x, e));
}

/// With fmod the remainder has the sign of the dividend, otherwise that of the
/// divisor.
static LogicalResult modulo(NodeConversion &c) {
  auto values = aligned(c);
  if (!values)
    return failure();
  bool fmod = c.node.getInt("fmod", 0), isFloat = c.isFloat(0);
  Value x = (*values)[0], y = (*values)[1];
  Value remainder = isFloat ? c.b.createOrFold<arith::RemFOp>(x, y)
                            : c.b.createOrFold<arith::RemSIOp>(x, y);
  if (fmod)
    return c.yield(remainder);
  Value zero = c.b.splat(0, c.b.type(remainder));
  if (isFloat) {
    using F = arith::CmpFPredicate;
    Value differ = c.b.createOrFold<arith::XOrIOp>(
        c.b.compare(F::OLT, remainder, zero), c.b.compare(F::OLT, y, zero));
    Value isWrong = c.b.createOrFold<arith::AndIOp>(
        differ, c.b.compare(F::UNE, remainder, zero));
    return c.yield(c.b.select(isWrong, c.b.add(remainder, y), remainder));
  }
  using P = arith::CmpIPredicate;
  Value differ = c.b.createOrFold<arith::XOrIOp>(
      c.b.compare(P::slt, remainder, zero), c.b.compare(P::slt, y, zero));
  Value isWrong = c.b.createOrFold<arith::AndIOp>(
      differ, c.b.compare(P::ne, remainder, zero));
  Value shifted = c.b.createOrFold<arith::AddIOp>(remainder, y);
  return c.yield(c.b.select(isWrong, shifted, remainder));
}

template <arith::CmpFPredicate floatPredicate,
          arith::CmpIPredicate intPredicate>
static LogicalResult comparison(NodeConversion &c) {
  SmallVector<int64_t> shape;
  auto values = alignedOnce(c, shape);
  if (!values)
    return failure();
  Value a = (*values)[0], b = (*values)[1];
  Value result = c.isFloat(0) ? c.b.compare(floatPredicate, a, b)
                              : c.b.compare(intPredicate, a, b);
  return c.yield(c.b.broadcast(result, shape));
}

template <typename OpT>
static LogicalResult logical(NodeConversion &c) {
  SmallVector<int64_t> shape;
  auto values = alignedOnce(c, shape);
  if (!values)
    return failure();
  Value result = c.b.createOrFold<OpT>((*values)[0], (*values)[1]);
  return c.yield(c.b.broadcast(result, shape));
}

template <typename OpT>
static LogicalResult bitwise(NodeConversion &c) {
  auto values = aligned(c);
  if (!values)
    return failure();
  return c.yield(c.b.createOrFold<OpT>((*values)[0], (*values)[1]));
}

/// Shifts by 0 up to the width of the type; a larger or negative amount moves
/// all bits out.
static LogicalResult bitShift(NodeConversion &c) {
  StringRef direction = c.node.getString("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return c.fail("attribute direction = '" + direction +
                  "' must be LEFT or RIGHT");
  auto values = aligned(c);
  if (!values)
    return failure();
  Value x = (*values)[0], by = (*values)[1];
  bool left = direction == "LEFT";
  DenseElementsAttr constant = constantOf(x), amounts = constantOf(by);
  if (constant && amounts && c.canCompute(constant.getNumElements()))
    return c.yield(
        c.b.create<arith::ConstantOp>(shiftConstants(constant, amounts, left)));
  RankedTensorType type = c.b.type(x);
  if (type.getElementType().isUnsignedInteger() ||
      c.b.type(by).getElementType().isUnsignedInteger())
    return c.fail("unsigned integers must be constants");
  using P = arith::CmpIPredicate;
  Value most = c.b.splat(type.getElementTypeBitWidth() - 1, type),
        zero = c.b.splat(0, type);
  Value isWithin = c.b.createOrFold<arith::AndIOp>(
      c.b.compare(P::sge, by, zero), c.b.compare(P::sle, by, most));
  by = c.b.select(isWithin, by, most);
  if (!left)
    return c.yield(c.b.createOrFold<arith::ShRSIOp>(x, by));
  Value shifted = c.b.createOrFold<arith::ShLIOp>(x, by);
  return c.yield(wrappedAsDeclared(c, c.b.select(isWithin, shifted, zero)));
}

/// Inverts all bits, which for a boolean is its negation.
static LogicalResult logicalNot(NodeConversion &c) {
  Value ones = c.b.splat(-1, c.type(0));
  Value inverted = c.b.createOrFold<arith::XOrIOp>(c.input(0), ones);
  return c.yield(wrappedAsDeclared(c, inverted));
}

/// Converts where(isnan(softmax(x)), 0, softmax(x)) to the softmax that gives 0
/// for empty rows by itself. Attention is exported like this, so that rows that
/// are masked completely give 0. (A NaN of x goes through here, which PyTorch
/// would hide.)
static Value guardedSoftmax(NodeConversion &c, ArrayRef<Value> values) {
  auto test = values[0].getDefiningOp<arith::CmpFOp>();
  auto softmax = values[2].getDefiningOp<nn::SoftmaxOp>();
  if (!test || test.getPredicate() != arith::CmpFPredicate::UNO || !softmax ||
      test.getLhs() != softmax.getResult() || test.getRhs() != test.getLhs() ||
      !matchPattern(values[1], m_AnyZeroFloat()))
    return {};
  return c.b.create<nn::SoftmaxOp>(softmax.getInput(), softmax.getDim(),
                                   /*zeroes_empty=*/true);
}

static LogicalResult where(NodeConversion &c) {
  SmallVector<int64_t> shape;
  auto values = alignedOnce(c, shape);
  if (!values)
    return failure();
  if (Value softmax = guardedSoftmax(c, *values))
    return c.yield(softmax);
  Value result = c.b.select((*values)[0], (*values)[1], (*values)[2]);
  return c.yield(c.b.broadcast(result, shape));
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult unary(NodeConversion &c) {
  return c.yield(c.b.createOrFold<OpT>(c.input(0)));
}

static LogicalResult negate(NodeConversion &c) {
  if (c.isFloat(0))
    return c.yield(c.b.neg(c.input(0)));
  return c.yield(
      c.b.createOrFold<arith::SubIOp>(c.b.splat(0, c.type(0)), c.input(0)));
}

static LogicalResult absolute(NodeConversion &c) {
  Value x = c.input(0);
  if (c.isFloat(0))
    return c.yield(c.b.createOrFold<math::AbsFOp>(x));
  Value negated = c.b.createOrFold<arith::SubIOp>(c.b.splat(0, c.type(0)), x);
  return c.yield(c.b.createOrFold<arith::MaxSIOp>(x, negated));
}

static LogicalResult reciprocal(NodeConversion &c) {
  return c.yield(c.b.div(c.b.splat(1, c.type(0)), c.input(0)));
}

Value gpuopt::reluOf(nn::TensorBuilder &b, Value x) {
  return b.createOrFold<arith::MaximumFOp>(x, b.splat(0, b.type(x)));
}
static Value isPositive(nn::TensorBuilder &b, Value x) {
  return b.compare(arith::CmpFPredicate::OGT, x, b.splat(0, b.type(x)));
}
/// log(1 + exp(x)) without overflow, with the right slope at 0.
static Value softplusOf(nn::TensorBuilder &b, Value x) {
  Value positive = isPositive(b, x), zero = b.splat(0, b.type(x));
  Value magnitude = b.select(positive, x, b.neg(x));
  return b.add(b.select(positive, x, zero),
               b.create<math::Log1pOp>(b.exp(b.neg(magnitude))));
}

static LogicalResult relu(NodeConversion &c) {
  return c.yield(reluOf(c.b, c.input(0)));
}
static LogicalResult sigmoid(NodeConversion &c) {
  return c.yield(c.b.sigmoid(c.input(0)));
}
static LogicalResult softplus(NodeConversion &c) {
  return c.yield(softplusOf(c.b, c.input(0)));
}
/// log(sigmoid(x)), which logsigmoid is exported as, is -softplus(-x): that is
/// finite, and so is its gradient, where the sigmoid rounds to 0. The logarithm
/// of 1 / (1 + exp(-x)) that is spelled out stays as it is.
static LogicalResult logarithm(NodeConversion &c) {
  auto before = c.node.getInputs()[0].getDefiningOp<onnx::NodeOp>();
  bool isOfSigmoid = before && before.is("Sigmoid");
  Value x =
      isOfSigmoid ? c.state.tensorOf(before.getInputs().front()) : Value();
  if (!x || x.getType() != c.type(0) || constantOf(c.input(0)))
    return unary<math::LogOp>(c);
  return c.yield(c.b.neg(softplusOf(c.b, c.b.neg(x))));
}
static LogicalResult swish(NodeConversion &c) {
  Value x = c.input(0), scaled = c.b.mul(x, c.node.getFloat("alpha", 1.0));
  return c.yield(c.b.mul(x, c.b.sigmoid(scaled)));
}
/// Gates operand 1 by the Swish of operand 0.
static LogicalResult swiGLU(NodeConversion &c) {
  if (c.type(0) != c.type(1))
    return c.fail("operands must have one shape");
  Value gate = c.input(0), scaled = c.b.mul(gate, c.node.getFloat("alpha", 1));
  return c.yield(c.b.mul(c.b.mul(gate, c.b.sigmoid(scaled)), c.input(1)));
}
static LogicalResult mish(NodeConversion &c) {
  return c.yield(c.b.mul(
      c.input(0), c.b.create<math::TanhOp>(softplusOf(c.b, c.input(0)))));
}
static LogicalResult leakyRelu(NodeConversion &c) {
  Value x = c.input(0);
  return c.yield(c.b.select(isPositive(c.b, x), x,
                            c.b.mul(x, c.node.getFloat("alpha", 0.01))));
}
static LogicalResult prelu(NodeConversion &c) {
  auto common = c.commonShape({c.input(0), c.input(1)});
  if (!common)
    return failure();
  if (ArrayRef(*common) != c.type(0).getShape())
    return c.fail("the slope must broadcast to the operand");
  Value x = c.input(0);
  return c.yield(c.b.select(isPositive(c.b, x), x, c.b.mul(x, c.input(1))));
}

/// Returns scale * (x > 0 ? x : alpha * (exp(x / inner) - 1)). It never takes
/// the exponential of a positive x, which could overflow into the gradient.
static Value exponentialLinear(nn::TensorBuilder &b, Value x, double alpha,
                               double scale, double inner) {
  Value positive = isPositive(b, x);
  Value below = b.select(positive, b.splat(0, b.type(x)), x);
  Value curve = b.mul(b.create<math::ExpM1Op>(b.mul(below, 1 / inner)), alpha);
  return b.mul(b.select(positive, x, curve), scale);
}
static LogicalResult elu(NodeConversion &c) {
  return c.yield(
      exponentialLinear(c.b, c.input(0), c.node.getFloat("alpha", 1.0), 1, 1));
}
static LogicalResult selu(NodeConversion &c) {
  double alpha = c.node.getFloat("alpha", 1.67326319217681884765625),
         gamma = c.node.getFloat("gamma", 1.05070102214813232421875);
  return c.yield(exponentialLinear(c.b, c.input(0), alpha, gamma, 1));
}
static LogicalResult celu(NodeConversion &c) {
  double alpha = c.node.getFloat("alpha", 1.0);
  return c.yield(exponentialLinear(c.b, c.input(0), alpha, 1, alpha));
}

static Value clamped(nn::TensorBuilder &b, Value x, double low, double high) {
  Value above = b.createOrFold<arith::MaximumFOp>(x, b.splat(low, b.type(x)));
  return b.createOrFold<arith::MinimumFOp>(above, b.splat(high, b.type(x)));
}
static LogicalResult hardSigmoid(NodeConversion &c) {
  Value line = c.b.add(c.b.mul(c.input(0), c.node.getFloat("alpha", 0.2)),
                       c.node.getFloat("beta", 0.5));
  return c.yield(clamped(c.b, line, 0, 1));
}
static LogicalResult hardSwish(NodeConversion &c) {
  Value line = c.b.add(c.b.mul(c.input(0), 1.0 / 6), 0.5);
  return c.yield(c.b.mul(c.input(0), clamped(c.b, line, 0, 1)));
}
static LogicalResult softsign(NodeConversion &c) {
  return c.yield(
      c.b.div(c.input(0), c.b.add(c.b.create<math::AbsFOp>(c.input(0)), 1.0)));
}

static LogicalResult gelu(NodeConversion &c) {
  Value x = c.input(0);
  StringRef form = c.node.getString("approximate", "none");
  if (form == "tanh") {
    constexpr double kSqrt2OverPi = 0.7978845608028654;
    Value cube = c.b.mul(c.b.mul(x, x), x);
    Value inner = c.b.mul(c.b.add(x, c.b.mul(cube, 0.044715)), kSqrt2OverPi);
    return c.yield(c.b.mul(c.b.mul(x, 0.5),
                           c.b.add(c.b.create<math::TanhOp>(inner), 1.0)));
  }
  if (form != "none")
    return c.fail("attribute approximate = '" + form + "' is not supported");
  constexpr double kSqrtHalf = 0.7071067811865476;
  Value erf = c.b.create<math::ErfOp>(c.b.mul(x, kSqrtHalf));
  return c.yield(c.b.mul(c.b.mul(x, 0.5), c.b.add(erf, 1.0)));
}

/// Returns a bound of Clip as a tensor of the operand's type; null if it is no
/// constant.
static Value boundOf(NodeConversion &c, unsigned index) {
  if (c.isFloat(0)) {
    auto bound = c.constantFloat(index);
    return bound ? c.b.splat(*bound, c.type(0)) : Value();
  }
  auto bound = c.constantInt(index);
  if (!bound)
    return Value();
  auto number = c.b.getIntegerAttr(c.type(0).getElementType(), *bound);
  return c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(c.type(0), Attribute(number)));
}

static LogicalResult clip(NodeConversion &c) {
  Value result = c.input(0);
  for (unsigned index : {1u, 2u}) {
    if (!c.has(index))
      continue;
    Value limit = boundOf(c, index);
    if (!limit)
      return failure();
    bool isLow = index == 1;
    if (c.isFloat(0))
      result = isLow ? c.b.createOrFold<arith::MaximumFOp>(result, limit)
                     : c.b.createOrFold<arith::MinimumFOp>(result, limit);
    else
      result = isLow ? c.b.createOrFold<arith::MaxSIOp>(result, limit)
                     : c.b.createOrFold<arith::MinSIOp>(result, limit);
  }
  return c.yield(result);
}

static LogicalResult thresholdedRelu(NodeConversion &c) {
  Value x = c.input(0);
  Value limit = c.b.splat(c.node.getFloat("alpha", 1.0), c.type(0));
  Value isAbove = c.b.compare(arith::CmpFPredicate::OGT, x, limit);
  return c.yield(c.b.select(isAbove, x, c.b.splat(0, c.type(0))));
}

/// Moves each element that is further than `lambd` from 0 towards 0 by `bias`.
static LogicalResult shrink(NodeConversion &c) {
  Value x = c.input(0);
  double limit = c.node.getFloat("lambd", 0.5),
         bias = c.node.getFloat("bias", 0);
  Value isAbove =
      c.b.compare(arith::CmpFPredicate::OGT, x, c.b.splat(limit, c.type(0)));
  Value isBelow =
      c.b.compare(arith::CmpFPredicate::OLT, x, c.b.splat(-limit, c.type(0)));
  Value below = c.b.select(isBelow, c.b.add(x, bias), c.b.splat(0, c.type(0)));
  return c.yield(c.b.select(isAbove, c.b.add(x, -bias), below));
}

static LogicalResult isNaN(NodeConversion &c) {
  return c.yield(
      c.b.compare(arith::CmpFPredicate::UNO, c.input(0), c.input(0)));
}

static LogicalResult isInf(NodeConversion &c) {
  double infinity = std::numeric_limits<double>::infinity();
  auto is = [&](double value) {
    return c.b.compare(arith::CmpFPredicate::OEQ, c.input(0),
                       c.b.splat(value, c.type(0)));
  };
  bool positive = c.node.getInt("detect_positive", 1),
       negative = c.node.getInt("detect_negative", 1);
  if (positive && negative)
    return c.yield(c.b.createOrFold<arith::OrIOp>(is(infinity), is(-infinity)));
  if (!positive && !negative)
    return c.yield(c.b.splat(0, c.type(0).clone(c.b.getI1Type())));
  return c.yield(is(positive ? infinity : -infinity));
}

static LogicalResult sign(NodeConversion &c) {
  Value x = c.input(0), zero = c.b.splat(0, c.type(0));
  if (!c.isFloat(0)) {
    Value above = c.b.createOrFold<arith::MaxSIOp>(x, c.b.splat(-1, c.type(0)));
    return c.yield(
        c.b.createOrFold<arith::MinSIOp>(above, c.b.splat(1, c.type(0))));
  }
  // A NaN is neither below zero nor equal to it, and stays what it is.
  Value rest =
      c.b.select(c.b.compare(arith::CmpFPredicate::OEQ, x, zero), zero, x);
  Value negative = c.b.select(c.b.compare(arith::CmpFPredicate::OLT, x, zero),
                              c.b.splat(-1, c.type(0)), rest);
  return c.yield(
      c.b.select(isPositive(c.b, x), c.b.splat(1, c.type(0)), negative));
}

ArrayRef<OperatorEntry> gpuopt::elementwiseOperators() {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  static const OperatorEntry entries[] = {
      {"Abs", absolute},
      {"Acos", unary<math::AcosOp>},
      {"Acosh", unary<math::AcoshOp>},
      {"Add", arithmetic<arith::AddFOp, arith::AddIOp>},
      {"And", logical<arith::AndIOp>},
      {"Asin", unary<math::AsinOp>},
      {"Asinh", unary<math::AsinhOp>},
      {"Atan", unary<math::AtanOp>},
      {"Atanh", unary<math::AtanhOp>},
      {"BitShift", bitShift},
      {"BitwiseAnd", bitwise<arith::AndIOp>},
      {"BitwiseNot", logicalNot},
      {"BitwiseOr", bitwise<arith::OrIOp>},
      {"BitwiseXor", bitwise<arith::XOrIOp>},
      {"Ceil", unary<math::CeilOp>},
      {"Celu", celu},
      {"Clip", clip, "bounds are constants"},
      {"Cos", unary<math::CosOp>},
      {"Cosh", unary<math::CoshOp>},
      {"Div", arithmetic<arith::DivFOp, arith::DivSIOp>},
      {"Elu", elu},
      {"Equal", comparison<F::OEQ, I::eq>},
      {"Erf", unary<math::ErfOp>},
      {"Exp", unary<math::ExpOp>},
      {"Floor", unary<math::FloorOp>},
      {"Gelu", gelu},
      {"Greater", comparison<F::OGT, I::sgt>},
      {"GreaterOrEqual", comparison<F::OGE, I::sge>},
      {"HardSigmoid", hardSigmoid},
      {"HardSwish", hardSwish},
      {"IsInf", isInf},
      {"IsNaN", isNaN},
      {"LeakyRelu", leakyRelu},
      {"Less", comparison<F::OLT, I::slt>},
      {"LessOrEqual", comparison<F::OLE, I::sle>},
      {"Log", logarithm},
      {"Max", arithmetic<arith::MaximumFOp, arith::MaxSIOp>},
      {"Mean", mean},
      {"Min", arithmetic<arith::MinimumFOp, arith::MinSIOp>},
      {"Mish", mish},
      {"Mod", modulo},
      {"Mul", arithmetic<arith::MulFOp, arith::MulIOp>},
      {"Neg", negate},
      {"Not", logicalNot},
      {"Or", logical<arith::OrIOp>},
      {"PRelu", prelu, "floating-point operands"},
      {"Pow", power, "integers up to 2^53"},
      {"Reciprocal", reciprocal},
      {"Relu", relu, "floating-point operands"},
      {"Round", unary<math::RoundEvenOp>},
      {"Selu", selu},
      {"Shrink", shrink, "floating-point operands"},
      {"Sigmoid", sigmoid},
      {"Sign", sign},
      {"Sin", unary<math::SinOp>},
      {"Sinh", unary<math::SinhOp>},
      {"Softplus", softplus},
      {"Softsign", softsign},
      {"Sqrt", unary<math::SqrtOp>},
      {"Sub", arithmetic<arith::SubFOp, arith::SubIOp>},
      {"Sum", arithmetic<arith::AddFOp, arith::AddIOp>},
      {"SwiGLU", swiGLU},
      {"Swish", swish},
      {"Tan", unary<math::TanOp>},
      {"Tanh", unary<math::TanhOp>},
      {"ThresholdedRelu", thresholdedRelu},
      {"Where", where},
      {"Xor", logical<arith::XOrIOp>}};
  return entries;
}
