//===- Expressions.cpp - Scalar ops as C++ expressions --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Expressions.h"

#include "Types.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;
using cxx::Binding;
using cxx::Expression;

std::string cxx::lanesOf(Type type) {
  return "Lanes<" + computeType(type) + ">";
}

std::string cxx::argument(const Expression &expression, Type type,
                          bool asLanes) {
  if (asLanes && !expression.isVarying)
    return lanesOf(type) + "(" + expression.text + ")";
  if (expression.isInteger && (type.isInteger(64) || type.isIndex()))
    return "int64_t(" + expression.text + ")";
  return expression.text;
}

std::string cxx::scaled(const Expression &index, int64_t stride) {
  if (stride == 1)
    return index.within(Binding::Sum);
  return index.within(Binding::Product) + " * " + std::to_string(stride);
}

//===----------------------------------------------------------------------===//
// Operators and functions
//===----------------------------------------------------------------------===//

namespace {

struct Infix {
  StringRef symbol;
  Binding binding;
  bool isUnsigned = false;
};

} // namespace

static const llvm::StringMap<Infix> &infixOps() {
  static const llvm::StringMap<Infix> table = {
      {"arith.addf", {"+", Binding::Sum}},
      {"arith.addi", {"+", Binding::Sum}},
      {"arith.subf", {"-", Binding::Sum}},
      {"arith.subi", {"-", Binding::Sum}},
      {"arith.mulf", {"*", Binding::Product}},
      {"arith.muli", {"*", Binding::Product}},
      {"arith.divf", {"/", Binding::Product}},
      {"arith.divsi", {"/", Binding::Product}},
      {"arith.divui", {"/", Binding::Product, true}},
      {"arith.remsi", {"%", Binding::Product}},
      {"arith.remui", {"%", Binding::Product, true}},
      {"arith.andi", {"&", Binding::Bitwise}},
      {"arith.ori", {"|", Binding::Bitwise}},
      {"arith.xori", {"^", Binding::Bitwise}},
      {"arith.shli", {"<<", Binding::Bitwise}},
      {"arith.shrsi", {">>", Binding::Bitwise}},
      {"arith.shrui", {">>", Binding::Bitwise, true}}};
  return table;
}

/// Functions of the runtime, for scalars and for lanes.
static const llvm::StringMap<StringRef> &functions() {
  static const llvm::StringMap<StringRef> table = {
      {"arith.maximumf", "max"},
      {"arith.minimumf", "min"},
      {"arith.maxsi", "max"},
      {"arith.minsi", "min"},
      {"arith.remf", "fmod"},
      {"math.absf", "abs"},
      {"math.absi", "abs"},
      {"math.acos", "acos"},
      {"math.acosh", "acosh"},
      {"math.asin", "asin"},
      {"math.asinh", "asinh"},
      {"math.atan", "atan"},
      {"math.atanh", "atanh"},
      {"math.ceil", "ceil"},
      {"math.copysign", "copysign"},
      {"math.cos", "cos"},
      {"math.cosh", "cosh"},
      {"math.erf", "erf"},
      {"math.exp", "exp"},
      {"math.expm1", "expm1"},
      {"math.floor", "floor"},
      {"math.isinf", "is_inf"},
      {"math.isnan", "is_nan"},
      {"math.log", "log"},
      {"math.log1p", "log1p"},
      {"math.powf", "pow"},
      {"math.roundeven", "round_even"},
      {"math.rsqrt", "rsqrt"},
      {"math.sin", "sin"},
      {"math.sinh", "sinh"},
      {"math.sqrt", "sqrt"},
      {"math.tan", "tan"},
      {"math.tanh", "tanh"},
      {"math.trunc", "trunc"}};
  return table;
}

StringRef cxx::functionOf(Operation *op) {
  return functions().lookup(op->getName().getStringRef());
}

static bool isNegative(const Expression &x) {
  return StringRef(x.text).starts_with("-");
}

