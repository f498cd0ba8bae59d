//===- Passes.h - What holds after each phase -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PIPELINES_PASSES_H
#define GPUOPT_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt {

#define GEN_PASS_DECL
#include "gpuopt/Pipelines/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "gpuopt/Pipelines/Passes.h.inc"

} // namespace gpuopt

#endif // GPUOPT_PIPELINES_PASSES_H
