//===- OutputDirectory.h - A folder, whole or not at all --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_OUTPUTDIRECTORY_H
#define GPUOPT_LIB_DRIVER_FILES_OUTPUTDIRECTORY_H

#include "Files/ScratchFolder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Files are written beside the target, whose place they take by commit();
/// before that, or if it never comes, the target is as it was.
class OutputDirectory {
public:
  /// Fails if `path` exists and was not written by gpuopt, or cannot be
  /// written; changes nothing.
  static llvm::Error check(llvm::StringRef path);
  /// The same of a folder for results of training, with `programBelow` in it.
  static llvm::Error checkResults(llvm::StringRef path);
  static std::string programBelow(llvm::StringRef path);
  /// Fails as `check` does.
  static llvm::Expected<OutputDirectory> create(llvm::StringRef path);

  std::string pathOf(llvm::StringRef name) const;
  llvm::Error write(llvm::StringRef name, llvm::StringRef contents);
  /// Copies a folder's files and those of the folders in it.
  llvm::Error copyFolder(llvm::StringRef from, llvm::StringRef name);
  /// Replaces of an earlier program only what gpuopt wrote. Fails, with all
  /// as it was, if something else has the name of a new file.
  llvm::Error commit();

private:
  OutputDirectory(std::string target, ScratchFolder scratch)
      : target(std::move(target)), scratch(std::move(scratch)),
        files(this->scratch.pathOf("new")) {}
  std::string target;
  ScratchFolder scratch; // `files`, and what they replace
  std::string files;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_OUTPUTDIRECTORY_H