/// Returns the text of an operand of an operator. After the operator, only what
/// binds tighter may stand without parentheses: a - (b + c).
static std::string side(const Expression &x, Binding binding, bool isRight) {
  if (binding == Binding::Bitwise)
    return x.within(Binding::Unary);
  Binding loosest = binding;
  if (isRight || binding == Binding::Comparison)
    loosest = Binding(int(binding) - 1);
  return isRight && isNegative(x) ? "(" + x.text + ")" : x.within(loosest);
}

static Expression infix(const Expression &a, StringRef symbol,
                        const Expression &b, Binding binding) {
  return {side(a, binding, false) + " " + symbol.str() + " " +
              side(b, binding, true),
          binding};
}

static Expression prefix(StringRef symbol, const Expression &x) {
  return {symbol.str() +
              (isNegative(x) ? "(" + x.text + ")" : x.within(Binding::Unary)),
          Binding::Unary};
}

static Expression call(StringRef function, ArrayRef<std::string> arguments) {
  return {function.str() + "(" + llvm::join(arguments, ", ") + ")"};
}

static Expression converted(StringRef type, const Expression &x) {
  return call(("convert<" + type + ">").str(), {x.text});
}

/// Returns the function that divides integers that are the same in all lanes.
/// Unlike an operator of C++ it does not trap, as one of lanes does not.
/// Returns nothing for a constant divisor for which no processor traps.
static StringRef divisionOf(Operation *op, ArrayRef<Expression> x) {
  bool isQuotient = isa<arith::DivSIOp, arith::DivUIOp>(op);
  if (!isQuotient && !isa<arith::RemSIOp, arith::RemUIOp>(op))
    return "";
  llvm::APInt divisor;
  bool isHarmless = matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
                    !divisor.isZero() && !divisor.isAllOnes();
  if (x[0].isVarying || x[1].isVarying || isHarmless)
    return "";
  return isQuotient ? "divide" : "remainder";
}

static Expression signedInfix(Operation *op, const Infix &entry,
                              ArrayRef<Expression> x) {
  StringRef function = divisionOf(op, x);
  if (function.empty())
    return infix(x[0], entry.symbol, x[1], entry.binding);
  Type type = op->getResult(0).getType();
  return call(function, {cxx::argument(x[0], type), cxx::argument(x[1], type)});
}

static Expression unsignedInfix(Operation *op, const Infix &entry,
                                ArrayRef<Expression> x) {
  Type type = op->getResult(0).getType();
  auto cast = [&](const Expression &operand) {
    Expression typed = operand;
    typed.text = cxx::argument(operand, type);
    return converted(cxx::unsignedType(type), typed);
  };
  Expression a = cast(x[0]), b = cast(x[1]);
  StringRef function = divisionOf(op, x);
  return converted(cxx::computeType(type),
                   function.empty() ? infix(a, entry.symbol, b, entry.binding)
                                    : call(function, {a.text, b.text}));
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// If a side is NaN, ordered predicates are false and unordered ones true,
/// while C++'s comparisons other than != are false.
static Expression compareFloats(arith::CmpFPredicate predicate,
                                const Expression &a, const Expression &b) {
  auto is = [&](StringRef symbol) {
    return infix(a, symbol, b, Binding::Comparison);
  };
  auto isNot = [&](StringRef symbol) { return prefix("!", is(symbol)); };
  auto eitherNaN = [&] {
    return infix(call("is_nan", {a.text}), "|", call("is_nan", {b.text}),
                 Binding::Bitwise);
  };
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse:
  case P::AlwaysTrue: {
    Expression answer(predicate == P::AlwaysTrue ? "true" : "false");
    return a.isVarying || b.isVarying ? call("Lanes<bool>", {answer.text})
                                      : answer;
  }
  case P::OEQ:
    return is("==");
  case P::OGT:
    return is(">");
  case P::OGE:
    return is(">=");
  case P::OLT:
    return is("<");
  case P::OLE:
    return is("<=");
  case P::ONE:
    return infix(is("<"), "|", is(">"), Binding::Bitwise);
  case P::ORD:
    return prefix("!", eitherNaN());
  case P::UEQ:
    return prefix("!", infix(is("<"), "|", is(">"), Binding::Bitwise));
  case P::UGT:
    return isNot("<=");
  case P::UGE:
    return isNot("<");
  case P::ULT:
    return isNot(">=");
  case P::ULE:
    return isNot(">");
  case P::UNE:
    return is("!=");
  case P::UNO:
    return eitherNaN();
  }
  return {"false"};
}

