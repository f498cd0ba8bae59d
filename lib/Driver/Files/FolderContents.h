//===- FolderContents.h - What lies in an output folder ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its source reads the marks with the programs' own code, which does not use
// LLVM, so this header avoids LLVM, too.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_FOLDERCONTENTS_H
#define GPUOPT_LIB_DRIVER_FILES_FOLDERCONTENTS_H

#include <string>
#include <vector>

namespace gpuopt {

/// Returns what gpuopt has written to a folder, as "a compiled program"; empty
/// if that is nothing.
std::string contentsOfFolder(const std::string &folder);

/// A flag and the data that it names.
struct NamedData {
  std::string flag, value;
};

/// Returns why results may not be written to a folder: it lies in one of the
/// data, as a part of which they would be read. Else nothing.
std::string whyNotInData(const std::string &folder,
                         const std::vector<NamedData> &data);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_FOLDERCONTENTS_H
