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

/// Writes model.safetensors (parameters and buffers, under every name that
/// they are saved as) and, where the program has constants,
/// constants.safetensors into `folder`. Values are copied from where the
/// variables say that they lie. Names of trained parameters that hold numbers
/// which only masks have are appended to `masks`.
llvm::Error writeWeights(mlir::ModuleOp module, llvm::StringRef folder,
                         std::vector<std::string> &masks);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_WEIGHTS_H
