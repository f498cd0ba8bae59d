//===- ElementFunction.cpp - What a kernel does to an element -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementFunction.h"

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace gpuopt;

namespace {

class Evaluator {
public:
  explicit Evaluator(const ElementsOfArguments &arguments)
      : values(arguments) {}

  std::optional<double> of(Value value) {
    if (auto known = values.find(value); known != values.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    std::optional<double> result = op ? resultOf(op) : std::nullopt;
    if (result)
      values[value] = *result;
    return result;
  }

private:
  static std::optional<double> constantOf(arith::ConstantOp op) {
    auto elements = dyn_cast<DenseFPElementsAttr>(op.getValue());
    if (!elements || !elements.isSplat())
      return std::nullopt;
    APFloat number = elements.getSplatValue<APFloat>();
    bool isLossy;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &isLossy);
    return number.convertToDouble();
  }

  std::optional<double> resultOf(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return constantOf(constant);
    SmallVector<double> operands;
    for (Value operand : op->getOperands()) {
      std::optional<double> value = of(operand);
      if (!value)
        return std::nullopt;
      operands.push_back(*value);
    }
    using Result = std::optional<double>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case<arith::ExtFOp, arith::TruncFOp, nn::BroadcastOp>(
            [&](auto) { return operands[0]; })
        .Case([&](arith::AddFOp) { return operands[0] + operands[1]; })
        .Case([&](arith::SubFOp) { return operands[0] - operands[1]; })
        .Case([&](arith::MulFOp) { return operands[0] * operands[1]; })
        .Case([&](arith::DivFOp) { return operands[0] / operands[1]; })
        .Case([&](arith::NegFOp) { return -operands[0]; })
        .Case([&](math::TanhOp) { return std::tanh(operands[0]); })
        .Case([&](math::ExpOp) { return std::exp(operands[0]); })
        .Default([](Operation *) { return Result(); });
  }

  ElementsOfArguments values;
};

} // namespace

std::optional<double> gpuopt::evaluate(Value value,
                                       const ElementsOfArguments &arguments) {
  return Evaluator(arguments).of(value);
}

static constexpr double kSlope = 0.7978845608028654, kCubic = 0.044715;

double gpuopt::approximateGelu(double x) {
  return 0.5 * x * (1 + std::tanh(kSlope * (x + kCubic * x * x * x)));
}

double gpuopt::approximateGeluDerivative(double x) {
  double t = std::tanh(kSlope * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * kSlope * (1 + 3 * kCubic * x * x);
}
