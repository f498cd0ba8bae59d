//===- Expressions.cpp - Scalar ops as C++ expressions ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "Names.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;
using cxx::Operand;

/// Binary operators by op name, empty for other ops.
static StringRef operatorOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"arith.addf", "arith.addi"}, "+").Cases({"arith.subf", "arith.subi"}, "-")
      .Cases({"arith.mulf", "arith.muli"}, "*").Cases({"arith.divf", "arith.divsi"}, "/")
      .Case("arith.remsi", "%").Case("arith.andi", "&").Case("arith.ori", "|").Case("arith.xori", "^")
      .Case("arith.shli", "<<").Case("arith.shrsi", ">>").Default("");
}

/// Functions of the runtime by op name, empty for other ops.
static StringRef functionOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"arith.maximumf", "arith.maxsi"}, "max").Cases({"arith.minimumf", "arith.minsi"}, "min")
      .Case("arith.remf", "fmod").Case("math.powf", "pow").Case("math.copysign", "copysign")
      .Cases({"math.absf", "math.absi"}, "abs").Case("math.roundeven", "round_even")
      .Case("math.isnan", "is_nan").Case("math.isinf", "is_inf")
      .Cases({"math.exp", "math.expm1", "math.log", "math.log1p", "math.tanh", "math.erf", "math.sqrt", "math.rsqrt"},
             name.substr(5))
      .Cases({"math.sin", "math.cos", "math.tan", "math.sinh", "math.cosh", "math.asin", "math.acos", "math.atan"},
             name.substr(5))
      .Cases({"math.asinh", "math.acosh", "math.atanh", "math.floor", "math.ceil", "math.trunc"}, name.substr(5))
      .Default("");
}

static std::string lanesOf(Type type) { return "Lanes<" + cxx::computeType(type) + ">"; }

/// The operand as lanes, where others of the op are.
static std::string widened(const Operand &operand, Type type, bool isVarying) {
  return isVarying && !operand.isVarying ? lanesOf(type) + "(" + operand.text + ")" : operand.text;
}

static Operand compareFloats(arith::CmpFPredicate predicate, const Operand &a, const Operand &b) {
  std::string x = a.asAtom(), y = b.asAtom();
  auto either = [&](StringRef first, StringRef second) {
    return "(" + x + first.str() + y + ") | (" + x + second.str() + y + ")";
  };
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse: return {"false"};
  case P::AlwaysTrue: return {"true"};
  case P::OEQ: return {x + " == " + y, false};
  case P::OGT: return {x + " > " + y, false};
  case P::OGE: return {x + " >= " + y, false};
  case P::OLT: return {x + " < " + y, false};
  case P::OLE: return {x + " <= " + y, false};
  case P::ONE: return {either(" < ", " > "), false};
  case P::ORD: return {"!(is_nan(" + a.text + ") | is_nan(" + b.text + "))", false};
  case P::UEQ: return {"!(" + either(" < ", " > ") + ")", false};
  case P::UGT: return {"!(" + x + " <= " + y + ")", false};
  case P::UGE: return {"!(" + x + " < " + y + ")", false};
  case P::ULT: return {"!(" + x + " >= " + y + ")", false};
  case P::ULE: return {"!(" + x + " > " + y + ")", false};
  case P::UNE: return {"!(" + x + " == " + y + ")", false};
  case P::UNO: return {"is_nan(" + a.text + ") | is_nan(" + b.text + ")", false};
  }
  return {"false"};
}

static std::optional<StringRef> symbolOf(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq: return " == ";
  case P::ne: return " != ";
  case P::slt: return " < ";
  case P::sle: return " <= ";
  case P::sgt: return " > ";
  case P::sge: return " >= ";
  default: return std::nullopt; // unsigned numbers do not occur
  }
}

static std::optional<Operand> constantOf(arith::ConstantOp op) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue())) {
    std::string text = cxx::floatLiteral(number.getValue(), number.getType());
    return Operand{text, text[0] != '-'};
  }
  auto number = dyn_cast<IntegerAttr>(op.getValue());
  if (!number)
    return std::nullopt;
  if (number.getType().isInteger(1))
    return Operand{number.getValue().isZero() ? "false" : "true"};
  int64_t value = number.getValue().getSExtValue();
  if (value == INT64_MIN)
    return Operand{"INT64_MIN"};
  bool isLong = number.getType().isInteger(64);
  std::string text = isLong ? "int64_t(" + std::to_string(value) + ")" : std::to_string(value);
  return Operand{text, isLong || value >= 0};
}

static Operand castOf(Operation *op, const Operand &x) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  std::string target = cxx::computeType(to);
  if (cxx::computeType(from) == target)
    return x;
  if (from.isInteger(1)) {
    std::string one = isa<FloatType>(to) ? (to.isF64() ? "1.0" : "1.0f") : target + "(1)";
    std::string zero = isa<FloatType>(to) ? (to.isF64() ? "0.0" : "0.0f") : target + "(0)";
    return {"select(" + x.text + ", " + one + ", " + zero + ")"};
  }
  return {"convert<" + target + ">(" + x.text + ")"};
}

static Operand selectOf(arith::SelectOp op, ArrayRef<Operand> x, bool isVarying) {
  if (x[0].isVarying || !isVarying)
    return {"select(" + x[0].text + ", " + x[1].text + ", " + x[2].text + ")"};
  std::string a = widened(x[1], op.getType(), true), b = widened(x[2], op.getType(), true);
  return {x[0].asAtom() + " ? " + a + " : " + b, false};
}

std::optional<Operand> cxx::expressionOf(Operation *op, ArrayRef<Operand> x) {
  bool isVarying = llvm::any_of(x, [](const Operand &operand) { return operand.isVarying; });
  auto result = [&](Operand operand) {
    operand.isVarying = isVarying;
    return operand;
  };
  StringRef name = op->getName().getStringRef();
  if (StringRef symbol = operatorOf(name); !symbol.empty())
    return result({x[0].asAtom() + " " + symbol.str() + " " + x[1].asAtom(), false});
  if (isa<arith::MinSIOp>(op) && op->getResult(0).getType().isIndex()) // the end of a block's share
    return result({x[0].asAtom() + " < " + x[1].asAtom() + " ? " + x[0].asAtom() + " : " + x[1].asAtom(), false});
  if (StringRef function = functionOf(name); !function.empty()) {
    std::string arguments;
    for (auto [operand, value] : llvm::zip(x, op->getOperands()))
      arguments += (arguments.empty() ? "" : ", ") + widened(operand, value.getType(), isVarying);
    return result({function.str() + "(" + arguments + ")"});
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return constantOf(constant);
  if (auto negate = dyn_cast<arith::NegFOp>(op))
    return result({"-" + x[0].asAtom(), false});
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return result(compareFloats(compare.getPredicate(), x[0], x[1]));
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    std::optional<StringRef> symbol = symbolOf(compare.getPredicate());
    if (!symbol)
      return std::nullopt;
    return result({x[0].asAtom() + symbol->str() + x[1].asAtom(), false});
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return result(selectOf(select, x, isVarying));
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return result(castOf(op, x[0]));
  return std::nullopt;
}
