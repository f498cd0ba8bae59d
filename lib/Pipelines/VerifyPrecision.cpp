//===- VerifyPrecision.cpp - What holds after the phase precision ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "gpuopt/Pipelines/Passes.h"

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/TypeUtilities.h"

namespace gpuopt {
#define GEN_PASS_DEF_VERIFYPRECISION
#include "gpuopt/Pipelines/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

using train::VariableKind;
using train::VariableOp;

static bool isHalf(Type type) {
  return isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(type));
}

/// The variables that the steps of a module read, and those that they renew.
struct Copies {
  llvm::DenseSet<Attribute> read, renewed;
  bool hasForward = false, hasOther = false; ///< Kinds of steps.

  /// Whether no step changes a weight.
  bool onlyForward() const { return hasForward && !hasOther; }
};

static LogicalResult verifyVariable(VariableOp variable, const Copies &copies) {
  if (variable.getKind() != VariableKind::HalfCopy)
    // What no optimizer changes needs no master.
    return isHalf(variable.getType()) && !copies.onlyForward() && // (I2)
                   variable.getKind() != VariableKind::Frozen
               ? variable.emitOpError(
                     "expects state in full precision, but got ")
                     << variable.getType()
               : success();
  auto module = variable->getParentOfType<ModuleOp>();
  auto owner = variable.getOfAttr()
                   ? module.lookupSymbol<VariableOp>(variable.getOfAttr())
                   : VariableOp();
  if (!owner || cast<ShapedType>(owner.getType()).getShape() !=
                    cast<ShapedType>(variable.getType()).getShape()) // (I2)
    return variable.emitOpError(
        "expects 'of' to name a parameter of its shape");
  auto name = FlatSymbolRefAttr::get(variable.getSymNameAttr());
  if (copies.read.contains(name) && !copies.renewed.contains(name)) // (I2)
    return variable.emitOpError(
        "is read, but nothing writes it when its parameter changes");
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  for (StringRef name :
       {train::kHalfResultsAttribute, train::kHalfProductAttribute})
    if (op->hasAttr(name)) // (I1)
      return op->emitOpError("still has '")
             << name
             << "', a choice of precision, which train-insert-casts should "
                "have carried out";
  if (isa<train::ReportLossOp>(op) &&
      llvm::any_of(op->getOperandTypes(), isHalf)) // (I3)
    return op->emitOpError("expects a loss in full precision, but got ")
           << op->getOperandTypes();
  return success();
}

namespace {

class VerifyPrecision
    : public gpuopt::impl::VerifyPrecisionBase<VerifyPrecision> {
  void runOnOperation() override {
    bool isValid = true;
    if (getOperation().getOps<VariableOp>().empty() &&
        getOperation().getOps<train::StepOp>().empty())
      warnOfNoSteps(getOperation(), "precision");
    Copies copies;
    getOperation().walk([&](Operation *op) {
      isValid &= succeeded(verifyOp(op));
      if (auto step = dyn_cast<train::StepOp>(op)) {
        copies.hasForward |= step.getKind() == train::StepKind::Forward;
        copies.hasOther |= step.getKind() != train::StepKind::Forward &&
                           step.getKind() != train::StepKind::Prepare;
      }
      if (auto read = dyn_cast<train::ReadOp>(op))
        copies.read.insert(read.getVariableAttr());
      if (auto copy = op->getAttrOfType<FlatSymbolRefAttr>("copy"))
        copies.renewed.insert(copy);
    });
    for (VariableOp variable : getOperation().getOps<VariableOp>())
      isValid &= succeeded(verifyVariable(variable, copies));
    if (!isValid)
      signalPassFailure();
  }
};

} // namespace
