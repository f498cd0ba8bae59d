//===- JoinPath.h - A name in a folder --------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_JOINPATH_H
#define GPUOPT_LIB_DRIVER_FILES_JOINPATH_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

namespace gpuopt {

inline std::string joinPath(llvm::StringRef folder, const llvm::Twine &name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_JOINPATH_H
