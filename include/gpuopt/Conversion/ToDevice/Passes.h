//===- Passes.h - Passes on the nn dialect ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_CONVERSION_TODEVICE_PASSES_H
#define GPUOPT_CONVERSION_TODEVICE_PASSES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "mlir/Pass/Pass.h"

namespace gpuopt {

#define GEN_PASS_DECL
#include "gpuopt/Conversion/ToDevice/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "gpuopt/Conversion/ToDevice/Passes.h.inc"

/// True for the ops of a step that convert-to-device knows.
bool canLower(mlir::Operation *op);

/// Returns the pass that replaces an op which convert-to-device does not know
/// by others; empty if there is none.
llvm::StringRef passThatReplaces(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_CONVERSION_TODEVICE_PASSES_H
