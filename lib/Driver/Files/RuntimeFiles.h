//===- RuntimeFiles.h - What programs are built from ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_RUNTIMEFILES_H
#define GPUOPT_LIB_DRIVER_FILES_RUNTIMEFILES_H

#include "Files/OutputDirectory.h"
#include "gpuopt/settings/target_table.h"

namespace gpuopt {

/// Copies what a program for `target` is built from beside its own sources: the
/// runtime's headers, the CMake files, and target.cmake.
llvm::Error copyRuntime(const TargetInfo &target, OutputDirectory &directory);

/// Copies the sources of the program that measures a device.
llvm::Error copyCalibration(OutputDirectory &directory);

/// Returns the folder with the model and the data that `doctor` trains.
std::string selfTestFolder();

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_RUNTIMEFILES_H
