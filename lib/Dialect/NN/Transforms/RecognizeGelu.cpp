//===- RecognizeGelu.cpp - Finds GELU in products, tanh and erf -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// From each tanh and erf, the pass walks down to the product that is the GELU,
// and up to the x that it is computed from. The ops that it finds get the
// location that the parts of a Gelu node have. No operation changes, so the
// results keep their bits.
//
// It assumes that small powers are products, as convert-onnx-to-nn leaves them.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_RECOGNIZEGELU
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// The factors or summands of a chain of one operation, as x * x * 0.044715.
struct Chain {
  SmallVector<Value> values;
  SmallVector<double> constants;
};

/// The ops of one GELU that is written as elementwise ops.
class GeluMatcher {
public:
  explicit GeluMatcher(Operation *curve) : curve(curve) {}

  /// Returns the product that is the GELU of a value, or null.
  Operation *match() {
    parts.insert(curve);
    Operation *sum = onlyUser<arith::AddFOp>(curve);
    if (!sum || otherOperand(sum, curve->getResult(0), 1.0) == nullptr)
      return nullptr;
    parts.insert(sum);
    Operation *product = findProduct(sum->getResult(0));
    return product && isArgument(curve->getOperand(0)) ? product : nullptr;
  }

  const llvm::SetVector<Operation *> &getParts() const { return parts; }

private:
  template <typename OpT>
  static Operation *onlyUser(Operation *op) {
    return op->hasOneUse() ? dyn_cast<OpT>(*op->user_begin()).getOperation()
                           : nullptr;
  }

  static std::optional<double> constantOf(Value value) {
    if (auto broadcast = value.getDefiningOp<BroadcastOp>())
      value = broadcast.getInput();
    DenseFPElementsAttr constant;
    if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
      return std::nullopt;
    APFloat number = constant.getSplatValue<APFloat>();
    bool isLossy = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &isLossy);
    return number.convertToDouble();
  }

  /// Adds the ops of the chain to the parts, and returns its factors or
  /// summands, among them x as a whole. Returns an empty chain if there are
  /// more than any form of GELU has.
  template <typename OpT>
  Chain chainOf(Value value) {
    constexpr size_t kMost = 4;
    Chain chain;
    SmallVector<Value> stack{value};
    while (!stack.empty()) {
      if (chain.constants.size() + chain.values.size() + stack.size() > kMost)
        return {};
      Value next = stack.pop_back_val();
      auto op = next.getDefiningOp<OpT>();
      if (std::optional<double> number = constantOf(next))
        chain.constants.push_back(*number);
      else if (op && next != x) {
        parts.insert(op);
        stack.append({op.getLhs(), op.getRhs()});
      } else
        chain.values.push_back(next);
    }
    return chain;
  }

  /// If one operand is `value` and the other is `constant`, returns the other;
  /// otherwise null.
  static Value otherOperand(Operation *op, Value value, double constant) {
    Value other = op->getOperand(op->getOperand(0) == value);
    return constantOf(other) == constant ? other : Value();
  }

  /// Finds x and x * 0.5 * (1 + curve), in any order of the three factors.
  Operation *findProduct(Value sum) {
    Operation *inner = onlyUser<arith::MulFOp>(sum.getDefiningOp());
    if (!inner)
      return nullptr;
    parts.insert(inner);
    Value beside = inner->getOperand(inner->getOperand(0) == sum);
    if (auto half = beside.getDefiningOp<arith::MulFOp>())
      for (Value factor : half->getOperands())
        if (otherOperand(half, factor, 0.5)) {
          parts.insert(half);
          x = factor;
          return inner;
        }
    Operation *product = onlyUser<arith::MulFOp>(inner);
    if (!product)
      return nullptr;
    parts.insert(product);
    bool isHalved = constantOf(beside) == 0.5;
    if (!isHalved && !otherOperand(product, inner->getResult(0), 0.5))
      return nullptr;
    x = isHalved
            ? product->getOperand(product->getOperand(0) == inner->getResult(0))
            : beside;
    return product;
  }

  static bool isNear(double number, double other) {
    return std::abs(number - other) < 1e-5;
  }

  /// Whether `value` is the argument of the curve: sqrt(2 / pi) * (x + 0.044715
  /// x^3) for tanh, x / sqrt(2) for erf.
  bool isArgument(Value value) {
    constexpr double kSqrt2OverPi = 0.7978845608028654,
                     kSqrtHalf = 0.7071067811865476, kCubic = 0.044715;
    if (isa<math::ErfOp>(curve)) {
      if (auto quotient = value.getDefiningOp<arith::DivFOp>()) {
        parts.insert(quotient);
        std::optional<double> divisor = constantOf(quotient.getRhs());
        return quotient.getLhs() == x && divisor &&
               isNear(1 / *divisor, kSqrtHalf);
      }
      Chain factors = chainOf<arith::MulFOp>(value);
      return isProduct(factors, kSqrtHalf, 1);
    }
    Chain outer = chainOf<arith::MulFOp>(value);
    if (outer.constants.size() != 1 ||
        !isNear(outer.constants[0], kSqrt2OverPi))
      return false;
    // The argument is x + 0.044715 x^3, or x times 1 + 0.044715 x^2.
    bool isFactored = llvm::is_contained(outer.values, x);
    if (outer.values.size() != 1u + isFactored)
      return false;
    Value polynomial = outer.values[isFactored && outer.values[0] == x];
    Chain summands = chainOf<arith::AddFOp>(polynomial);
    Value power;
    if (isFactored) {
      if (summands.values.size() != 1 ||
          summands.constants != SmallVector<double>{1.0})
        return false;
      power = summands.values[0];
    } else {
      if (summands.values.size() != 2 || !summands.constants.empty() ||
          !llvm::is_contained(summands.values, x))
        return false;
      power = summands.values[summands.values[0] == x];
    }
    return isProduct(chainOf<arith::MulFOp>(power), kCubic, isFactored ? 2 : 3);
  }

  /// Whether the factors are constant * x^power.
  bool isProduct(const Chain &factors, double constant, size_t power) const {
    return factors.constants.size() == 1 &&
           isNear(factors.constants[0], constant) &&
           factors.values.size() == power &&
           llvm::all_of(factors.values,
                        [&](Value value) { return value == x; });
  }

  Operation *curve;
  Value x;
  llvm::SetVector<Operation *> parts;
};

