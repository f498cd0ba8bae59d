//===- NameBuffers.h - Names of buffers and of parameters -------*- C++ -*-===//
//-*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_NAMEBUFFERS_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_NAMEBUFFERS_H

#include "mlir/IR/BuiltinOps.h"

namespace gpuopt {

/// Gives roles to the buffers of the arena, renames these accordingly, and
/// names the parameters of each device.kernel after the buffers that all of its
/// launches pass: "weight", "input_ids", "mean", "d_softmax".
void nameBuffers(mlir::ModuleOp module);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_NAMEBUFFERS_H