/// Returns "is_at(i, label)" for "iota<int64_t>(i) == label", which compares
/// one place with the lanes' numbers instead of as many places.
static std::optional<Expression> compareWithPlaces(ArrayRef<Expression> x) {
  for (auto [places, other] : {std::pair(x[0], x[1]), std::pair(x[1], x[0])}) {
    StringRef start = places.text;
    if (start.consume_front("iota<int64_t>(") && start.consume_back(")") &&
        !start.contains(')') && !other.isVarying) {
      Expression found = call("is_at", {start.str(), other.text});
      found.placed = start.str() + ", " + other.text;
      return found;
    }
  }
  return std::nullopt;
}

static Expression compareIntegers(arith::CmpIOp op, ArrayRef<Expression> x) {
  using P = arith::CmpIPredicate;
  auto is = [&](StringRef symbol) {
    return infix(x[0], symbol, x[1], Binding::Comparison);
  };
  auto isUnsigned = [&](StringRef symbol) {
    Type type = op.getLhs().getType();
    auto cast = [&](const Expression &operand) {
      return Expression("convert<" + cxx::unsignedType(type) + ">(" +
                        cxx::argument(operand, type) + ")");
    };
    return infix(cast(x[0]), symbol, cast(x[1]), Binding::Comparison);
  };
  switch (op.getPredicate()) {
  case P::eq:
    return compareWithPlaces(x).value_or(is("=="));
  case P::ne:
    return is("!=");
  case P::slt:
    return is("<");
  case P::sle:
    return is("<=");
  case P::sgt:
    return is(">");
  case P::sge:
    return is(">=");
  case P::ult:
    return isUnsigned("<");
  case P::ule:
    return isUnsigned("<=");
  case P::ugt:
    return isUnsigned(">");
  case P::uge:
    return isUnsigned(">=");
  }
  return {"false"};
}

//===----------------------------------------------------------------------===//
// Casts and choices
//===----------------------------------------------------------------------===//

/// Returns n if a constant is shorter as 1 / n, as 0.0013020834f is 1 / 768;
/// otherwise 0.
static int64_t divisorOf(FloatAttr number, StringRef literal) {
  constexpr size_t kShort = 8;
  constexpr double kMost = 1 << 24; // what float counts up to
  double value = number.getValueAsDouble(), n = std::round(1 / value);
  bool isFloat = number.getType().isF32();
  if (literal.size() <= kShort || !(n > 1 && n <= kMost) ||
      !(isFloat || number.getType().isF64()))
    return 0;
  bool isExact = isFloat ? 1.0f / float(n) == float(value) : 1 / n == value;
  return isExact ? int64_t(n) : 0;
}

static Expression constant(arith::ConstantOp op) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue())) {
    std::string text = cxx::floatLiteral(number.getValue(), number.getType());
    if (int64_t n = divisorOf(number, text)) {
      StringRef suffix = number.getType().isF32() ? ".0f" : ".0";
      return {"1" + suffix.str() + " / " + std::to_string(n) + suffix.str(),
              Binding::Product};
    }
    return {text, text[0] == '-' ? Binding::Unary : Binding::Atom};
  }
  auto number = cast<IntegerAttr>(op.getValue());
  std::string text = cxx::integerLiteral(number.getValue(), number.getType());
  Expression result(text, text[0] == '-' ? Binding::Unary : Binding::Atom);
  result.isInteger = !number.getType().isInteger(1);
  return result;
}

