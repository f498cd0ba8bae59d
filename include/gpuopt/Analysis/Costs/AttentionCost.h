//===- AttentionCost.h - Which kernels compute attention --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention is computed by kernels of the program, tile by tile. What a tile
// takes depends on what multiplies: the matrix units work for warps on all
// GPUs, and for warpgroups on those of compute capability 9.0 as well
// (docs/rationale/attention.md).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_ATTENTIONCOST_H
#define GPUOPT_ANALYSIS_COSTS_ATTENTIONCOST_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Interfaces/OpWork.h"

namespace gpuopt {

/// The threads for which the matrix units multiply: those of a warp, or of
/// four.
enum class AttentionThreads { Warps, Warpgroups };

/// Whether this is an nn.attention or an nn.attention_grad.
bool isAttention(mlir::Operation *op);

/// Returns which kernels of an nn.attention or an nn.attention_grad a device
/// runs, as Runtime/gpuopt/ops/attention_cuda.h chooses them. Its element type
/// is that of now.
AttentionThreads attentionThreadsOf(mlir::Operation *op,
                                    const DeviceModel &device);

/// Adds the work of an nn.attention or an nn.attention_grad on a device with
/// warps.
void addAttention(mlir::Operation *op, const DeviceModel &device, OpWork &work);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_ATTENTIONCOST_H
