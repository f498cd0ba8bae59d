//===- ScratchFolder.h - A folder of this process alone ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_SCRATCHFOLDER_H
#define GPUOPT_LIB_DRIVER_FILES_SCRATCHFOLDER_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// A folder in which something is made before it is renamed to its place. Its
/// name is unique, so no other folder is touched. The destructor removes the
/// folder with everything that is left in it.
class ScratchFolder {
public:
  /// Creates a folder whose path begins with `prefix`; the folder above must
  /// exist.
  static llvm::Expected<ScratchFolder> create(const llvm::Twine &prefix);
  ScratchFolder(ScratchFolder &&other);
  ~ScratchFolder();

  std::string pathOf(llvm::StringRef name) const;
  /// Leaves the folder where it is when the object is destroyed.
  void keep() { path.clear(); }

private:
  explicit ScratchFolder(std::string path) : path(std::move(path)) {}
  std::string path; // empty if there is nothing to remove
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_SCRATCHFOLDER_H
