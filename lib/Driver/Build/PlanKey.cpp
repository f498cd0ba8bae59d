//===- PlanKey.cpp - What tells plans apart -------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/PlanKey.h"

#include "Build/BuildCache.h"
#include "Files/JoinPath.h"
#include "Files/TextHasher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"

#include <set>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace gpuopt;

namespace {
class PlanHasher : public TextHasher {
public:
  void addContents(StringRef file) {
    add(file);
    auto buffer = MemoryBuffer::getFile(file);
    if (!buffer)
      return add(buffer.getError().message());
    XXH128_hash_t contents =
        xxh3_128bits(arrayRefFromStringRef((*buffer)->getBuffer()));
    add(utohexstr(contents.high64) + "." + utohexstr(contents.low64));
  }
  /// Adds which file this is, and when it was written.
  void addStatus(StringRef file) {
    add(file);
    sys::fs::file_status status;
    if (std::error_code code = sys::fs::status(file, status))
      return add(code.message());
    add(std::to_string(status.getSize()) + " " +
        std::to_string(status.getUniqueID().getFile()) + " " +
        std::to_string(
            status.getLastModificationTime().time_since_epoch().count()));
  }
};
} // namespace

/// Returns the files that a model names as places of its tensors: the values of
/// its entries with the key "location". Bytes that only look like one do no
/// harm.
static std::set<std::string> externalFilesOf(StringRef model) {
  // The fields of a StringStringEntryProto are key, 1, and value, 2.
  constexpr StringLiteral kKey = "\x0a\x08location\x12";
  std::set<std::string> files;
  for (size_t at = model.find(kKey); at != StringRef::npos;
       at = model.find(kKey, at + 1)) {
    StringRef rest = model.drop_front(at + kKey.size());
    unsigned bytes = 0;
    const char *problem = nullptr;
    uint64_t length =
        decodeULEB128(rest.bytes_begin(), &bytes, rest.bytes_end(), &problem);
    if (!problem && length <= rest.size() - bytes)
      files.insert(rest.substr(bytes, length).str());
  }
  return files;
}

static void addModel(const std::string &model, PlanHasher &hasher) {
  hasher.addContents(model);
  auto buffer = MemoryBuffer::getFile(model);
  if (!buffer)
    return;
  for (const std::string &file : externalFilesOf((*buffer)->getBuffer()))
    hasher.addStatus(joinPath(sys::path::parent_path(model), file));
}

/// Adds a flag, and the files that it may name: all that follows an equals sign
/// or a comma.
static void addFlag(StringRef folder, StringRef word, PlanHasher &hasher) {
  hasher.add(word);
  for (size_t at = word.find_first_of("=,"); at != StringRef::npos;
       at = word.find_first_of("=,", at + 1)) {
    SmallString<256> file(word.drop_front(at + 1));
    if (!file.empty())
      sys::path::make_absolute(folder, file);
    if (sys::fs::is_regular_file(file))
      hasher.addContents(file);
  }
}

/// Adds the devices that gpuopt calibrate has measured, of which a plan takes
/// this machine's where no flag names another one.
static void addCalibrations(PlanHasher &hasher) {
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::directory_iterator file(buildCacheFolder("."), code), end;
       !code && file != end; file.increment(code))
    if (StringRef(file->path()).ends_with(".json"))
      files.push_back(file->path());
  llvm::sort(files);
  for (const std::string &file : files)
    hasher.addContents(file);
}

std::string gpuopt::planKey(StringRef folder, ArrayRef<std::string> words) {
  PlanHasher hasher;
  static int anchor; // an address in this program
  hasher.addStatus(sys::fs::getMainExecutable("gpuopt", &anchor));
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  hasher.add(host);
  hasher.add(sys::getHostCPUName());
  hasher.add(std::to_string(hardware_concurrency().compute_thread_count()));
  hasher.add(sys::fs::exists("/dev/nvidiactl") ? "GPU" : "no GPU");
  addCalibrations(hasher);
  hasher.add(folder);
  for (auto [i, word] : enumerate(words)) {
    SmallString<256> model(word);
    if (i == 0 && !folder.empty())
      sys::path::make_absolute(folder, model);
    i == 0 ? addModel(model.str().str(), hasher)
           : addFlag(folder, word, hasher);
  }
  return hasher.digits(32);
}