/// Returns select(x, one, zero) in the compute type of `to`. True is -1 as a
/// signed number.
static Expression fromBool(Operation *op, const Expression &x) {
  Type to = op->getResult(0).getType();
  bool isSigned = isa<arith::ExtSIOp, arith::SIToFPOp>(op);
  auto literal = [&](int value) {
    if (isa<FloatType>(to))
      return std::to_string(value) + (to.isF64() ? ".0" : ".0f");
    return cxx::computeType(to) + "(" + std::to_string(value) + ")";
  };
  Expression result =
      call("select", {x.text, literal(isSigned ? -1 : 1), literal(0)});
  if (isa<FloatType>(to) && !x.placed.empty())
    result.placed = x.placed + ", " + literal(isSigned ? -1 : 1);
  return result;
}

static Expression castOf(Operation *op, const Expression &x) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  std::string target = cxx::computeType(to);
  Expression typed = x;
  typed.text = cxx::argument(x, from);
  // A store rounds, so no rounding is needed before it.
  bool isStoredAlone = llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<device::StoreOp>(user);
  });
  if (isa<arith::TruncFOp>(op) && to.getIntOrFloatBitWidth() == 16 &&
      !isStoredAlone)
    return call("round_to<" + cxx::memoryType(to) + ">", {typed.text});
  if (cxx::computeType(from) == target)
    return x;
  if (from.isInteger(1))
    return fromBool(op, x);
  if (isa<arith::TruncIOp>(op) && to.isInteger(1))
    return infix(infix(typed, "&", {"1"}, Binding::Bitwise), "!=", {"0"},
                 Binding::Comparison);
  if (isa<arith::ExtUIOp, arith::UIToFPOp>(op))
    return converted(target, converted(cxx::unsignedType(from), typed));
  if (isa<arith::FPToUIOp>(op))
    return converted(target, converted(cxx::unsignedType(to), typed));
  return converted(target, typed);
}

static Expression selectOf(arith::SelectOp op, ArrayRef<Expression> x) {
  Type type = op.getType();
  bool isVarying = x[1].isVarying || x[2].isVarying;
  if (x[0].isVarying || !isVarying) {
    Expression result = call("select", {x[0].text, cxx::argument(x[1], type),
                                        cxx::argument(x[2], type)});
    if (!x[0].placed.empty() && !x[1].isVarying &&
        matchPattern(op.getFalseValue(), m_PosZeroFloat()))
      result.placed = x[0].placed + ", " + cxx::argument(x[1], type);
    return result;
  }
  return {x[0].within(Binding::Bitwise) + " ? " +
              cxx::argument(x[1], type, true) + " : " +
              cxx::argument(x[2], type, true),
          Binding::Choice};
}

/// Returns the other operand if one is NaN.
static Expression maxOrMinNumber(Operation *op, StringRef symbol,
                                 ArrayRef<Expression> x) {
  Type type = op->getResult(0).getType();
  Expression condition =
      infix(infix(x[0], symbol, x[1], Binding::Comparison), "|",
            call("is_nan", {x[1].text}), Binding::Bitwise);
  bool isVarying = x[0].isVarying || x[1].isVarying;
  return call("select", {condition.text, cxx::argument(x[0], type, isVarying),
                         cxx::argument(x[1], type, isVarying)});
}

/// Rounds halves away from zero, by adding the largest number below 1/2: adding
/// 1/2 itself would turn that number into 1.
static Expression roundOf(math::RoundOp op, const Expression &x) {
  Type type = op.getType();
  std::string half = type.isF64() ? "0.49999999999999994" : "0.49999997f";
  if (x.isVarying)
    half = cxx::lanesOf(type) + "(" + half + ")";
  return call(
      "trunc",
      {infix(x, "+", call("copysign", {half, x.text}), Binding::Sum).text});
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static FailureOr<Expression> formOf(Operation *op, ArrayRef<Expression> x) {
  return llvm::TypeSwitch<Operation *, FailureOr<Expression>>(op)
      .Case([&](arith::ConstantOp typed) -> FailureOr<Expression> {
        if (!isa<FloatAttr, IntegerAttr>(typed.getValue()))
          return failure();
        return constant(typed);
      })
      .Case([&](arith::NegFOp) { return prefix("-", x[0]); })
      .Case([&](arith::CmpFOp typed) {
        return compareFloats(typed.getPredicate(), x[0], x[1]);
      })
      .Case([&](arith::CmpIOp typed) { return compareIntegers(typed, x); })
      .Case([&](arith::SelectOp typed) { return selectOf(typed, x); })
      .Case([&](arith::MaxNumFOp) { return maxOrMinNumber(op, ">", x); })
      .Case([&](arith::MinNumFOp) { return maxOrMinNumber(op, "<", x); })
      .Case([&](math::RoundOp typed) { return roundOf(typed, x[0]); })
      .Case([&](math::IsFiniteOp) {
        return infix(call("abs", {x[0].text}), "<", {"INFINITY"},
                     Binding::Comparison);
      })
      .Case([&](math::FPowIOp typed) {
        Expression power = converted(cxx::computeType(typed.getType()), x[1]);
        power.isVarying = x[1].isVarying;
        bool isVarying = x[0].isVarying || x[1].isVarying;
        return call("pow", {cxx::argument(x[0], typed.getType(), isVarying),
                            cxx::argument(power, typed.getType(), isVarying)});
      })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
            arith::FPToSIOp, arith::FPToUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return castOf(op, x[0]); })
      .Default([](Operation *) { return failure(); });
}

