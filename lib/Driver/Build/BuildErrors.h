//===- BuildErrors.h - What a failed build failed of ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_BUILD_BUILDERRORS_H
#define GPUOPT_LIB_DRIVER_BUILD_BUILDERRORS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// The first error in the output of CMake, of compilers or of linkers, on one
/// line; the last line where there is none; empty of an empty output.
std::string firstErrorOf(llvm::StringRef log);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_BUILDERRORS_H
