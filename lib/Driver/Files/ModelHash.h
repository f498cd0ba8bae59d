//===- ModelHash.h - What tells a model from others -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_MODELHASH_H
#define GPUOPT_LIB_DRIVER_FILES_MODELHASH_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace gpuopt {

/// Returns a version and 16 digits (kModelHashVersion) for the model of a
/// module after the phase `import`: of its operators, their attributes, what
/// they read, and its constants. The values of weights and running statistics,
/// which training changes, do not count, and neither do the names of nodes and
/// files. `isTrained` says whether a tensor that the file marks as a constant
/// is a weight, given its name.
std::string hashOfModel(mlir::ModuleOp module,
                        llvm::function_ref<bool(llvm::StringRef)> isTrained);

/// Returns the same without the types of the inputs and of what is computed, so
/// that the size of a batch does not count. The trainer writes it into the
/// files of weights (kGraphEntry).
std::string hashOfGraph(mlir::ModuleOp module,
                        llvm::function_ref<bool(llvm::StringRef)> isTrained);

/// Returns that weights were trained with the graph of the hash `trained`, but
/// `model`, which was found beside them, has that of the hash `now`; nothing if
/// these are the same or of different versions, or if one of them is not known.
std::string whyOtherGraph(const std::string &weights,
                          const std::string &trained, const std::string &model,
                          const std::string &now);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_MODELHASH_H
