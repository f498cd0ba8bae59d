//===- Plan.h - The memory plan as JSON -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_PLAN_H
#define GPUOPT_LIB_TARGET_CXX_PLAN_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace gpuopt::cxx {

/// plan.json: arena_bytes, persistent_bytes, total_bytes, and each buffer's
/// name, origin, kind, type, bytes, offset and lifetime.
std::string planJson(mlir::ModuleOp module);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_PLAN_H
