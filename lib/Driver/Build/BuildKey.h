//===- BuildKey.h - What tells builds of programs apart ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_BUILD_BUILDKEY_H
#define GPUOPT_LIB_DRIVER_BUILD_BUILDKEY_H

#include "gpuopt/settings/target_table.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// The things that an executable depends on besides its sources.
struct BuildMachine {
  /// Their paths, versions and flags, and where CMake looks for libraries.
  std::string compilers;
  /// The processor that the code of target host is built for; else empty.
  std::string processor;
  /// Where Apache Arrow is, of a program that reads Parquet files; else empty.
  std::string arrow;
  /// The folder of the wheel pyarrow, which CMake takes if it does not find
  /// Apache Arrow by itself. Empty if there is none.
  std::string pyarrow = "";

  /// Finds what a program for `target` is built with here and now.
  static BuildMachine find(const TargetInfo &target, bool readsParquet = false);
};

/// Returns a hash of everything that the executable of the program in `folder`
/// is made of. The hash does not depend on where the folder is.
std::string buildKey(llvm::StringRef folder, const TargetInfo &target,
                     const BuildMachine &machine);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_BUILDKEY_H
