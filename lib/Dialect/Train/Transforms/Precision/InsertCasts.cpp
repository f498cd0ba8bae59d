//===- InsertCasts.cpp - Gives tensors the types that were chosen ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train-assign-precision has labelled ops: these results lie in half precision,
// this product reads it. Here the labels become types, and casts where a value
// is wanted in another type than the one it has. A cast costs the bytes that it
// moves, so each is made in the cheapest place there is, and once:
//
// - kernels widen what they read and round what they write, in registers;
// - where products want a kernel's result in both types, the kernel writes
// both;
// - constants are cast now;
// - a parameter, whose f32 master only the optimizer changes, has a second
//   variable, `w.half`: the optimizer's kernel writes it along with the master,
//   and the step `prepare` makes it when weights have been loaded. A weight
//   that no optimizer changes, because it is frozen or because there is only a
//   forward, needs no master where nothing else reads it: the weight itself is
//   in half precision, and is rounded as it is loaded;
// - the rest, inputs and running statistics, is cast by a kernel of its own,
//   from which all readers of the step read.
//
// The first three and the last concern one step and are insertCasts's
// (CastStep.cpp), which the scheduler's trials use as well; what outlives the
// step is added here: variables, the optimizer's second result, `prepare`.
//
//===----------------------------------------------------------------------===//

#include "Precision/Precision.h"
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
    SmallVector<StringAttr> kept;
    for (StringAttr parameter : copied)
      if (!replaceMaster(parameter, halfType)) {
        addCopy(parameter, halfType);
        kept.push_back(parameter);
      }
    if (!kept.empty())
      addPreparation(kept);
    getOperation()->removeAttr(kHalfTypeAttribute);
  }

  /// Gives a weight the type of its copy where nothing needs it in full
  /// precision: no optimizer changes it, and no step reads it. Returns whether
  /// that was possible.
  bool replaceMaster(StringAttr parameter, FloatType halfType) {
    auto owner = getOperation().lookupSymbol<VariableOp>(parameter);
    auto value = owner.getValue();
    if (!(onlyForward() ? canBeRounded(owner) : needsNoMaster(owner)))
      return false;
    std::string copy = halfCopyName(getOperation(), parameter.getValue());
    SmallVector<ReadOp> masters, copies;
    getOperation().walk([&](ReadOp read) {
      if (read.getVariable() == parameter.getValue())
        masters.push_back(read);
      else if (read.getVariable() == copy)
        copies.push_back(read);
    });
    if (llvm::any_of(masters, [](ReadOp read) { return !read.use_empty(); }))
      return false;
    for (ReadOp read : masters)
      read.erase();
    for (ReadOp read : copies)
      read.setVariable(parameter.getValue());
    auto type = cast<RankedTensorType>(owner.getType());
    if (owner.getFile() && !owner.getStoredElementType())
      owner.setStoredElementType(type.getElementType());
    if (value)
      owner.setValueAttr(rounded(cast<DenseElementsAttr>(*value), halfType));
    owner.setType(type.clone(halfType));
    return true;
  }

  bool onlyForward() {
    return llvm::all_of(getOperation().getOps<StepOp>(), [](StepOp step) {
      return step.getKind() == StepKind::Forward;
    });
  }

  static bool canBeRounded(VariableOp weight) {
    auto value = weight.getValue();
    return !value || isa<DenseElementsAttr>(*value);
  }

  static DenseElementsAttr rounded(DenseElementsAttr value, FloatType type) {
    return value.mapValues(type, [&](APFloat number) {
      bool losesInfo = false;
      number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
      return number.bitcastToAPInt();
    });
  }

  /// Adds the variable of the copy, which the parameter's optimizer writes if
  /// it has one.
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
      if (auto update = dyn_cast<UpdateOp>(op);
          update && update.getParameter() == parameter.getValue())
        update.setCopyAttr(copy);
    });
  }

  void addPreparation(ArrayRef<StringAttr> parameters) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    Location loc = getOperation().getLoc();
    auto step = StepOp::create(
        builder, loc, freeSymbol(getOperation(), "prepare"), StepKind::Prepare,
        builder.getArrayAttr({}), ArrayAttr(), ArrayAttr());
    OpBuilder inside = OpBuilder::atBlockEnd(&step.getBody().emplaceBlock());
    for (StringAttr parameter : parameters)
      RefreshOp::create(inside, loc,
                        halfCopyName(getOperation(), parameter.getValue()),
                        parameter.getValue());
  }
};

} // namespace
