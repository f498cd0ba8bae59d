//===- Passes.h - Passes on the nn dialect ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_TRANSFORMS_PASSES_H
#define GPUOPT_DIALECT_NN_TRANSFORMS_PASSES_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt::nn {

#define GEN_PASS_DECL
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"

} // namespace gpuopt::nn

#endif // GPUOPT_DIALECT_NN_TRANSFORMS_PASSES_H
