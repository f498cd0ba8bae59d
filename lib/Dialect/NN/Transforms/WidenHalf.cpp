//===- WidenHalf.cpp - Models whose weights are in half precision ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_WIDENHALF
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;

static bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

static Type widened(Type type) {
  auto f32 = Float32Type::get(type.getContext());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(f32);
  return f32;
}

static APFloat widened(APFloat value) {
  bool isLossy;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &isLossy);
  return value;
}

static Attribute widened(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute);
      number && isHalf(number.getType()))
    return FloatAttr::get(widened(number.getType()),
                          widened(number.getValue()));
  if (auto dense = dyn_cast<DenseFPElementsAttr>(attribute);
      dense && isHalf(dense.getType()))
    return dense.mapValues(
        Float32Type::get(attribute.getContext()),
        [](const APFloat &value) { return widened(value).bitcastToAPInt(); });
  return attribute;
}

namespace {

class WidenHalf : public nn::impl::WidenHalfBase<WidenHalf> {
  void runOnOperation() override {
    int64_t count = 0;
    for (auto variable : getOperation().getOps<train::VariableOp>())
      if (isHalf(variable.getType())) {
        widenVariable(variable);
        ++count;
      }
    if (count == 0)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      widenFunction(function);
    getOperation().emitRemark() << count
                                << " tensors of the file are in half "
                                   "precision; they are trained as f32";
  }

  static void widenVariable(train::VariableOp variable) {
    auto type = cast<RankedTensorType>(variable.getType());
    if (variable.getFile())
      variable.setStoredElementType(type.getElementType());
    if (variable.getValue())
      variable.setValueAttr(
          cast<ElementsAttr>(widened(variable.getValueAttr())));
    variable.setType(widened(type));
  }

  /// Inputs keep the type that the file gives them; nothing else does.
  static void widenFunction(func::FuncOp function) {
    Block &body = function.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    llvm::SmallPtrSet<Operation *, 4> inputCasts;
    for (BlockArgument argument : body.getArguments())
      if (isHalf(argument.getType())) {
        auto wide = arith::ExtFOp::create(
            builder, argument.getLoc(), widened(argument.getType()), argument);
        argument.replaceAllUsesExcept(wide, wide);
        inputCasts.insert(wide);
      }
    for (Operation &op : llvm::make_early_inc_range(body)) {
      if (inputCasts.contains(&op))
        continue;
      for (NamedAttribute attribute : op.getAttrs())
        if (Attribute value = widened(attribute.getValue());
            value != attribute.getValue())
          op.setAttr(attribute.getName(), value);
      for (Value result : op.getResults())
        if (isHalf(result.getType()))
          result.setType(widened(result.getType()));
      bool isCast = isa<arith::ExtFOp, arith::TruncFOp>(op);
      if (isCast && op.getOperand(0).getType() == op.getResult(0).getType()) {
        op.replaceAllUsesWith(ValueRange(op.getOperand(0)));
        op.erase();
      }
    }
    auto type =
        FunctionType::get(function.getContext(), body.getArgumentTypes(),
                          body.getTerminator()->getOperandTypes());
    function.setType(type);
  }
};

} // namespace
