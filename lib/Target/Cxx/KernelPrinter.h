//===- KernelPrinter.h - Kernels as C++ -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_KERNELPRINTER_H
#define GPUOPT_LIB_TARGET_CXX_KERNELPRINTER_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::cxx {

/// Prints a kernel as a function on the runtime's lanes. Fails, with an error
/// at the op, for an op that has no C++ form.
mlir::LogicalResult printKernel(device::KernelOp kernel, llvm::raw_ostream &stream);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_KERNELPRINTER_H
