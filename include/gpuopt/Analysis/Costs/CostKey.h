//===- CostKey.h - By which measured costs are found ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The key under which the measured time of an op is stored, once kernels are
// formed: where the op comes from, and what it does on which types. The key
// does not depend on places in memory or on the schedule, so the times of one
// program can be used to plan another program of the same model. The work of a
// kernel is its label, for people, and a hash of its body, so that kernels with
// one key do the same work; library calls with one key have the same ONNX nodes
// and types.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_COSTKEY_H
#define GPUOPT_ANALYSIS_COSTS_COSTKEY_H

#include "gpuopt/Analysis/Kernels/KernelSlice.h"

namespace gpuopt {

struct CostKey {
  std::string origin; ///< ONNX nodes, or the variable that is written.
  /// Such as "contract mk,kn f32[8,4] f32[4,2] -> f32[8,2]" or "fused add_mul
  /// #8c3f01d2 f32[8,2] f32[8,2] -> f32[8,2]".
  std::string work;

  /// Returns "/fc1/Gemm: contract mk,kn f32[8,4] f32[4,2] -> f32[8,2]".
  std::string text() const { return origin + ": " + work; }
};

CostKey costKeyOf(mlir::Operation *op);

/// Returns the key of the kernel that computes only this result of `op` again,
/// by the result's slice.
CostKey costKeyOfSlice(nn::FusedOp op, unsigned result,
                       const KernelSlice &slice);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_COSTKEY_H
