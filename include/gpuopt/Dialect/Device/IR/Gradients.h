//===- Gradients.h - Which buffers hold gradients ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_DEVICE_IR_GRADIENTS_H
#define GPUOPT_DIALECT_DEVICE_IR_GRADIENTS_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::device {

/// Whether a buffer holds the gradient of what its origin names.
bool isGradient(BufferOp buffer);

/// Whether an origin that a comment has names a gradient: "d h.0/add".
bool isGradientOrigin(llvm::StringRef origin);

} // namespace gpuopt::device

#endif // GPUOPT_DIALECT_DEVICE_IR_GRADIENTS_H
