//===- OpWork.h - The work that an op makes for the device ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_OPWORK_H
#define GPUOPT_INTERFACES_OPWORK_H

#include "mlir/IR/Types.h"

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
  /// Whether matrices on tensor cores have rows at multiples of 16 bytes.
  bool hasAlignedRows = true;
  /// Whether it multiplies by mma.sync, as most kernels of the program do.
  /// Libraries use the instructions of newer devices as well.
  bool multipliesByWarps = false;
  /// Whether it moves bytes while it computes. Otherwise the times of both add
  /// up.
  bool overlapsBytes = true;
};

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_OPWORK_H
