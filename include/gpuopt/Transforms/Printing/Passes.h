//===- Passes.h - Passes that print analyses --------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These passes change nothing: each prints the result of an analysis as remarks
// at a module's ops. test/Analysis uses them to check the analyses.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TRANSFORMS_PRINTING_PASSES_H
#define GPUOPT_TRANSFORMS_PRINTING_PASSES_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt::printing {

#define GEN_PASS_DECL
#include "gpuopt/Transforms/Printing/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "gpuopt/Transforms/Printing/Passes.h.inc"

} // namespace gpuopt::printing

#endif // GPUOPT_TRANSFORMS_PRINTING_PASSES_H
