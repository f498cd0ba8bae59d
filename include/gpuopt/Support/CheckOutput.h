//===- CheckOutput.h - Told before the work, not after it -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_CHECKOUTPUT_H
#define GPUOPT_SUPPORT_CHECKOUTPUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace gpuopt {

/// Fails if writeFile(path) would fail, as far as that can be seen beforehand,
/// and if `path` is one of the files that are read. Changes nothing.
inline llvm::Error checkOutput(llvm::StringRef path,
                               llvm::ArrayRef<llvm::StringRef> inputs) {
  namespace fs = llvm::sys::fs;
  auto fail = [&](std::errc code) {
    return llvm::createStringError(
        "cannot write '" + path + "': " + std::make_error_code(code).message());
  };
  for (llvm::StringRef input : inputs)
    if (fs::equivalent(path, input))
      return llvm::createStringError("'" + path +
                                     "' is read, and must not be overwritten; "
                                     "choose another file");
  if (fs::is_directory(path))
    return fail(std::errc::is_a_directory);
  if (fs::exists(path) && !fs::is_regular_file(path))
    return llvm::Error::success(); // a device or a pipe
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (folder.empty())
    folder = ".";
  if (!fs::exists(folder))
    return fail(std::errc::no_such_file_or_directory);
  if (!fs::is_directory(folder))
    return fail(std::errc::not_a_directory);
  if (fs::access(folder, fs::AccessMode::Write))
    return fail(std::errc::permission_denied);
  return llvm::Error::success();
}

/// Fails if `path` is a file that has another ending than what is to be written:
/// it is hardly an earlier result.
inline llvm::Error checkReplaced(llvm::StringRef path,
                                 llvm::StringRef ending) {
  if (!llvm::sys::fs::is_regular_file(path) || path.ends_with(ending))
    return llvm::Error::success();
  return llvm::createStringError("'" + path + "' exists and is no " + ending +
                                 " file; choose another name, or remove it");
}

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_CHECKOUTPUT_H
