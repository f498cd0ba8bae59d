//===- ShiftedExp.h - Exponentials beside a maximum -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax and a cross entropy sum up exp(x - max x) over rows. Several
// analyses recognise such a sum by what is said here.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_SHIFTEDEXP_H
#define GPUOPT_ANALYSIS_KERNELS_SHIFTEDEXP_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

namespace gpuopt {

/// Returns the source of broadcasts, which kernels do on the fly.
mlir::Value skipBroadcasts(mlir::Value value);

/// Returns the difference x - shift if `sum` adds exp(x - shift), or null.
mlir::arith::SubFOp shiftUnderSum(nn::ReduceOp sum);

/// Returns the maximum of the minuend of `shifted` over `dims` if `shift` is
/// that maximum, or null.
nn::ReduceOp maximumAsShift(mlir::Value shift, mlir::arith::SubFOp shifted,
                            llvm::ArrayRef<int64_t> dims);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_SHIFTEDEXP_H
