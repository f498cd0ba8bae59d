//===- PrecisionReasons.h - Why a tensor has its precision ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_PRECISION_PRECISIONREASONS_H
#define GPUOPT_ANALYSIS_PRECISION_PRECISIONREASONS_H

#include "gpuopt/Analysis/Precision/PrecisionPolicy.h"
#include "mlir/IR/Value.h"
#include <string>
#include <vector>

namespace gpuopt {

/// The precision of a tensor that a step computes, and why it has it.
struct PrecisionReason {
  std::string origin; ///< The ONNX node, or the gradient of what it made.
  std::string onnxOp; ///< "Gemm"; empty if the tensor comes from no node.
  std::string type;   ///< In which it is stored: "f32", "bf16".
  std::string
      computedIn; ///< The type of a product's factors; empty for others.
  std::string reason;
};

/// Explains the floating-point tensors of the training step, in the order in
/// which they are computed. The module has passed the phase `precision`, with
/// `halfType` as the type to choose.
std::vector<PrecisionReason> explainPrecisions(mlir::ModuleOp module,
                                               mlir::FloatType halfType,
                                               PrecisionPolicy &policy);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_PRECISION_PRECISIONREASONS_H
