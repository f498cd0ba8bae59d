//===- ResultRoles.h - What a kernel's results are --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_RESULTROLES_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_RESULTROLES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace gpuopt {

/// Returns the role of each argument that a kernel writes: "mean", "rstd",
/// "total", "largest", "squared_deviations", "probabilities" or "normalised";
/// the role is empty where none of these fits. `known` has the roles of the
/// arguments that the kernel reads: a total that another kernel has summed,
/// divided by the number of its elements, is a mean.
llvm::SmallVector<llvm::StringRef>
rolesOfResults(device::KernelOp kernel, llvm::ArrayRef<llvm::StringRef> known);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_RESULTROLES_H
