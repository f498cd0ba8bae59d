//===- VerifyTrain.cpp - What holds after the phase train -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/Passes.h"

#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpuopt {
#define GEN_PASS_DEF_VERIFYTRAIN
#include "gpuopt/Pipelines/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

using train::StepKind;
using train::StepOp;

static LogicalResult verifyOp(Operation *op) {
  if (auto call = dyn_cast<RuntimeCallOpInterface>(op)) // (I2)
    if (StringRef reason = call.getReasonAgainstCall(); !reason.empty())
      return op->emitOpError("must not be there any more, since ")
             << reason << ": a pass such as nn-expand-attention spells it out";
  return success();
}

static LogicalResult verifyLosses(StepOp step) {
  bool hasLoss =
      step.getKind() == StepKind::Micro || step.getKind() == StepKind::Evaluate;
  auto losses = llvm::to_vector(
      llvm::make_filter_range(step.getBody().getOps<train::ReportLossOp>(),
                              [](auto loss) { return !loss.getPart(); }));
  if (losses.size() == (hasLoss ? 1 : 0)) // (I3)
    return success();
  return step.emitOpError("expects ")
         << (hasLoss ? "one loss" : "no loss") << " to be reported, but got "
         << losses.size();
}

namespace {

/// Checks the updates of a step and, for optimizers that have one, the
/// directions before them: each has the gradient that the norm has of its
/// parameter, and no parameter has two.
class UpdateVerifier { // (I4)
public:
  LogicalResult verify(StepOp step) {
    for (Operation &op : step.getBody().front()) {
      if (auto norm = dyn_cast<train::GradNormOp>(op))
        for (auto [parameter, gradient] :
             llvm::zip(norm.getParameters(), norm.getGradients()))
          gradientOf[parameter] = gradient;
      auto direction = dyn_cast<train::DirectionOp>(op);
      auto update = dyn_cast<train::UpdateOp>(op);
      if (direction && failed(verifyDirection(direction)))
        return failure();
      if (update && failed(verifyUpdate(update)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult verifyDirection(train::DirectionOp op) {
    if (failed(verifyGradient(op, op.getGradient(), op.getOfAttr())))
      return failure();
    return verifyFirst(op, op.getOfAttr(), directions,
                       "gives the direction of ");
  }

  LogicalResult verifyUpdate(train::UpdateOp op) {
    FlatSymbolRefAttr parameter = op.getParameterAttr();
    if (find_optimizer(op.getOptimizer())->has_direction) {
      if (!directions.contains(parameter))
        return op.emitOpError("expects 'train.direction' before it");
    } else if (failed(verifyGradient(op, op.getGradient(), parameter))) {
      return failure();
    }
    return verifyFirst(op, parameter, updates, "updates ");
  }

  LogicalResult verifyGradient(Operation *op, Value gradient,
                               FlatSymbolRefAttr parameter) {
    if (gradientOf.empty())
      return op->emitOpError("expects 'train.grad_norm' before it");
    if (gradient != gradientOf.lookup(parameter))
      return op->emitOpError("expects its gradient to be the one that "
                             "'train.grad_norm' has for ")
             << parameter;
    return success();
  }

  using ByParameter = llvm::DenseMap<Attribute, Operation *>;

  static LogicalResult verifyFirst(Operation *op, FlatSymbolRefAttr parameter,
                                   ByParameter &seen, StringRef does) {
    auto [known, isNew] = seen.try_emplace(parameter, op);
    if (isNew)
      return success();
    InFlightDiagnostic error = op->emitOpError(does)
                               << parameter << " a second time";
    error.attachNote(known->second->getLoc()) << "the first one is here";
    return error;
  }

  llvm::DenseMap<Attribute, Value> gradientOf; ///< By parameter, in the norm.
  ByParameter directions, updates;
};

} // namespace

namespace {

class VerifyTrain : public gpuopt::impl::VerifyTrainBase<VerifyTrain> {
  void runOnOperation() override {
    if (failed(verifyModule()))
      return signalPassFailure();
    bool isValid = true;
    for (StepOp step : getOperation().getOps<StepOp>()) {
      step.walk([&](Operation *op) { isValid &= succeeded(verifyOp(op)); });
      isValid &= succeeded(verifyLosses(step));
      isValid &= succeeded(UpdateVerifier().verify(step));
    }
    if (!isValid)
      signalPassFailure();
  }

  LogicalResult verifyModule() { // (I1)
    ModuleOp module = getOperation();
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      return function.emitOpError("expects to be part of a step");
    llvm::SmallDenseSet<int> kinds;
    for (StepOp step : module.getOps<StepOp>())
      if (!kinds.insert((int)step.getKind()).second)
        return step.emitOpError("is a second step of kind '")
               << stringifyStepKind(step.getKind()) << "'";
    return kinds.empty() ? module.emitError("expects a step") : success();
  }
};

} // namespace
