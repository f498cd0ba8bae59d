//===- CostKey.h - By which measured costs are found ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op of a step with formed kernels is known by to those who measure it:
// where it comes from and what it does on which types. It says nothing of
// places in memory nor of the schedule, so that the times of one program serve
// the plans of another one of the same model. A kernel's work is known by its
// label, which is for people, and by a hash of its body, so that kernels of one
// key do the same work; library calls of one key have the same ONNX nodes and
// types.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTKEY_H
#define GPUOPT_ANALYSIS_COSTKEY_H

#include "gpuopt/Analysis/KernelSlice.h"

namespace gpuopt {

struct CostKey {
  std::string origin; ///< ONNX nodes, or the variable that is written.
  /// "contract mk,kn f32[8,4] f32[4,2] -> f32[8,2]",
  /// "fused add_mul #8c3f01d2 f32[8,2] f32[8,2] -> f32[8,2]"
  std::string work;

  /// "/fc1/Gemm: contract mk,kn f32[8,4] f32[4,2] -> f32[8,2]"
  std::string text() const { return origin + ": " + work; }
};

CostKey costKeyOf(mlir::Operation *op);

/// Returns the key of the kernel that makes this result of `op` again by its
/// slice.
CostKey costKeyOfSlice(nn::FusedOp op, unsigned result,
                       const KernelSlice &slice);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTKEY_H
