//===- OutputDirectory.cpp - A folder that appears whole or not at all ----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/OutputDirectory.h"

#include "Files/FolderContents.h"
#include "Files/JoinPath.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "gpuopt/trainer/folder_marks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <filesystem>

using namespace llvm;
using namespace gpuopt;

static Error failure(const Twine &what, StringRef path, std::error_code code) {
  return createStringError(what + " '" + path + "': " + code.message());
}

static SmallString<256> withoutSeparators(StringRef path) {
  SmallString<256> target(path);
  while (target.size() > 1 && sys::path::is_separator(target.back()))
    target.pop_back();
  return target;
}

/// Returns the folder that a path means, without links and dots: "a/../b" is b
/// even where there is no a, and what a link leads to is replaced in place of
/// the link.
static Expected<std::string> resolved(StringRef path) {
  namespace fs = std::filesystem;
  fs::path target = withoutSeparators(path).c_str();
  std::error_code code;
  if (fs::is_symlink(target, code) && !fs::exists(target, code))
    return createStringError("output directory '" + target.string() +
                             "' is a symbolic link to '" +
                             fs::read_symlink(target, code).string() +
                             "', which does not exist; make that folder, or "
                             "remove the link");
  fs::path whole = fs::weakly_canonical(fs::absolute(target, code), code);
  if (!code) // dots behind what does not exist may have hidden a link
    whole = fs::weakly_canonical(whole, code);
  if (code)
    return failure("cannot read", path, code);
  return withoutSeparators(whole.string()).str().str();
}

/// Fails if a folder cannot be renamed, or if that would leave this process or
/// the user's shell in a folder that is removed.
static Error checkRenamed(StringRef target) {
  namespace fs = std::filesystem;
  std::error_code code;
  fs::path folder = target.str(), current = fs::current_path(code);
  if (code || !fs::exists(folder, code))
    return Error::success();
  auto ends = std::mismatch(folder.begin(), folder.end(), current.begin(),
                            current.end());
  if (ends.first == folder.end())
    return createStringError(
        "output directory '" + target +
        "' is replaced as a whole, but is the folder that gpuopt runs in, or "
        "one above it; run gpuopt from another folder, or choose a new one");
  sys::fs::UniqueID id, above;
  if (!sys::fs::getUniqueID(target, id) &&
      !sys::fs::getUniqueID(sys::path::parent_path(target), above) &&
      id.getDevice() != above.getDevice())
    return createStringError("output directory '" + target +
                             "' is replaced as a whole, but is a mount point, "
                             "which cannot be; choose a folder in it: '" +
                             joinPath(target, kProgramFolder) + "'");
  return Error::success();
}

/// Fails if new entries cannot be written to the nearest folder above `path`
/// that exists.
static Error checkParents(StringRef path) {
  StringRef parent = sys::path::parent_path(path);
  while (!parent.empty() && !sys::fs::exists(parent))
    parent = sys::path::parent_path(parent);
  if (parent.empty())
    parent = ".";
  if (!sys::fs::is_directory(parent))
    return failure("cannot create '" + path + "': below", parent,
                   std::make_error_code(std::errc::not_a_directory));
  if (std::error_code code =
          sys::fs::access(parent, sys::fs::AccessMode::Write))
    return failure("cannot create '" + path + "': below", parent, code);
  return Error::success();
}

static std::vector<std::string> namesIn(StringRef folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code))
    names.push_back(sys::path::filename(entry->path()).str());
  llvm::sort(names);
  return names;
}

static Error checkTarget(StringRef path,
                         bool (*isOurs)(const std::filesystem::path &)) {
  SmallString<256> target = withoutSeparators(path);
  if (!sys::fs::exists(target))
    return checkParents(target);
  if (isOurs(target.c_str()) || is_vacant(target.c_str()))
    return Error::success();
  if (std::string contents = contentsOfFolder(target.str().str());
      !contents.empty())
    return createStringError("output directory '" + Twine(target) + "' has " +
                             contents +
                             ", which would be mixed with others; choose "
                             "another one or remove it");
  if (!sys::fs::is_directory(target))
    return createStringError("'" + Twine(target) +
                             "' is a file, but an output directory is a "
                             "folder; choose a new or an empty one");
  std::vector<std::string> names = namesIn(target);
  return createStringError(
      "output directory '" + Twine(target) + "' holds " +
      (names.empty() ? "what cannot be read" : "'" + names.front() + "'") +
      ", which gpuopt has not written; choose a new or an "
      "empty folder");
}

