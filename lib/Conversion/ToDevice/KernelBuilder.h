//===- KernelBuilder.h - Lowers nn.fused to a kernel ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBUILDER_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBUILDER_H

#include "gpuopt/Analysis/LaunchShape.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt {

/// Builds the kernel of `op`, at the builder's insertion point. Its parameters
/// are pointers to the first element of each operand and result, in order,
/// and the step's scalars where it draws random numbers; offsets of the views
/// are left to the caller.
///
/// The forms of LaunchShape.h are written so:
/// - nothing is reduced: blocks share the elements, lanes walk the last loop;
/// - the last loop is: a block per kept element, loops over lanes one after
///   the other, each with what the results of the ones before allow;
/// - others are: lanes walk the last loop, each going through the reduced ones.
device::KernelOp buildKernel(mlir::OpBuilder &builder, nn::FusedOp op,
                             const KernelShape &shape,
                             const LaunchShape &launch, llvm::StringRef name);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBUILDER_H
