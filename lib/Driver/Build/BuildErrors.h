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

/// Returns the first error in the output of CMake, of a compiler or of a
/// linker, on one line. Returns the last line if there is no error, and nothing
/// if the output is empty.
std::string firstErrorOf(llvm::StringRef log);

/// Returns the text of an error that the program's own CMake files raise, such
/// as that a library is not found; empty if the log has none. It says what to
/// do, and the rest of the log adds nothing to it.
std::string ownErrorOf(llvm::StringRef log);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_BUILDERRORS_H
