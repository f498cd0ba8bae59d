//===- OutputDirectory.h - A folder, whole or not at all --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_OUTPUTDIRECTORY_H
#define GPUOPT_LIB_DRIVER_OUTPUTDIRECTORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Files are written to a sibling of the target, which takes its place by
/// commit(); before that, or if it never comes, the target is as it was.
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
  OutputDirectory(OutputDirectory &&other);
  ~OutputDirectory();

  std::string pathOf(llvm::StringRef name) const;
  llvm::Error write(llvm::StringRef name, llvm::StringRef contents);
  /// Copies a folder's files, one level deep.
  llvm::Error copyFolder(llvm::StringRef from, llvm::StringRef name);
  llvm::Error commit();

private:
  OutputDirectory(std::string target, std::string temporary)
      : target(std::move(target)), temporary(std::move(temporary)) {}
  std::string target, temporary;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_OUTPUTDIRECTORY_H
