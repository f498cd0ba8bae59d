//===- ElementwiseVjp.cpp - Gradients of arith and math ops ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One rule per op: a function from the builder, the gradient of the result and
// the op to the gradients of its operands.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using gpuopt::nn::TensorBuilder;

namespace {

/// The things that the rule of an op uses, under short names.
struct Rule {
  TensorBuilder &b;
  Value dy;
  Operation *op;
  ArrayRef<bool> wanted;
  MutableArrayRef<Value> result;

  Value x(unsigned i = 0) const { return op->getOperand(i); }
  Value y() const { return op->getResult(0); }
  Value splat(double value) const { return b.splat(value, b.type(dy)); }
  Value zero() const { return splat(0); }
  /// Sets the gradient of operand i; evaluates the formula only if that
  /// gradient is wanted.
  template <typename Formula>
  void set(unsigned i, Formula formula) const {
    if (wanted[i])
      result[i] = formula();
  }
  /// Returns dy where the comparison of a and c holds, and 0 elsewhere.
  Value where(arith::CmpFPredicate predicate, Value a, Value c) const {
    return b.select(b.compare(predicate, a, c), dy, zero());
  }
};

using RuleFunction = void (*)(const Rule &);

template <typename OpT, RuleFunction rule>
struct Model
    : gpuopt::DifferentiableOpInterface::ExternalModel<Model<OpT, rule>, OpT> {
  void buildVjp(Operation *op, OpBuilder &builder, ArrayRef<Value> gradients,
                ArrayRef<bool> wanted, MutableArrayRef<Value> result) const {
    TensorBuilder b(op->getLoc(), builder);
    rule(Rule{b, gradients[0], op, wanted, result});
  }
};

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

void addRule(const Rule &r) {
  r.set(0, [&] { return r.dy; });
  r.set(1, [&] { return r.dy; });
}
void subRule(const Rule &r) {
  r.set(0, [&] { return r.dy; });
  r.set(1, [&] { return r.b.neg(r.dy); });
}
void mulRule(const Rule &r) {
  r.set(0, [&] { return r.b.mul(r.dy, r.x(1)); });
  r.set(1, [&] { return r.b.mul(r.dy, r.x(0)); });
}
void divRule(const Rule &r) {
  r.set(0, [&] { return r.b.div(r.dy, r.x(1)); });
  r.set(1, [&] { return r.b.neg(r.b.div(r.b.mul(r.dy, r.y()), r.x(1))); });
}
/// The remainder is x - y * n, where the result gives the whole number n.
void remainderRule(const Rule &r) {
  r.set(0, [&] { return r.dy; });
  r.set(1, [&] {
    Value quotient = r.b.div(r.b.sub(r.x(0), r.y()), r.x(1));
    Value whole = r.b.create<math::RoundEvenOp>(quotient);
    return r.b.neg(r.b.mul(r.dy, whole));
  });
}
/// Two equal operands get half the gradient each, as in PyTorch. If the other
/// operand is a constant, the gradient passes where this operand won. The
/// result tells that as well, so only the result is kept, which the forward
/// needs anyway. It does not tell an element at its bound from those beyond,
/// so the operand is kept where such elements get the gradient (`atBound`).
template <arith::CmpFPredicate predicate, arith::CmpFPredicate atBound>
void extremumRule(const Rule &r) {
  if (r.op->hasAttr(gpuopt::nn::kPassesAtBound)) {
    r.set(0, [&] { return r.where(atBound, r.x(0), r.x(1)); });
    r.set(1, [&] { return r.where(atBound, r.x(1), r.x(0)); });
    return;
  }
  if (matchPattern(r.x(1), m_Constant())) {
    r.set(0, [&] { return r.where(predicate, r.y(), r.x(1)); });
    return;
  }
  Value half = r.b.mul(r.dy, 0.5);
  Value equal = r.b.compare(arith::CmpFPredicate::OEQ, r.x(0), r.x(1));
  r.set(0, [&] {
    return r.b.select(equal, half, r.where(predicate, r.x(0), r.x(1)));
  });
  r.set(1, [&] {
    return r.b.select(equal, half, r.where(predicate, r.x(1), r.x(0)));
  });
}
void powRule(const Rule &r) {
  Value x = r.x(0), e = r.x(1);
  r.set(0, [&] {
    // x^(e-1) would be inf * 0 at x = 0, e = 0.
    Value slope = r.b.mul(e, r.b.create<math::PowFOp>(x, r.b.add(e, -1.0)));
    Value isConstant = r.b.compare(arith::CmpFPredicate::OEQ, e, r.zero());
    return r.b.mul(r.dy, r.b.select(isConstant, r.zero(), slope));
  });
  r.set(1, [&] {
    // The limit of y log x at x = 0 is 0.
    Value isZero = r.b.compare(arith::CmpFPredicate::OEQ, x, r.zero());
    return r.b.mul(r.dy,
                   r.b.select(isZero, r.zero(), r.b.mul(r.y(), r.b.log(x))));
  });
}
void selectRule(const Rule &r) {
  Value condition = r.x(0);
  r.set(1, [&] { return r.b.select(condition, r.dy, r.zero()); });
  r.set(2, [&] { return r.b.select(condition, r.zero(), r.dy); });
}
void atan2Rule(const Rule &r) {
  Value y = r.x(0), x = r.x(1);
  Value scaled = r.b.div(r.dy, r.b.add(r.b.mul(x, x), r.b.mul(y, y)));
  r.set(0, [&] { return r.b.mul(scaled, x); });
  r.set(1, [&] { return r.b.neg(r.b.mul(scaled, y)); });
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// A step function has the gradient 0 wherever it has one.
void stepRule(const Rule &) {}
/// Rounding is such a step, or passes the gradient on.
void roundRule(const Rule &r) {
  if (r.op->hasAttr(gpuopt::nn::kStraightThrough))
    r.result[0] = r.dy;
}
void negRule(const Rule &r) { r.result[0] = r.b.neg(r.dy); }
void castRule(const Rule &r) {
  RankedTensorType from = r.b.type(r.x()), to = r.b.type(r.dy);
  bool widen = from.getElementTypeBitWidth() > to.getElementTypeBitWidth();
  r.result[0] = widen ? r.b.createOrFold<arith::ExtFOp>(from, r.dy)
                      : r.b.createOrFold<arith::TruncFOp>(from, r.dy);
}
void expRule(const Rule &r) { r.result[0] = r.b.mul(r.dy, r.y()); }
void expm1Rule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.add(r.y(), 1.0));
}
void logRule(const Rule &r) { r.result[0] = r.b.div(r.dy, r.x()); }
void log1pRule(const Rule &r) {
  r.result[0] = r.b.div(r.dy, r.b.add(r.x(), 1.0));
}
void sqrtRule(const Rule &r) {
  r.result[0] = r.b.div(r.b.mul(r.dy, 0.5), r.y());
}
void rsqrtRule(const Rule &r) {
  Value cube = r.b.mul(r.y(), r.b.mul(r.y(), r.y()));
  r.result[0] = r.b.mul(r.dy, r.b.mul(cube, -0.5));
}
void tanhRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.sub(r.splat(1), r.b.mul(r.y(), r.y())));
}
void erfRule(const Rule &r) {
  Value gauss = r.b.exp(r.b.neg(r.b.mul(r.x(), r.x())));
  r.result[0] = r.b.mul(r.dy, r.b.mul(gauss, 2 * llvm::numbers::inv_sqrtpi));
}
void sinRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.create<math::CosOp>(r.x()));
}
void cosRule(const Rule &r) {
  r.result[0] = r.b.neg(r.b.mul(r.dy, r.b.create<math::SinOp>(r.x())));
}
void tanRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.add(r.b.mul(r.y(), r.y()), 1.0));
}
void sinhRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.create<math::CoshOp>(r.x()));
}
void coshRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.create<math::SinhOp>(r.x()));
}
/// Returns 1 - x^2 for asin and acos, whose slopes are 1 / sqrt(1 - x^2) and
/// its negative.
Value oneMinusSquare(const Rule &r) {
  return r.b.sub(r.splat(1), r.b.mul(r.x(), r.x()));
}
void asinRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.rsqrt(oneMinusSquare(r)));
}
void acosRule(const Rule &r) {
  r.result[0] = r.b.neg(r.b.mul(r.dy, r.b.rsqrt(oneMinusSquare(r))));
}
void atanRule(const Rule &r) {
  r.result[0] = r.b.div(r.dy, r.b.add(r.b.mul(r.x(), r.x()), 1.0));
}
void asinhRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.rsqrt(r.b.add(r.b.mul(r.x(), r.x()), 1.0)));
}
void acoshRule(const Rule &r) {
  r.result[0] = r.b.mul(r.dy, r.b.rsqrt(r.b.add(r.b.mul(r.x(), r.x()), -1.0)));
}
void atanhRule(const Rule &r) {
  r.result[0] = r.b.div(r.dy, oneMinusSquare(r));
}
void absRule(const Rule &r) {
  Value negative = r.where(arith::CmpFPredicate::OLT, r.x(), r.zero());
  r.result[0] =
      r.b.sub(r.where(arith::CmpFPredicate::OGT, r.x(), r.zero()), negative);
}

} // namespace