/// Whether an op may multiply by the reciprocal of its divisor.
static bool allowsReciprocal(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  return quotient &&
         bitEnumContainsAny(quotient.getFastmath(), arith::FastMathFlags::arcp);
}

/// Whether an op is one of the runtime's functions that are named as fast.
static bool allowsApproximation(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return isa<math::ExpOp, math::TanhOp>(op) && flags &&
         bitEnumContainsAny(flags.getFastMathFlagsAttr().getValue(),
                            arith::FastMathFlags::afn);
}

/// Returns "minus_at(x, i, label, 1.0f)" for "x - select(is_at(i, label), 1.0f,
/// 0.0f)", which asks only the one vector that has the label for its lane.
static std::optional<Expression> subtractAtPlace(ArrayRef<Expression> x) {
  if (!x[0].isVarying || x[1].placed.empty())
    return std::nullopt;
  return call("minus_at", {x[0].text, x[1].placed});
}

/// i8 and i16 lie in memory, but nothing is computed in them.
static bool isComputedIn(Type type) {
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         type.isIndex() || type.isInteger(64) || type.isInteger(32) ||
         type.isInteger(1);
}

FailureOr<Expression> cxx::expressionOf(Operation *op, ArrayRef<Expression> x) {
  bool isVarying = llvm::any_of(
      x, [](const Expression &operand) { return operand.isVarying; });
  bool isTyped = op->getNumResults() == 1 &&
                 llvm::all_of(op->getResultTypes(), isComputedIn) &&
                 llvm::all_of(op->getOperandTypes(), isComputedIn);
  FailureOr<Expression> form = failure();
  StringRef name = op->getName().getStringRef();
  if (isTyped && allowsReciprocal(op)) {
    form = call("fast_divide", {argument(x[0], op->getOperand(0).getType()),
                                argument(x[1], op->getOperand(1).getType())});
  } else if (isTyped && allowsApproximation(op)) {
    form = call(("fast_" + cxx::functionOf(op)).str(), {x[0].text});
  } else if (auto entry = infixOps().find(name);
             isTyped && entry != infixOps().end()) {
    const Infix &found = entry->second;
    if (name == "arith.xori" && x[1].text == "true")
      form = prefix("!", x[0]);
    else if (auto at = subtractAtPlace(x); at && isa<arith::SubFOp>(op))
      form = *at;
    else
      form = found.isUnsigned ? unsignedInfix(op, found, x)
                              : signedInfix(op, found, x);
  } else if (auto function = functions().find(name);
             isTyped && function != functions().end()) {
    SmallVector<std::string> arguments;
    for (auto [operand, value] : llvm::zip(x, op->getOperands()))
      arguments.push_back(argument(operand, value.getType(), isVarying));
    form = call(function->second, arguments);
  } else if (isTyped) {
    form = formOf(op, x);
  }
  if (failed(form))
    return op->emitOpError("cannot be written as C++");
  form->isVarying = isVarying;
  return form;
}
