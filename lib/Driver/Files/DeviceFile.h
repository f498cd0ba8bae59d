//===- DeviceFile.h - The measured devices of this machine ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_DEVICEFILE_H
#define GPUOPT_LIB_DRIVER_FILES_DEVICEFILE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// Returns the path at which `gpuopt calibrate` keeps what it has measured of a
/// device that calls itself `name`, in the folder of built trainers:
/// "<cache>/device-amd-epyc-2.json" for `parallelism` 2, the cores of a
/// processor that this process may keep busy or the multiprocessors of a GPU.
std::string calibratedFile(llvm::StringRef cache, llvm::StringRef name,
                           int64_t parallelism);

/// Returns the same for the processor of this machine.
std::string calibratedProcessorFile(llvm::StringRef cache);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_DEVICEFILE_H
