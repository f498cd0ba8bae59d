//===- Passes.h - Passes on the nn dialect ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_CONVERSION_ONNXTONN_PASSES_H
#define GPUOPT_CONVERSION_ONNXTONN_PASSES_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt {

#define GEN_PASS_DECL
#include "gpuopt/Conversion/OnnxToNN/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "gpuopt/Conversion/OnnxToNN/Passes.h.inc"

/// The attribute of a converted module that lists the names of frozen weights
/// which have become constants, since nodes need their values.
inline constexpr llvm::StringLiteral kNeededConstantsAttribute =
    "onnx.needed_constants";

/// Prints docs/onnx-operators.md: a row for each operator that the conversion
/// knows, and what of it is not supported.
void printOperatorTable(llvm::raw_ostream &stream);

} // namespace gpuopt

#endif // GPUOPT_CONVERSION_ONNXTONN_PASSES_H
