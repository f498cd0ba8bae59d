//===- NewFiles.h - Files that appear together or not at all ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_NEWFILES_H
#define GPUOPT_SUPPORT_NEWFILES_H

#include "gpuopt/Support/WriteFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"

#include <optional>
#include <string>

namespace gpuopt {

/// Files that are written under other names first, and get their own once all
/// of them are whole. If one cannot be written, none of them and no new folder
/// stays, and files that they would replace are as they were.
class NewFiles {
public:
  NewFiles() = default;
  NewFiles(const NewFiles &) = delete;
  NewFiles &operator=(const NewFiles &) = delete;
  ~NewFiles() {
    if (isPublished)
      return;
    for (const std::string &path : renamed)
      llvm::sys::fs::remove(path);
    entries.clear(); // which removes files that have not got their names
    for (const std::string &folder : llvm::reverse(folders))
      llvm::sys::fs::remove(folder); // which fails if there is something in it
  }

  /// Writes the contents beside `path`, in a new folder if there is none.
  /// Devices and pipes are written to when the files get their names.
  llvm::Error add(llvm::StringRef path, llvm::StringRef contents) {
    if (llvm::sys::fs::is_directory(path))
      return llvm::createStringError("it is a folder");
    if (std::error_code code =
            createFolders(llvm::sys::path::parent_path(path)))
      return llvm::errorCodeToError(code);
    if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
      entries.push_back({path.str(), std::nullopt, contents.str()});
      return llvm::Error::success();
    }
    llvm::Expected<UnfinishedFile> file = UnfinishedFile::create(path);
    if (!file)
      return file.takeError();
    llvm::raw_fd_ostream stream(file->getDescriptor(), /*shouldClose=*/false);
    entries.push_back({path.str(), std::move(*file), ""});
    stream << contents;
    stream.flush();
    std::error_code code = stream.error();
    stream.clear_error();
    return llvm::errorCodeToError(code);
  }

  /// Gives all files their names, in the order in which they were added. Sets
  /// `path` to the one that fails.
  llvm::Error publish(std::string &path) {
    for (Entry &entry : entries) {
      path = entry.path;
      if (!entry.file) {
        if (llvm::Error error = writeFile(path, entry.contents))
          return error;
        continue;
      }
      bool isNew = !llvm::sys::fs::exists(path);
      if (llvm::Error error = entry.file->keep(path))
        return error;
      entry.file.reset();
      if (isNew)
        renamed.push_back(path);
    }
    isPublished = true;
    return llvm::Error::success();
  }

private:
  struct Entry {
    std::string path;
    std::optional<UnfinishedFile> file; ///< None for devices and pipes.
    std::string contents;               ///< Of these alone.
  };

  std::error_code createFolders(llvm::StringRef folder) {
    llvm::SmallVector<std::string> missing;
    for (llvm::StringRef each = folder;
         !each.empty() && !llvm::sys::fs::exists(each);
         each = llvm::sys::path::parent_path(each))
      missing.push_back(each.str());
    for (const std::string &each : llvm::reverse(missing)) {
      if (std::error_code code = llvm::sys::fs::create_directory(each))
        return code;
      folders.push_back(each);
    }
    return {};
  }

  llvm::SmallVector<Entry, 0> entries;
  llvm::SmallVector<std::string> renamed, folders; // new ones
  bool isPublished = false;
};

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_NEWFILES_H
