//===- PlanJson.h - The memory plan as JSON ---------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_PLANJSON_H
#define GPUOPT_LIB_TARGET_CXX_PLANJSON_H

#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace gpuopt::cxx {

/// Returns plan.json: arena_bytes, persistent_bytes, total_bytes, and each
/// buffer's name, origin, kind, type, bytes, offset and lifetime; then, of a
/// program that has some, the convolutions, and what a budget costs.
std::string planJson(mlir::ModuleOp module, const EmissionOptions &options);

/// Adds STEP.problem.json and STEP.plan.json for each step that was scheduled
/// under a budget: `gpuopt-solve verify` checks one against the other.
void addProofs(mlir::ModuleOp module, ProgramFiles &files);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_PLANJSON_H
