//===- VerifyClusters.cpp - What holds after the phase clusters -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "gpuopt/Pipelines/Passes.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Conversion/ToDevice/Passes.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt {
#define GEN_PASS_DEF_VERIFYCLUSTERS
#include "gpuopt/Pipelines/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

static LogicalResult verifyOp(Operation *op);

static LogicalResult verifyIteration(nn::ScanOp scan) {
  bool isValid = true;
  for (Operation &op : scan.getIteration().without_terminator())
    isValid &= succeeded(verifyOp(&op));
  llvm::SmallDenseSet<Value> written;
  for (Value value : scan.getYielded())
    if (!ownsMemory(value) || !written.insert(value).second) // (I5)
      return scan.emitOpError(
          "expects each value that an iteration yields to have "
          "memory of its own; run "
          "kernels-materialize-views before");
  return success(isValid);
}

static LogicalResult verifyOp(Operation *op) {
  if (!canLower(op)) { // (I1)
    InFlightDiagnostic error =
        op->emitOpError("cannot be converted to the device dialect: it is no "
                        "call, and no kernel computes it");
    if (StringRef pass = passThatReplaces(op); !pass.empty())
      error << "; run " << pass << " before";
    return error;
  }
  if (auto call = dyn_cast<RuntimeCallOpInterface>(op))
    return canBeMade(call) // (I3)
               ? success()
               : op->emitOpError(
                     "cannot read its operands with the strides that they "
                     "have; run kernels-materialize-views before");
  if (isViewOp(op))
    return viewOf(op->getResult(0)) // (I2)
               ? success()
               : op->emitOpError("cannot be a view of its operand's memory: no "
                                 "strides describe where its elements lie");
  if (isa<nn::FusedOp, nn::ConcatOp>(op))
    return success();
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    std::optional<StridedView> view = viewOf(operand);
    if (!view || !view->isDense()) // (I4)
      return op->emitOpError("expects operand ")
             << index << " to be dense in memory";
  }
  auto scan = dyn_cast<nn::ScanOp>(op);
  return scan ? verifyIteration(scan) : success();
}

namespace {

class VerifyClusters : public gpuopt::impl::VerifyClustersBase<VerifyClusters> {
  void runOnOperation() override {
    bool isValid = true;
    for (train::StepOp step : stepsToVerify(getOperation(), "clusters"))
      for (Operation &op : step.getBody().front())
        isValid &= succeeded(verifyOp(&op));
    if (!isValid)
      signalPassFailure();
  }
};

} // namespace
