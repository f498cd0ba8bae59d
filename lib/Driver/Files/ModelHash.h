//===- ModelHash.h - What tells a model from others -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_MODELHASH_H
#define GPUOPT_LIB_DRIVER_FILES_MODELHASH_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace gpuopt {

/// Returns 16 digits for the model of a module after the phase `import`: of its
/// operators, their attributes, what they read, and its constants. The values
/// of weights and running statistics do not count, which training changes, and
/// neither do names of nodes and files.
std::string hashOfModel(mlir::ModuleOp module);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_MODELHASH_H
