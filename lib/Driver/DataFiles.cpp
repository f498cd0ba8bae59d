//===- DataFiles.cpp - The files that a training reads --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DataFiles.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

Error gpuopt::checkReadable(StringRef flag, StringRef path) {
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return createStringError("--" + flag + ": cannot read '" + path +
                             "': " + toString(file.takeError()));
  sys::fs::closeFile(*file);
  if (sys::fs::is_directory(path))
    return createStringError("--" + flag + ": '" + path + "' is a folder");
  return Error::success();
}
