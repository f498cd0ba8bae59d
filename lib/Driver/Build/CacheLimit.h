//===- CacheLimit.h - How large the build cache may become ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_BUILD_CACHELIMIT_H
#define GPUOPT_LIB_DRIVER_BUILD_CACHELIMIT_H

#include "llvm/Support/Error.h"

namespace gpuopt {

/// The environment variable that sets the limit, and what it is without.
constexpr llvm::StringLiteral kCacheLimitVariable = "GPUOPT_CACHE_SIZE";
constexpr int64_t kDefaultCacheLimit = int64_t(5) << 30;

/// Returns the bytes that the build cache may take. Fails if the variable is
/// set to what is no size.
llvm::Expected<int64_t> cacheLimit();

/// What the build cache holds.
struct CacheContent {
  int64_t programs = 0, objects = 0, bytes = 0;
};
CacheContent contentOfCache(llvm::StringRef cache);

/// Removes programs and objects of the build cache until it is within `limit`
/// bytes, those first that have not been used for the longest time. What has
/// been used within the last hour stays, and so does a program that is being
/// built: other processes may be about to run or to link it. A program's record
/// of the algorithms that were chosen stays always.
void trimCache(llvm::StringRef cache, int64_t limit);

/// Notes that a file of the cache is used now.
void noteUse(llvm::StringRef file);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_CACHELIMIT_H
