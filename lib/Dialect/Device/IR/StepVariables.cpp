//===- StepVariables.cpp - Which variables of a step calls take -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

using namespace mlir;
using namespace gpuopt::device;

static constexpr StepVariables kState{/*state=*/true}, kHost{false, false,
                                                             /*host=*/true};

/// The kernel takes the state if one of its arguments is the state.
StepVariables LaunchOp::getVariables(const SymbolTable &symbols) {
  auto kernel = symbols.lookup<KernelOp>(getKernel());
  return {kernel && llvm::any_of(kernel.getBody().getArgumentTypes(),
                                 llvm::IsaPred<StepStateType>)};
}

/// The state is an argument, a named argument or an option.
StepVariables CallOp::getVariables(const SymbolTable &) {
  WalkResult result = getArguments().walk([](WordAttr word) {
    return word.getValue() == Word::State ? WalkResult::interrupt()
                                          : WalkResult::advance();
  });
  return {result.wasInterrupted()};
}

StepVariables GradNormOp::getVariables(const SymbolTable &) {
  return {/*state=*/true, /*hyper=*/true};
}
StepVariables ReportLossOp::getVariables(const SymbolTable &) { return kState; }
StepVariables DirectionOp::getVariables(const SymbolTable &) { return kState; }
StepVariables UpdateOp::getVariables(const SymbolTable &) { return kState; }
StepVariables AccumulateOp::getVariables(const SymbolTable &) { return kState; }
StepVariables SnapshotOp::getVariables(const SymbolTable &) { return kState; }
StepVariables RestoreOp::getVariables(const SymbolTable &) { return kState; }
StepVariables CheckFiniteOp::getVariables(const SymbolTable &) {
  return kState;
}
StepVariables OffloadOp::getVariables(const SymbolTable &) { return kHost; }
StepVariables ReloadOp::getVariables(const SymbolTable &) { return kHost; }
