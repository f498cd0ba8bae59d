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

/// Where something is made before it is renamed into its place. Nobody else
/// has the folder's name, and no other folder is touched; it goes with the
/// object, and what is left in it as well.
class ScratchFolder {
public:
  /// One whose path begins as `prefix`; the folder above must be there.
  static llvm::Expected<ScratchFolder> create(const llvm::Twine &prefix);
  ScratchFolder(ScratchFolder &&other);
  ~ScratchFolder();

  std::string pathOf(llvm::StringRef name) const;
  /// The folder stays.
  void keep() { path.clear(); }

private:
  explicit ScratchFolder(std::string path) : path(std::move(path)) {}
  std::string path; // empty: nothing to remove
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_SCRATCHFOLDER_H
