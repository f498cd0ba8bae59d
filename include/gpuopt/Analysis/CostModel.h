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

#ifndef GPUOPT_ANALYSIS_COSTMODEL_H
#define GPUOPT_ANALYSIS_COSTMODEL_H

#include "gpuopt/Analysis/DeviceModel.h"
#include "gpuopt/Analysis/KernelSlice.h"

namespace gpuopt {

/// The work that one execution of an op makes for the device.
struct OpWork {
  /// Floating-point operations; a multiplication and an addition are two.
  double operations = 0;
  bool onMatrixUnits = false;
  double bytesRead = 0, bytesWritten = 0;
  /// The type of the operands, which decides the rate of products.
  mlir::Type elementType;

  // The rest is known for devices with warps only.
  double laneInstructions = 0;
  bool isInF64 = false; ///< Whether these are in f64.
  /// The bytes that loads of the whole device have on their way at once, 0 if
  /// they are enough, and the loads that one thread has on their way.
  double bytesInFlight = 0, loadsInFlight = 0;
  /// Whether there are fewer threads than the device could have at once: with
  /// fewer bytes there are fewer still, since a thread loads as many.
  bool leavesDeviceIdle = false;
  double launches = 1;
  double tileShare = 1; ///< The share of the products' rate that tiles leave.
  /// Whether matrices in half precision have rows at multiples of 16 bytes.
  bool hasAlignedRows = true;
  bool isOwnProduct = false; ///< A kernel of the program, not a library's.
};

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

#endif // GPUOPT_ANALYSIS_COSTMODEL_H
