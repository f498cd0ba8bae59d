//===- OutputDirectory.h - A folder, whole or not at all --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_OUTPUTDIRECTORY_H
#define GPUOPT_LIB_DRIVER_FILES_OUTPUTDIRECTORY_H

#include "Files/ScratchFolder.h"
#include "gpuopt/settings/training_settings.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Files are written to a folder beside the target; commit() moves them to the
/// target. Until then, or if it is never called, the target is as it was.
class OutputDirectory {
public:
  /// Fails if `path` exists and was not written by gpuopt, or cannot be
  /// written; changes nothing.
  static llvm::Error check(llvm::StringRef path);
  /// Checks, in the same way, a folder for results of training, in which
  /// `programBelow` lies. Fails as well if the training would replace weights
  /// or mix its checkpoints with others, unless it is told to.
  static llvm::Error checkResults(llvm::StringRef path,
                                  const TrainingSettings &settings);
  /// Fails if a file in the folder of a program that gpuopt has not written has
  /// one of the names of a new program's files.
  static llvm::Error checkReplaced(llvm::StringRef path,
                                   llvm::ArrayRef<std::string> names);
  static std::string programBelow(llvm::StringRef path);
  /// Fails as `check` does.
  static llvm::Expected<OutputDirectory> create(llvm::StringRef path);

  std::string pathOf(llvm::StringRef name) const;
  llvm::Error write(llvm::StringRef name, llvm::StringRef contents);
  /// Copies the files of a folder and of the folders in it.
  llvm::Error copyFolder(llvm::StringRef from, llvm::StringRef name);
  /// Replaces only those files of an earlier program that gpuopt wrote. Fails,
  /// and changes nothing, if a file of somebody else has the name of a new
  /// file.
  llvm::Error commit();

private:
  OutputDirectory(std::string target, ScratchFolder scratch)
      : target(std::move(target)), scratch(std::move(scratch)),
        files(this->scratch.pathOf("new")) {}
  std::string target;
  ScratchFolder scratch; // holds `files` and what they replace
  std::string files;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_OUTPUTDIRECTORY_H
