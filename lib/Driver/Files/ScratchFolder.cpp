//===- ScratchFolder.cpp - A folder of this process alone -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ScratchFolder.h"
#include "Files/JoinPath.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdlib>

using namespace llvm;
using namespace gpuopt;

Expected<ScratchFolder> ScratchFolder::create(const Twine &prefix) {
  // This does not call LLVM's createUniqueDirectory, which replaces each % of a
  // path.
  std::string path = (prefix + "-XXXXXX").str();
  if (!mkdtemp(path.data()))
    return createStringError(
        "cannot create '" + prefix +
        "-*': " + std::error_code(errno, std::generic_category()).message());
  return ScratchFolder(std::move(path));
}

ScratchFolder::ScratchFolder(ScratchFolder &&other)
    : path(std::move(other.path)) {
  other.path.clear();
}

ScratchFolder::~ScratchFolder() {
  if (!path.empty())
    sys::fs::remove_directories(path);
}

std::string ScratchFolder::pathOf(StringRef name) const {
  return joinPath(path, name);
}
