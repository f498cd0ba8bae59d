//===- InsertCasts.cpp - Gives tensors the types that were chosen ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Precision.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_INSERTCASTS
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

namespace {

class InsertCasts : public gpuopt::train::impl::InsertCastsBase<InsertCasts> {
  void runOnOperation() override {
    auto attribute =
        getOperation()->getAttrOfType<TypeAttr>(kHalfTypeAttribute);
    if (!attribute)
      return;
    auto halfType = cast<FloatType>(attribute.getValue());
    llvm::SetVector<StringAttr> copied;
    for (StepOp step : getOperation().getOps<StepOp>())
      insertCasts(step, halfType, copied);
    for (StringAttr parameter : copied)
      addCopy(parameter, halfType);
    if (!copied.empty())
      addPreparation(copied.getArrayRef());
    getOperation()->removeAttr(kHalfTypeAttribute);
  }

  /// The copy's variable, written by the parameter's optimizer if it has one.
  void addCopy(StringAttr parameter, FloatType halfType) {
    auto owner = getOperation().lookupSymbol<VariableOp>(parameter);
    OpBuilder builder(owner);
    builder.setInsertionPointAfter(owner);
    auto type = cast<RankedTensorType>(owner.getType()).clone(halfType);
    std::string name = halfCopyName(getOperation(), parameter.getValue());
    VariableOp::create(builder, owner.getLoc(), name, VariableKind::HalfCopy,
                       type, FlatSymbolRefAttr::get(parameter));
    auto copy = FlatSymbolRefAttr::get(&getContext(), name);
    getOperation().walk([&](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<AdamWOp, SgdOp>([&](auto update) {
        if (update.getParameter() == parameter.getValue())
          update.setCopyAttr(copy);
      });
    });
  }

  void addPreparation(ArrayRef<StringAttr> parameters) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    Location loc = getOperation().getLoc();
    auto step = StepOp::create(
        builder, loc, freeSymbol(getOperation(), "prepare"), StepKind::Prepare,
        builder.getArrayAttr({}), StringAttr());
    OpBuilder inside = OpBuilder::atBlockEnd(&step.getBody().emplaceBlock());
    for (StringAttr parameter : parameters)
      RefreshOp::create(inside, loc,
                        halfCopyName(getOperation(), parameter.getValue()),
                        parameter.getValue());
  }
};

} // namespace
