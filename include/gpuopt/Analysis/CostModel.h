//===- CostModel.h - Estimated time of ops ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roofline model (Williams, Waterman and Patterson, CACM 2009): an op takes
// as long as its arithmetic or its memory traffic, whichever is longer, and
// the time of a launch. It knows nothing of caches between kernels. Where the
// device was measured, its times go before the model's.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTMODEL_H
#define GPUOPT_ANALYSIS_COSTMODEL_H

#include "gpuopt/Analysis/DeviceModel.h"
#include "gpuopt/Analysis/KernelSlice.h"

namespace gpuopt {

/// What one execution of an op asks of the device.
struct OpWork {
  double operations =
      0; ///< Floating point; a multiplication and an addition are two.
  bool onMatrixUnits = false;
  double bytesRead = 0, bytesWritten = 0;
  /// The type of the operands, which decides the rate of products.
  mlir::Type elementType;
};

/// Bytes of the elements that a reader of `value` touches: through broadcasts,
/// those of the operand.
double bytesTouched(mlir::Value value);

/// Bytes of what an op reads of one of its operands: of a table, only the rows
/// that are taken.
double bytesReadBy(mlir::OpOperand &operand);

/// Views, constants and reads of variables ask for nothing.
OpWork workOf(mlir::Operation *op);

/// Returns the work of a kernel that does nothing but this slice of `op`.
OpWork workOfSlice(nn::FusedOp op, unsigned result, const KernelSlice &slice);

/// Estimated nanoseconds; 0 for no work.
double timeInNanoseconds(const OpWork &work, const DeviceModel &device);
double timeInNanoseconds(mlir::Operation *op, const DeviceModel &device);

/// Returns the time of a kernel that does nothing but this slice of `op`. Where
/// that was not measured but the whole kernel was, it is the share of the whole
/// one's time that the model gives the slice.
double timeOfSliceInNanoseconds(nn::FusedOp op, unsigned result,
                                const KernelSlice &slice,
                                const DeviceModel &device);

/// Whether the time of `op`, which does work, was measured.
bool isMeasured(mlir::Operation *op, const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTMODEL_H