/// Returns what others have put into the folder of a program: builds, results,
/// notes.
static std::vector<std::string> othersIn(StringRef folder) {
  std::vector<std::string> own = files_of_program(folder.str()),
                           names = namesIn(folder);
  llvm::erase_if(names,
                 [&](StringRef name) { return is_contained(own, name); });
  return names;
}

Error OutputDirectory::check(StringRef path) {
  Expected<std::string> target = resolved(path);
  if (!target)
    return target.takeError();
  if (Error error = checkTarget(*target, holds_program))
    return error;
  return checkRenamed(*target);
}

Error OutputDirectory::checkResults(StringRef path,
                                    const TrainingSettings &settings) {
  if (Error error = checkTarget(path, holds_results))
    return error;
  for (const auto &[flag, value] :
       {std::pair("--init-from", settings.init_from),
        std::pair("--resume", settings.resume)})
    if (std::string why = why_not_read(flag, value, path.str()); !why.empty())
      return createStringError(why);
  if (std::string why = why_not_anew(path.str(), settings.resume,
                                     settings.overwrite_output_dir);
      !why.empty())
    return createStringError("output directory " + Twine(why));
  return Error::success();
}

std::string OutputDirectory::programBelow(StringRef path) {
  return joinPath(path, kProgramFolder);
}

Expected<OutputDirectory> OutputDirectory::create(StringRef path) {
  if (Error error = check(path))
    return std::move(error);
  Expected<std::string> target = resolved(path);
  if (!target)
    return target.takeError();
  if (StringRef parent = sys::path::parent_path(*target); !parent.empty())
    if (std::error_code code = sys::fs::create_directories(parent))
      return failure("cannot create", parent, code);
  auto scratch = ScratchFolder::create(*target + ".part");
  if (!scratch)
    return scratch.takeError();
  OutputDirectory directory(*target, std::move(*scratch));
  if (std::error_code code = sys::fs::create_directory(directory.files))
    return failure("cannot create", directory.files, code);
  return directory;
}

std::string OutputDirectory::pathOf(StringRef name) const {
  return joinPath(files, name);
}

Error OutputDirectory::write(StringRef name, StringRef contents) {
  std::error_code code;
  raw_fd_ostream stream(pathOf(name), code);
  if (!code) {
    stream << contents;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? failure("cannot write", pathOf(name), code) : Error::success();
}

Error OutputDirectory::copyFolder(StringRef from, StringRef name) {
  std::string to = name.empty() ? files : pathOf(name);
  if (std::error_code code = sys::fs::create_directories(to))
    return failure("cannot create", to, code);
  std::error_code code;
  for (sys::fs::directory_iterator file(from, code), end; !code && file != end;
       file.increment(code)) {
    StringRef path = file->path();
    std::string target = joinPath(name, sys::path::filename(path));
    if (sys::fs::is_directory(path)) {
      if (Error error = copyFolder(path, target))
        return error;
    } else if (std::error_code copyCode =
                   sys::fs::copy_file(path, pathOf(target))) {
      return failure("cannot copy", path, copyCode);
    }
  }
  return code ? failure("cannot read", from, code) : Error::success();
}

Error OutputDirectory::checkReplaced(StringRef path,
                                     ArrayRef<std::string> names) {
  for (const std::string &name : othersIn(path))
    if (is_contained(names, name))
      return createStringError(
          "'" + joinPath(path, name) +
          "' was not written by gpuopt and would be replaced; move it");
  return Error::success();
}

Error OutputDirectory::commit() {
  std::vector<std::string> names = namesIn(files), kept = othersIn(target);
  if (Error error = checkReplaced(target, names))
    return error;
  names.push_back(kProgramMark);
  if (Error error =
          write(kProgramMark,
                (Twine(kProgramTitle) + "\n" + join(names, "\n") + "\n").str()))
    return error;
  // The old folder is removed only once the new one is in its place.
  std::string old = scratch.pathOf("old");
  bool replaces = sys::fs::exists(target);
  if (replaces)
    if (std::error_code code = sys::fs::rename(target, old))
      return failure("cannot replace", target, code);
  if (std::error_code code = sys::fs::rename(files, target)) {
    if (!replaces || !sys::fs::rename(old, target))
      return failure("cannot write", target, code);
    scratch.keep(); // the only copy of the old folder is there
    return failure("the earlier files now lie in '" + old +
                       "', because gpuopt cannot write",
                   target, code);
  }
  for (const std::string &name : kept)
    if (std::error_code code =
            sys::fs::rename(joinPath(old, name), joinPath(target, name))) {
      scratch.keep();
      return failure("cannot keep", joinPath(old, name), code);
    }
  return Error::success();
}
