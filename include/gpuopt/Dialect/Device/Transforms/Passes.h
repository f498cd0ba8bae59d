//===- Passes.h - Passes on the device dialect ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_H
#define GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt::device {

#define GEN_PASS_DECL
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"

} // namespace gpuopt::device

#endif // GPUOPT_DIALECT_DEVICE_TRANSFORMS_PASSES_H