void gpuopt::nn::registerElementwiseVjps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    arith::AddFOp::attachInterface<Model<arith::AddFOp, addRule>>(*context);
    arith::SubFOp::attachInterface<Model<arith::SubFOp, subRule>>(*context);
    arith::MulFOp::attachInterface<Model<arith::MulFOp, mulRule>>(*context);
    arith::DivFOp::attachInterface<Model<arith::DivFOp, divRule>>(*context);
    arith::RemFOp::attachInterface<Model<arith::RemFOp, remainderRule>>(
        *context);
    arith::NegFOp::attachInterface<Model<arith::NegFOp, negRule>>(*context);
    arith::ExtFOp::attachInterface<Model<arith::ExtFOp, castRule>>(*context);
    arith::TruncFOp::attachInterface<Model<arith::TruncFOp, castRule>>(
        *context);
    arith::SelectOp::attachInterface<Model<arith::SelectOp, selectRule>>(
        *context);
    using Predicate = arith::CmpFPredicate;
    arith::MaximumFOp::attachInterface<
        Model<arith::MaximumFOp, extremumRule<Predicate::OGT, Predicate::OGE>>>(
        *context);
    arith::MinimumFOp::attachInterface<
        Model<arith::MinimumFOp, extremumRule<Predicate::OLT, Predicate::OLE>>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    math::ExpOp::attachInterface<Model<math::ExpOp, expRule>>(*context);
    math::ExpM1Op::attachInterface<Model<math::ExpM1Op, expm1Rule>>(*context);
    math::LogOp::attachInterface<Model<math::LogOp, logRule>>(*context);
    math::Log1pOp::attachInterface<Model<math::Log1pOp, log1pRule>>(*context);
    math::SqrtOp::attachInterface<Model<math::SqrtOp, sqrtRule>>(*context);
    math::RsqrtOp::attachInterface<Model<math::RsqrtOp, rsqrtRule>>(*context);
    math::TanhOp::attachInterface<Model<math::TanhOp, tanhRule>>(*context);
    math::ErfOp::attachInterface<Model<math::ErfOp, erfRule>>(*context);
    math::SinOp::attachInterface<Model<math::SinOp, sinRule>>(*context);
    math::CosOp::attachInterface<Model<math::CosOp, cosRule>>(*context);
    math::TanOp::attachInterface<Model<math::TanOp, tanRule>>(*context);
    math::SinhOp::attachInterface<Model<math::SinhOp, sinhRule>>(*context);
    math::CoshOp::attachInterface<Model<math::CoshOp, coshRule>>(*context);
    math::AsinOp::attachInterface<Model<math::AsinOp, asinRule>>(*context);
    math::AcosOp::attachInterface<Model<math::AcosOp, acosRule>>(*context);
    math::AtanOp::attachInterface<Model<math::AtanOp, atanRule>>(*context);
    math::AsinhOp::attachInterface<Model<math::AsinhOp, asinhRule>>(*context);
    math::AcoshOp::attachInterface<Model<math::AcoshOp, acoshRule>>(*context);
    math::AtanhOp::attachInterface<Model<math::AtanhOp, atanhRule>>(*context);
    math::CeilOp::attachInterface<Model<math::CeilOp, stepRule>>(*context);
    math::FloorOp::attachInterface<Model<math::FloorOp, stepRule>>(*context);
    math::RoundEvenOp::attachInterface<Model<math::RoundEvenOp, roundRule>>(
        *context);
    math::AbsFOp::attachInterface<Model<math::AbsFOp, absRule>>(*context);
    math::PowFOp::attachInterface<Model<math::PowFOp, powRule>>(*context);
    math::Atan2Op::attachInterface<Model<math::Atan2Op, atan2Rule>>(*context);
  });
}