class RecognizeGelu : public nn::impl::RecognizeGeluBase<RecognizeGelu> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (!isa<math::TanhOp, math::ErfOp>(op) || isOfGelu(op))
        return;
      GeluMatcher matcher(op);
      Operation *product = matcher.match();
      if (!product)
        return;
      relocate(product, matcher.getParts());
      ++recognizedCount;
      remark::passed(
          product->getLoc(),
          remark::RemarkOpts::name("gelu").category("recognize-gelu"))
          << (isa<math::TanhOp>(op) ? "by tanh" : "by erf");
    });
  }

  static bool isOfGelu(Operation *op) {
    StringAttr type = onnxOpOf(op->getLoc());
    return type && type == "Gelu";
  }

  /// Sets the location of the ops that only the GELU reads.
  static void relocate(Operation *product,
                       const llvm::SetVector<Operation *> &parts) {
    MLIRContext *context = product->getContext();
    Location loc =
        NameLoc::get(StringAttr::get(context, nameOf(product->getLoc())),
                     NameLoc::get(StringAttr::get(context, "Gelu")));
    llvm::SmallSetVector<Operation *, 12> inside;
    inside.insert(product);
    for (size_t i = 0; i < inside.size(); ++i)
      for (Value operand : inside[i]->getOperands()) {
        Operation *part = operand.getDefiningOp();
        if (part && parts.contains(part) &&
            llvm::all_of(part->getUsers(), [&](Operation *user) {
              return inside.contains(user);
            }))
          inside.insert(part);
      }
    for (Operation *part : inside)
      part->setLoc(loc);
  }
};

} // namespace
