//===- VerifyNN.cpp - What holds after the phase nn -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/Passes.h"

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpuopt {
#define GEN_PASS_DEF_VERIFYNN
#include "gpuopt/Pipelines/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

/// Checks the type of an operand or a result.
static LogicalResult verifyType(Operation *op, Type type) {
  if (isa<onnx::OnnxDialect>(type.getDialect())) // (I1)
    return op->emitOpError(
               "expects types of the nn dialect's tensors, but got ")
           << type;
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && !shaped.hasStaticShape()) // (I3)
    return op->emitOpError("expects a static shape, but got ") << type;
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  if (isa_and_nonnull<onnx::OnnxDialect>(op->getDialect())) // (I1)
    return op->emitOpError("is an op of the model's file, which "
                           "convert-onnx-to-nn should have replaced");
  bool isOfState = isa_and_nonnull<train::TrainDialect>(op->getDialect());
  if (isa<nn::FusedOp>(op) ||
      (isOfState &&
       !isa<train::VariableOp, train::ReadOp, train::WriteOp>(op))) // (I4)
    return op->emitOpError("must not be there yet: a later phase makes it");
  for (Type type : op->getOperandTypes())
    if (failed(verifyType(op, type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifyType(op, type)))
      return failure();
  return success();
}

namespace {

class VerifyNN : public gpuopt::impl::VerifyNNBase<VerifyNN> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    if (functions.size() != 1) { // (I2)
      module.emitError("expects one function of one block, but got ")
          << functions.size() << " functions";
      return signalPassFailure();
    }
    if (Region &body = functions[0].getBody(); !body.hasOneBlock()) { // (I2)
      functions[0].emitOpError("expects a body of one block, but got ")
          << body.getBlocks().size() << " blocks";
      return signalPassFailure();
    }
    bool isValid = true;
    module.walk([&](Operation *op) { isValid &= succeeded(verifyOp(op)); });
    if (!isValid)
      signalPassFailure();
  }
};

} // namespace
