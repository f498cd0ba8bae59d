//===- Tools.h - The programs that programs are built with ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_BUILD_TOOLS_H
#define GPUOPT_LIB_DRIVER_BUILD_TOOLS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace gpuopt {

/// A program that is installed, or none.
struct Tool {
  std::string path;                   ///< Empty if it is not found.
  std::vector<std::string> arguments; ///< Those that go before all others.
  std::string output; ///< What it prints when it is asked for its version.
};

/// Returns what a command prints on either stream. It is ended after ten
/// seconds.
/// The first of `arguments` is the program's name.
std::string outputOf(llvm::StringRef program,
                     llvm::ArrayRef<llvm::StringRef> arguments);

/// As `outputOf`, but without what the command prints on standard error.
std::string standardOutputOf(llvm::StringRef program,
                             llvm::ArrayRef<llvm::StringRef> arguments);

/// Returns the first of `names` that is on the PATH or in one of `moreFolders`.
Tool findTool(llvm::ArrayRef<llvm::StringRef> names,
              llvm::ArrayRef<llvm::StringRef> moreFolders = {});

/// Each returns the compiler that CMake and the CMakeLists.txt of programs
/// find, or the one that CXX or CUDACXX in the environment names, perhaps with
/// arguments ("ccache g++").
Tool findCxxCompiler();
Tool findCudaCompiler();

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_TOOLS_H
