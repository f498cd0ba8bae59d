//===- ValueRoles.h - What a kernel's values are ----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_VALUEROLES_H
#define GPUOPT_DIALECT_DEVICE_IR_VALUEROLES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace gpuopt::device {

/// Returns the role of a value in a kernel: "mean", "rstd", "total", "largest",
/// "smallest", "squared_deviations", "probabilities" or "normalised"; empty
/// where none of these fits. `known` has the roles of the kernel's arguments: a
/// total that another kernel has summed, divided by the number of its elements,
/// is a mean.
llvm::StringRef roleOfValue(mlir::Value value,
                            llvm::ArrayRef<llvm::StringRef> known);

/// Returns the roles of the arguments that a kernel writes; empty for the
/// others.
llvm::SmallVector<llvm::StringRef>
rolesOfResults(KernelOp kernel, llvm::ArrayRef<llvm::StringRef> known);

/// Returns the argument of whose elements `value` is a sum, or nothing if it is
/// another value.
mlir::BlockArgument summedArgument(mlir::Value value);

} // namespace gpuopt::device

#endif // GPUOPT_DIALECT_DEVICE_IR_VALUEROLES_H
