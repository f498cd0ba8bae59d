//===- Machine.cpp - The machine that gpuopt runs on ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/CacheLimit.h"
#include "Doctor/Finding.h"
#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/device/cpu_quota.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"

using namespace llvm;
using namespace gpuopt;

using State = Finding::State;

/// A compiler takes up to this much memory, and a build that much of the disk.
static constexpr int64_t kCompilerBytes = int64_t(2) << 30;
static constexpr int64_t kBuildBytes = int64_t(256) << 20;

/// Returns what follows `key` in the first line of a file of /proc that begins
/// with it.
static std::string valueIn(StringRef file, StringRef key) {
  auto buffer = MemoryBuffer::getFileAsStream(file);
  if (!buffer)
    return "";
  StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    if (line.consume_front(key))
      return line.ltrim(" \t:").rtrim().str();
    rest = after;
  }
  return "";
}

static Finding findProcessor() {
  std::string name = valueIn("/proc/cpuinfo", "model name");
  unsigned cores = hardware_concurrency().compute_thread_count();
  std::string text =
      formatv("{0}, {1} thread{2}", name.empty() ? "of an unknown name" : name,
              cores, cores == 1 ? "" : "s");
  if (double quota = cpu_quota(); quota < cores)
    text +=
        formatv(", of which this container may use {0}", format("%.1f", quota))
            .str();
  return {State::Found, "processor", text};
}

static Finding findMemory() {
  auto bytesOf = [](StringRef key) {
    int64_t kibibytes = 0;
    std::string text = valueIn("/proc/meminfo", key);
    StringRef number = text;
    return number.consumeInteger(10, kibibytes) ? 0 : kibibytes * 1024;
  };
  int64_t all = bytesOf("MemTotal:"), available = bytesOf("MemAvailable:");
  Finding finding{State::Found, "memory",
                  planning::formatBytes(all) + ", " +
                      planning::formatBytes(available) + " available"};
  if (available < kCompilerBytes) {
    finding.state = State::Unfit;
    finding.text += ", but a compiler takes up to " +
                    planning::formatBytes(kCompilerBytes) +
                    ": end other programs, or add swap space";
  }
  return finding;
}

/// Looks at the disk of the folder or, where it is still to be made, of the
/// one above it.
static Finding findDisk(StringRef folder) {
  while (!folder.empty() && !sys::fs::exists(folder))
    folder = sys::path::parent_path(folder);
  ErrorOr<sys::fs::space_info> space =
      sys::fs::disk_space(folder.empty() ? "." : folder);
  if (!space)
    return {State::Unfit, "disk",
            "cannot be asked at '" + folder.str() +
                "': " + space.getError().message()};
  int64_t bytes = int64_t(space->available);
  Finding finding{State::Found, "disk",
                  planning::formatBytes(bytes) + " free for executables (" +
                      folder.str() + ")"};
  if (bytes < kBuildBytes) {
    finding.state = State::Unfit;
    finding.text += ", but a build takes up to " +
                    planning::formatBytes(kBuildBytes) +
                    ": remove files, or let XDG_CACHE_HOME name a folder "
                    "elsewhere";
  }
  return finding;
}

/// Says what the build cache holds, and how much it may.
static Finding findCache(StringRef cache) {
  Expected<int64_t> limit = cacheLimit();
  if (!limit)
    return {State::Unfit, "build cache", toString(limit.takeError())};
  CacheContent content = contentOfCache(cache);
  return {State::Found, "build cache",
          planning::formatBytes(content.bytes) + " of at most " +
              planning::formatBytes(*limit) + " (" + kCacheLimitVariable.str() +
              "), " + std::to_string(content.programs) + " programs and " +
              std::to_string(content.objects) + " objects (" + cache.str() +
              ")"};
}

Findings gpuopt::examineMachine(const std::string &cache) {
  return {"This machine",
          nullptr,
          {findProcessor(), findMemory(), findDisk(cache), findCache(cache)}};
}
