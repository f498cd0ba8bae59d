//===- UnfinishedFile.h - A file before it has its name ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_UNFINISHEDFILE_H
#define GPUOPT_SUPPORT_UNFINISHEDFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

#include <string>

namespace gpuopt {

/// A new file beside the path that it will have, open for writing. It is
/// removed if it does not get that path, and if a signal ends the process.
/// (llvm::sys::fs::TempFile replaces each % of a path.)
class UnfinishedFile {
public:
  static llvm::Expected<UnfinishedFile> create(llvm::StringRef path) {
    constexpr int kTries = 128;
    std::error_code code;
    for (int i = 0; i < kTries; ++i) {
      std::string name =
          (path + ".tmp-" +
           llvm::Twine::utohexstr(llvm::sys::Process::GetRandomNumber()))
              .str();
      int descriptor = -1;
      code = llvm::sys::fs::openFileForWrite(name, descriptor,
                                             llvm::sys::fs::CD_CreateNew);
      if (code == std::errc::file_exists)
        continue;
      if (code)
        break;
      llvm::sys::RemoveFileOnSignal(name);
      return UnfinishedFile(std::move(name), descriptor);
    }
    return llvm::errorCodeToError(code);
  }

  UnfinishedFile(UnfinishedFile &&other)
      : name(std::move(other.name)), descriptor(other.descriptor) {
    other.name.clear();
    other.descriptor = -1;
  }
  UnfinishedFile &operator=(UnfinishedFile &&) = delete;
  ~UnfinishedFile() { discard(); }

  int getDescriptor() const { return descriptor; }

  /// Gives the file its path, in place of a file that has it.
  llvm::Error keep(llvm::StringRef path) {
    std::error_code code = close();
    if (!code)
      code = llvm::sys::fs::rename(name, path);
    if (code) {
      discard();
      return llvm::errorCodeToError(code);
    }
    llvm::sys::DontRemoveFileOnSignal(name);
    name.clear();
    return llvm::Error::success();
  }

private:
  UnfinishedFile(std::string name, int descriptor)
      : name(std::move(name)), descriptor(descriptor) {}

  std::error_code close() {
    if (descriptor == -1)
      return {};
    int open = descriptor;
    descriptor = -1;
    return llvm::sys::Process::SafelyCloseFileDescriptor(open);
  }

  void discard() {
    close();
    if (name.empty())
      return;
    llvm::sys::fs::remove(name);
    llvm::sys::DontRemoveFileOnSignal(name);
    name.clear();
  }

  std::string name; // empty if there is nothing to remove
  int descriptor;   // -1 if it is closed
};

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_UNFINISHEDFILE_H
