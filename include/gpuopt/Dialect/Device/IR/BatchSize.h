//===- BatchSize.h - The batch of a program ---------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_BATCHSIZE_H
#define GPUOPT_DIALECT_DEVICE_IR_BATCHSIZE_H

#include "mlir/IR/BuiltinOps.h"

namespace gpuopt::device {

/// Returns how many samples a batch has: the first dimension of the first input
/// that has one; 0 if none has. The labels are no input.
int64_t batchSizeOf(mlir::ModuleOp module);

} // namespace gpuopt::device

#endif // GPUOPT_DIALECT_DEVICE_IR_BATCHSIZE_H
