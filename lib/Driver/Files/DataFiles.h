//===- DataFiles.h - The files that a training reads ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_DATAFILES_H
#define GPUOPT_LIB_DRIVER_FILES_DATAFILES_H

#include "gpuopt/Driver/Driver.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace gpuopt {

/// Fails, in the name of a flag, where `path` is no file that can be read.
llvm::Error checkReadable(llvm::StringRef flag, llvm::StringRef path);

/// Fails where an input of the program, or its labels, is not given, or what is
/// given is no input. The flags begin with `prefix`.
llvm::Error checkInputs(mlir::ModuleOp module, const DataGiven &data,
                        llvm::StringRef prefix);

/// Fails where what lies in the files is not what the inputs need: types,
/// shapes, the number of samples, indices and labels. Validation repeats the
/// last of the samples.
llvm::Error checkContents(mlir::ModuleOp module, const DataGiven &data,
                          llvm::StringRef prefix, bool isValidation);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_DATAFILES_H
