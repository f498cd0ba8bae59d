//===- KernelBuilder.h - Lowers nn.fused to a kernel ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBUILDER_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBUILDER_H

#include "gpuopt/Analysis/Kernels/LaunchShape.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt {

/// Builds the kernel of `op`, at the builder's insertion point. Its parameters
/// are pointers to the first element of each operand and result, in order, and
/// the step's scalars if it draws random numbers. The caller adds the offsets
/// of the views.
///
/// How the forms of LaunchShape.h are written:
/// - if nothing is reduced, blocks share the elements and lanes walk the last
///   loop;
/// - if the last loop is reduced, there is a block, or a group of its threads,
///   for each kept element, with loops over lanes one after the other, each of
///   which computes what the results of the loops before it allow;
/// - if only other loops are reduced, lanes walk the last loop, and each goes
///   through the reduced ones, whose iterations the groups of a block share.
device::KernelOp buildKernel(mlir::OpBuilder &builder, nn::FusedOp op,
                             const KernelShape &shape,
                             const LaunchShape &launch, llvm::StringRef name,
                             llvm::ArrayRef<int64_t> aliased);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_KERNELBUILDER_H
