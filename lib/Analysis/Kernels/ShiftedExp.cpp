//===- ShiftedExp.cpp - Exponentials beside a maximum ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/ShiftedExp.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace gpuopt;

Value gpuopt::skipBroadcasts(Value value) {
  while (auto broadcast = value.getDefiningOp<nn::BroadcastOp>())
    value = broadcast.getInput();
  return value;
}

arith::SubFOp gpuopt::shiftUnderSum(nn::ReduceOp sum) {
  if (sum.getKind() != nn::ReductionKind::Sum)
    return {};
  auto exp = sum.getInput().getDefiningOp<math::ExpOp>();
  return exp ? exp.getOperand().getDefiningOp<arith::SubFOp>()
             : arith::SubFOp();
}

nn::ReduceOp gpuopt::maximumAsShift(Value shift, arith::SubFOp shifted,
                                    ArrayRef<int64_t> dims) {
  auto maximum = skipBroadcasts(shift).getDefiningOp<nn::ReduceOp>();
  bool isOfMinuend = maximum && maximum.getKind() == nn::ReductionKind::Max &&
                     maximum.getInput() == shifted.getLhs() &&
                     maximum.getDims() == dims;
  return isOfMinuend ? maximum : nn::ReduceOp();
}
