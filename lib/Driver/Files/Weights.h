//===- Weights.h - First values of a program's state ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_WEIGHTS_H
#define GPUOPT_LIB_DRIVER_FILES_WEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace gpuopt {

/// Writes model.safetensors into `folder`, with the parameters and buffers
/// under every name that they are saved as, and constants.safetensors if the
/// program has constants. Copies values from where the variables say that they
/// are stored. Appends to `masks` the names of trained parameters that hold
/// numbers which only masks have.
llvm::Error writeWeights(mlir::ModuleOp module, llvm::StringRef folder,
                         std::vector<std::string> &masks);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_WEIGHTS_H
