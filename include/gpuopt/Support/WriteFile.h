//===- WriteFile.h - Files that are written whole or not --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_WRITEFILE_H
#define GPUOPT_SUPPORT_WRITEFILE_H

#include "gpuopt/Support/UnfinishedFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

/// Writes a new file beside `path` and renames it once it is complete, so that
/// an old file survives a full disk. Devices and pipes are written to directly.
/// (llvm::writeToOutput aborts if a write fails.)
inline llvm::Error writeFile(llvm::StringRef path, llvm::StringRef contents) {
  auto writeTo = [&](llvm::raw_fd_ostream &stream) {
    stream << contents;
    stream.flush();
    std::error_code code = stream.error();
    stream.clear_error();
    return llvm::errorCodeToError(code);
  };
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    return code ? llvm::errorCodeToError(code) : writeTo(stream);
  }
  llvm::Expected<UnfinishedFile> file = UnfinishedFile::create(path);
  if (!file)
    return file.takeError();
  llvm::raw_fd_ostream stream(file->getDescriptor(), /*shouldClose=*/false);
  if (llvm::Error error = writeTo(stream))
    return error;
  return file->keep(path);
}

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_WRITEFILE_H
