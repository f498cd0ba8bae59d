//===- CacheLimit.cpp - How large the build cache may become --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When something was used is when its file was changed: whoever uses an
// executable or an object sets that time. (Many file systems do not note when a
// file is read.) Processes that trim the cache at once remove the same things.
// Calibrations of devices, which lie in the cache as well, are not touched, and
// neither are a program's choices of algorithms, autotune.txt: a training that
// is resumed takes them from there, for the same bits.
//
//===----------------------------------------------------------------------===//

#include "Build/CacheLimit.h"

#include "Files/JoinPath.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <vector>

using namespace llvm;
using namespace gpuopt;

namespace {
/// A program, which is a folder, or an object.
struct Kept {
  std::string path;
  bool isProgram;
  int64_t bytes = 0;
  sys::TimePoint<> used; ///< The latest time at which any of it was changed.
  bool isBeingBuilt = false;
};
} // namespace

static bool isHash(StringRef name, size_t length) {
  return name.size() == length && all_of(name, isHexDigit);
}

/// Calls the function with each entry of a folder.
template <typename Function>
static void forEachEntry(StringRef folder, Function function) {
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code))
    function(entry->path());
}

/// Returns whether a file in a program's folder records choices of algorithms.
static bool isRecord(StringRef file) {
  return sys::path::filename(file).starts_with("autotune.txt");
}

static void addFile(Kept &kept, StringRef file) {
  sys::fs::file_status status;
  if (sys::fs::status(file, status))
    return; // has been removed meanwhile
  if (status.type() == sys::fs::file_type::regular_file)
    kept.bytes += int64_t(status.getSize());
  kept.used = std::max(kept.used, status.getLastModificationTime());
}

/// Lists what may be removed: <key>, <key>-parquet and objects/<hash>.o. A
/// folder that holds nothing but records is no program any more.
static std::vector<Kept> listKept(StringRef cache) {
  std::vector<Kept> all;
  forEachEntry(cache, [&](const std::string &folder) {
    StringRef key = sys::path::filename(folder);
    key.consume_back("-parquet");
    if (!isHash(key, 24))
      return;
    Kept program{folder, /*isProgram=*/true};
    bool hasRecords = false, hasOthers = false;
    forEachEntry(folder, [&](const std::string &file) {
      (isRecord(file) ? hasRecords : hasOthers) = true;
      if (isRecord(file))
        return;
      addFile(program, file);
      program.isBeingBuilt |= sys::path::filename(file).starts_with("build-");
    });
    if (hasOthers || !hasRecords)
      all.push_back(program);
  });
  forEachEntry(joinPath(cache, "objects"), [&](const std::string &file) {
    StringRef name = sys::path::filename(file);
    if (!name.consume_back(".o") || !isHash(name, 64))
      return;
    all.push_back({file, /*isProgram=*/false});
    addFile(all.back(), file);
  });
  return all;
}

Expected<int64_t> gpuopt::cacheLimit() {
  const char *text = getenv(kCacheLimitVariable.data());
  if (!text || !*text)
    return kDefaultCacheLimit;
  planning::Result<int64_t> bytes = planning::parseBytes(text);
  if (!bytes)
    return createStringError("the environment variable '" +
                             kCacheLimitVariable + "' is '" + text +
                             "': " + bytes.error().message);
  return *bytes;
}

/// Removes an object, or a program but for its records. The folder of a program
/// stays if it has records.
static std::error_code removeKept(const Kept &kept) {
  if (!kept.isProgram)
    return sys::fs::remove(kept.path);
  forEachEntry(kept.path, [](const std::string &file) {
    if (!isRecord(file))
      sys::fs::remove_directories(file);
  });
  sys::fs::remove(kept.path);
  return {};
}

CacheContent gpuopt::contentOfCache(StringRef cache) {
  CacheContent content;
  for (const Kept &kept : listKept(cache)) {
    ++(kept.isProgram ? content.programs : content.objects);
    content.bytes += kept.bytes;
  }
  return content;
}

void gpuopt::trimCache(StringRef cache, int64_t limit) {
  std::vector<Kept> all = listKept(cache);
  int64_t bytes = 0;
  for (const Kept &kept : all)
    bytes += kept.bytes;
  llvm::sort(all, [](const Kept &a, const Kept &b) { return a.used < b.used; });
  auto now = std::chrono::system_clock::now();
  for (const Kept &kept : all) {
    // No build takes a day: what began before has been killed.
    std::chrono::hours least(kept.isBeingBuilt ? 24 : 1);
    if (bytes <= limit || kept.used > now - least)
      continue;
    if (!removeKept(kept))
      bytes -= kept.bytes;
  }
}

void gpuopt::noteUse(StringRef file) {
  int descriptor;
  if (sys::fs::openFileForRead(file, descriptor))
    return;
  // It fails where the cache is another user's, who then sees no use.
  (void)sys::fs::setLastAccessAndModificationTime(
      descriptor, std::chrono::system_clock::now());
  sys::fs::file_t handle = sys::fs::convertFDToNativeFile(descriptor);
  sys::fs::closeFile(handle);
}
