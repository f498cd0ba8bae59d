//===- Passes.h - Passes that form kernels ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These passes decide which kernels and calls a step consists of. They work on
// the nn ops within a train.step, and take into account which variables the
// step reads and updates.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TRANSFORMS_KERNELS_PASSES_H
#define GPUOPT_TRANSFORMS_KERNELS_PASSES_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt::kernels {

#define GEN_PASS_DECL
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "gpuopt/Transforms/Kernels/Passes.h.inc"

/// Marks the results of the block's kernels that are written over an operand,
/// as the pass kernels-mark-in-place does. Returns how many there are.
int64_t markInPlace(mlir::Block &block);

/// Marks what the block's kernels may compute in few instructions, as the pass
/// kernels-mark-fast-math does. Returns how many ops that are.
int64_t markFastMath(mlir::Block &block);

/// Pads rows of the block's tensors where that makes its products faster, as
/// the pass kernels-pad-rows does. Copies of parameters in half precision stay
/// as they are, which the pass may cast anew. Returns the tensors whose rows
/// were padded.
llvm::SmallVector<mlir::OpResult> padRows(mlir::Block &block,
                                          const DeviceModel &device);

} // namespace gpuopt::kernels

#endif // GPUOPT_TRANSFORMS_KERNELS_PASSES_H
