//===- BuildCache.h - Trainers that have been built -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_BUILD_BUILDCACHE_H
#define GPUOPT_LIB_DRIVER_BUILD_BUILDCACHE_H

#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Where the executables are kept: `$XDG_CACHE_HOME/gpuopt`, else
/// `~/.cache/gpuopt`, else, without a place of the user's own, below
/// `outputDir`.
std::string buildCacheFolder(llvm::StringRef outputDir);

/// The executable of the program in `folder` for `target`: of the cache, or
/// built now. It gets into the cache whole, so that builds of the same at once
/// or that are killed do no harm. Prints the end of a failed build's output.
llvm::Expected<std::string> buildProgram(llvm::StringRef folder,
                                         llvm::StringRef target,
                                         llvm::StringRef cache);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_BUILDCACHE_H
