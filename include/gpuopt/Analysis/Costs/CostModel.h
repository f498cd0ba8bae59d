//===- CostModel.h - Estimated time of ops ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roofline model (Williams, Waterman and Patterson, CACM 2009): an op takes
// as long as its arithmetic or its memory traffic, whichever is longer, plus
// the time of a launch. On a GPU a kernel has two more limits (KernelCost.h):
// the bytes that its loads have in flight, and the instructions that its lanes
// issue. ProductCost.h says which shapes of products are slow. The model does
// not consider caches between kernels. Measured times replace the model's where
// there are any.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_COSTMODEL_H
#define GPUOPT_ANALYSIS_COSTS_COSTMODEL_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Analysis/Kernels/KernelSlice.h"
#include "gpuopt/Interfaces/OpWork.h"

namespace gpuopt {

/// Returns the bytes of the elements that a reader of `value` touches; for a
/// broadcast, those of its operand.
double bytesTouched(mlir::Value value);

/// Returns how many bytes of one of its operands an op reads: where it takes
/// rows of a table, only those rows.
double bytesReadBy(mlir::OpOperand &operand);

/// Returns the work of an op. Views, constants and reads of variables have
/// none.
OpWork workOf(mlir::Operation *op, const DeviceModel &device);

/// Returns the work of a kernel that does nothing but this slice of `op`.
OpWork workOfSlice(nn::FusedOp op, unsigned result, const KernelSlice &slice,
                   const DeviceModel &device);

/// Returns the same work on tensors of other types, which have these bytes.
OpWork withBytes(OpWork work, double bytesRead, double bytesWritten);

/// Returns the estimated time in nanoseconds; 0 for no work.
double timeInNanoseconds(const OpWork &work, const DeviceModel &device);
double timeInNanoseconds(mlir::Operation *op, const DeviceModel &device);

/// Returns the time of a kernel that does nothing but this slice of `op`. If
/// only the whole kernel was measured, it is a share of that time: the share
/// that the slice has of the whole kernel's estimated time.
double timeOfSliceInNanoseconds(nn::FusedOp op, unsigned result,
                                const KernelSlice &slice,
                                const DeviceModel &device);

/// Returns the least time in nanoseconds that the device could take: what moves
/// the bytes at its bandwidth or computes at its rate, whichever is longer.
double limitInNanoseconds(const OpWork &work, const DeviceModel &device);

/// Whether the time of `op`, an op that does work, was measured.
bool isMeasured(mlir::Operation *op, const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_COSTMODEL_H
