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

/// Fails if `path` is not a file that can be read; the error names `flag`.
llvm::Error checkReadable(llvm::StringRef flag, llvm::StringRef path);

/// Fails if an input of the program or its labels are missing, or if data is
/// given that is no input. The flags begin with `prefix`.
llvm::Error checkInputs(mlir::ModuleOp module, const DataGiven &data,
                        llvm::StringRef prefix);

/// Fails if the content of the files is not what the inputs need: types,
/// shapes, the number of samples, indices and labels. Validation needs no full
/// batch, since it repeats the last sample; nor does training if `fillsLast`.
/// Returns the names of the labels' classes, a line each; empty: none.
llvm::Expected<std::string> checkContents(mlir::ModuleOp module,
                                          const DataGiven &data,
                                          const DataGiven &evalData,
                                          bool fillsLast);

/// Fails if `chosen`, the value of --outputs, names an output that the model
/// does not have; it may be empty.
llvm::Error checkOutputs(mlir::ModuleOp module, llvm::StringRef chosen);

/// Returns whether a flag names a column of Parquet files, which the programs
/// alone can read.
bool namesParquet(const DataGiven &data);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_DATAFILES_H
