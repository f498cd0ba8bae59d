//===- WidenHalf.cpp - Models that are in half precision already ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tensors are in half precision is the compiler's choice (--precision,
// train-assign-precision), not the file's. A file may have made one: its
// weights are f16 or bf16, or its weights are f32 and it casts what products
// read, as a model that was exported under autocast does. If they were trained
// as they are, the first would have no f32 masters, so that small updates would
// be lost, and the gradients of the second would be in f16 without a loss
// scale.
//
// So all floating-point values that are narrower than f32 become f32, and casts
// that then go from f32 to f32 are dropped. Only the model's inputs keep their
// type, since the user's data has it: they are cast where they come in. Weights
// keep their bytes in the file, whose type is noted (`storedElementType`). A
// remark says what was changed. What follows may assume that half precision is
// where train-insert-casts has put it, and at the inputs.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_WIDENHALF
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

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

/// The tensors that a file has in half precision.
struct HalfOfFile {
  int64_t variables = 0;
  SmallVector<Operation *> casts; ///< To half precision from other types.
  bool hasOther = false;          ///< Constants, and values made of inputs.
};

class WidenHalf : public train::impl::WidenHalfBase<WidenHalf> {
  void runOnOperation() override {
    HalfOfFile found = find();
    if (found.variables == 0 && found.casts.empty() && !found.hasOther)
      return;
    report(found);
    for (auto variable : getOperation().getOps<train::VariableOp>())
      if (isHalf(variable.getType()))
        widenVariable(variable);
    for (auto function : getOperation().getOps<func::FuncOp>())
      widenFunction(function);
  }

  HalfOfFile find() {
    HalfOfFile found;
    getOperation().walk([&](Operation *op) {
      if (auto variable = dyn_cast<train::VariableOp>(op))
        found.variables += isHalf(variable.getType());
      if (!llvm::any_of(op->getResultTypes(), isHalf))
        return;
      if (op->getNumOperands() == 0 ||
          llvm::any_of(op->getOperandTypes(), isHalf))
        found.hasOther = true;
      else
        found.casts.push_back(op);
    });
    return found;
  }

  void report(const HalfOfFile &found) {
    if (found.variables)
      getOperation().emitRemark()
          << found.variables
          << " tensors of the file are in half precision; they are trained as "
             "f32";
    else if (!found.casts.empty())
      getOperation().emitRemark()
          << "the file casts " << found.casts.size()
          << " values to half precision, the first at '"
          << nameOf(found.casts.front()->getLoc())
          << "'; they stay f32, and --precision=fp16 or bf16 chooses what is "
             "in half precision";
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

  /// Widens the ops of a block but `kept`, and those of the loops in it.
  static void widenOps(Block &block,
                       const llvm::SmallPtrSetImpl<Operation *> &kept) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (kept.contains(&op))
        continue;
      for (NamedAttribute attribute : op.getAttrs())
        if (Attribute value = widened(attribute.getValue());
            value != attribute.getValue())
          op.setAttr(attribute.getName(), value);
      for (Value result : op.getResults())
        widenValue(result);
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          for (BlockArgument argument : inner.getArguments())
            widenValue(argument);
          widenOps(inner, kept);
        }
      bool isCast = isa<arith::ExtFOp, arith::TruncFOp>(op);
      if (isCast && op.getOperand(0).getType() == op.getResult(0).getType()) {
        op.replaceAllUsesWith(ValueRange(op.getOperand(0)));
        op.erase();
      }
    }
  }

  static void widenValue(Value value) {
    if (isHalf(value.getType()))
      value.setType(widened(value.getType()));
  }

  /// Widens everything but the inputs, which keep the type that the file gives
  /// them.
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
    widenOps(body, inputCasts);
    auto type =
        FunctionType::get(function.getContext(), body.getArgumentTypes(),
                          body.getTerminator()->getOperandTypes());
    function.setType(type);
  }
};

} // namespace
