//===- BuildCache.h - Trainers that have been built -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_BUILD_BUILDCACHE_H
#define GPUOPT_LIB_DRIVER_BUILD_BUILDCACHE_H

#include "gpuopt/settings/target_table.h"
#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Returns the folder in which executables are kept: `$XDG_CACHE_HOME/gpuopt`,
/// else `~/.cache/gpuopt`, else, if neither variable names a folder, one below
/// `outputDir`.
std::string buildCacheFolder(llvm::StringRef outputDir);

/// Fails if CMake cannot build in the folder of a program or of the cache,
/// since the absolute path has a semicolon, at which CMake splits paths.
/// Commands that build call it before they compile, which may take long.
llvm::Error checkBuildPaths(llvm::StringRef folder, llvm::StringRef cache);

/// An executable that a program builds.
struct Executable {
  llvm::StringRef name;      ///< The name of its file.
  llvm::StringRef what;      ///< What users are told of it: "the trainer".
  bool readsParquet = false; ///< Whether it needs Apache Arrow.
  bool isQuiet = false;      ///< Whether nobody is told that it is built.
};

/// Returns the path of the executable of the program in `folder` for `target`;
/// builds it unless it is in the cache, and says so unless it is quiet.
/// An executable enters the cache by being renamed, so a build that is killed
/// or that runs beside another one does no harm. Prints the end of the output
/// of a build that fails.
llvm::Expected<std::string> buildProgram(llvm::StringRef folder,
                                         const TargetInfo &target,
                                         llvm::StringRef cache,
                                         const Executable &executable);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_BUILDCACHE_H
