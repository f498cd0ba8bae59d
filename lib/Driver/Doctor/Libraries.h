//===- Libraries.h - Shared libraries and their versions --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_DOCTOR_LIBRARIES_H
#define GPUOPT_LIB_DRIVER_DOCTOR_LIBRARIES_H

#include "Doctor/Finding.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/VersionTuple.h"

namespace gpuopt {

/// A shared library that programs are linked with.
struct Library {
  llvm::StringRef name;
  llvm::ArrayRef<llvm::StringRef> files; ///< Its file names, the best first.
  llvm::StringRef header;                ///< One that programs include.
  /// Asks the library for its version. `function` is the address of the
  /// function below. Null: the library cannot be asked.
  llvm::VersionTuple (*version)(void *function) = nullptr;
  const char *versionFunction = nullptr;
  llvm::VersionTuple least; ///< The oldest version that fits.
  llvm::VersionTuple next;  ///< The first newer one that does not, if any.
  llvm::StringRef advice;   ///< How to install it.
  /// The CUDA that programs are built with; empty: any. The library's own is
  /// what the function below returns, as 1000 major + 10 minor.
  llvm::VersionTuple cuda = {};
  const char *cudaFunction = nullptr;
};

/// Loads a library from where the system looks or from one of `folders`, looks
/// for its header, and says whether its version fits.
Finding findLibrary(const Library &library,
                    llvm::ArrayRef<std::string> folders = {});

/// Looks for a header whose library programs do without.
Finding findHeader(llvm::StringRef name, llvm::StringRef header,
                   llvm::ArrayRef<std::string> folders, llvm::StringRef advice);

/// Returns the folders in which the CUDA toolkit and NVIDIA's wheels keep their
/// libraries.
std::vector<std::string> foldersOfNvidia();

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_DOCTOR_LIBRARIES_H
