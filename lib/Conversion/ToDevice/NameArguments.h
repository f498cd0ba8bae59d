//===- NameArguments.h - Names of kernels' parameters -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_NAMEARGUMENTS_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_NAMEARGUMENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace gpuopt {

/// Names the parameters of each device.kernel after the buffers that all of its
/// launches pass: "weight", "input_ids", "softmax", "d_softmax".
void nameArguments(mlir::ModuleOp module);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_NAMEARGUMENTS_H
