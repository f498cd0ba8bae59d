//===- KernelCost.h - What a kernel asks of a GPU ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel reaches the bandwidth of a GPU's memory only if enough bytes are on
// their way at once (Little's law: bytes in flight are bandwidth times latency)
// and if its lanes issue few instructions for each byte. Both follow from how
// the kernel is spread over the device, and from what its body is made of.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_KERNELCOST_H
#define GPUOPT_ANALYSIS_COSTS_KERNELCOST_H

#include "gpuopt/Analysis/Kernels/KernelSlice.h"
#include "gpuopt/Analysis/Kernels/LaunchShape.h"

namespace gpuopt {

/// Fills in what a thread of `op` loads at once, how many registers it needs
/// and how much memory its block shares.
void estimateThread(nn::FusedOp op, const KernelShape &shape, int64_t lanes,
                    LaunchShape &launch);

/// Returns for how many blocks of `launch` at once a multiprocessor must have
/// registers, so that the bytes that their loads have on their way keep the
/// memory busy (Little's law). It is no more than find room with a few more
/// registers than estimateThread expects a thread to need, and at least 1.
int64_t residentBlocksFor(const LaunchShape &launch, const DeviceModel &device);

/// Returns the warps that one multiprocessor can have at once: as many as its
/// threads, blocks, registers and shared memory allow.
double mostResidentWarps(const LaunchShape &launch, const DeviceModel &device);

/// Returns the warps that one multiprocessor really has at once: the grid may
/// have fewer.
double residentWarps(const LaunchShape &launch, const DeviceModel &device);

/// Returns the bytes that loads have on their way at once, on the whole device.
double bytesInFlight(const LaunchShape &launch, const DeviceModel &device);

struct KernelCost {
  LaunchShape launch;
  /// The instructions that its lanes issue, with loads, stores and loops.
  double laneInstructions = 0;
  /// The bytes that are read in addition to every operand once: rows that later
  /// walks read from memory again, and the rest of the sectors of which strided
  /// accesses use one element.
  double extraBytesRead = 0;
  bool isInF64 = false; ///< Whether any of its arithmetic is.
};

/// `device` has warps.
KernelCost kernelCostOf(nn::FusedOp op, const DeviceModel &device);

/// Returns the cost of a kernel that does nothing but this slice of `op`.
KernelCost kernelCostOfSlice(nn::FusedOp op, unsigned result,
                             const KernelSlice &slice,
                             const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_KERNELCOST_H
