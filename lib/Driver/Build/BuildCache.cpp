//===- BuildCache.cpp - Trainers that have been built ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An executable is kept as <cache>/<key>/<name>. Each process builds it in a
// folder of its own, <cache>/<key>/build-*, and then renames it to its place.
// If two processes build the same program at once, the second executable
// replaces the first; both are right. A build that fails leaves its output as
// <cache>/<key>/*.log. What programs have in common is kept as
// <cache>/objects/<hash>.o (lib/Runtime/program/object-cache.cmake). Behind
// each build, what has not been used for long is removed if the cache is too
// large.
//
//===----------------------------------------------------------------------===//

#include "Build/BuildCache.h"

#include "Build/BuildErrors.h"
#include "Build/BuildKey.h"
#include "Build/CacheLimit.h"
#include "Build/Tools.h"
#include "Files/JoinPath.h"
#include "Files/ScratchFolder.h"
#include "gpuopt/device/cpu_quota.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;
using namespace gpuopt;

/// Returns the folder that an environment variable names; nothing if its value
/// is not an absolute path.
static std::string folderOf(const char *variable) {
  const char *value = getenv(variable);
  return value && sys::path::is_absolute(value) ? value : "";
}

std::string gpuopt::buildCacheFolder(StringRef outputDir) {
  if (std::string cache = folderOf("XDG_CACHE_HOME"); !cache.empty())
    return joinPath(cache, "gpuopt");
  if (std::string home = folderOf("HOME"); !home.empty())
    return joinPath(home, ".cache/gpuopt");
  return joinPath(outputDir, "build");
}

Error gpuopt::checkBuildPaths(StringRef folder, StringRef cache) {
  for (auto [path, remedy] :
       {std::pair(cache, "set XDG_CACHE_HOME, where programs are built, to a "
                         "folder whose path has none"),
        {folder, "choose another output folder"}}) {
    SmallString<256> absolute(path);
    if (sys::fs::make_absolute(absolute) || !absolute.str().contains(';'))
      continue;
    return createStringError(
        "the path '" + absolute +
        "' has a semicolon, at which CMake splits paths: " + remedy);
  }
  return Error::success();
}

/// Runs a command, writes its output to `log`, and returns its exit status.
static Expected<int> execute(ArrayRef<std::string> command, StringRef log) {
  auto program = sys::findProgramByName(command[0]);
  if (!program)
    return createStringError("'" + command[0] + "' is not installed");
  SmallVector<StringRef> arguments(command.begin(), command.end());
  std::optional<StringRef> redirects[] = {std::nullopt, log, log};
  std::string problem;
  int status =
      sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  // A command that fails by itself has said why in its output; one that cannot
  // run or is killed by a signal has not.
  if (status < 0)
    return createStringError("'" + command[0] + "': " + problem);
  return status;
}

/// Removes what killed builds have left, folders and copies of objects: what is
/// older than a day, since no build takes that long.
static void removeAbandoned(StringRef folder) {
  auto yesterday = std::chrono::system_clock::now() - std::chrono::hours(24);
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code)) {
    sys::fs::file_status status;
    StringRef name = sys::path::filename(entry->path());
    if ((name.starts_with("build-") || name.ends_with(".unfinished")) &&
        !sys::fs::status(entry->path(), status) &&
        status.getLastModificationTime() < yesterday)
      sys::fs::remove_directories(entry->path());
  }
}

/// Moves the log to `kept`, prints its end unless the program itself has said
/// what it lacks, and returns its first error.
static Error buildFailure(StringRef log, StringRef kept) {
  std::string cause;
  if (auto buffer = MemoryBuffer::getFile(log)) {
    StringRef text = (*buffer)->getBuffer();
    cause = ownErrorOf(text);
    if (!cause.empty()) {
      cause += "; gpuopt doctor tells of all that is needed";
    } else {
      errs() << text.take_back(4000);
      cause = firstErrorOf(text);
    }
  }
  sys::fs::rename(log, kept);
  // This message comes last and names the cause, for a reader who looks only at
  // the end of the output.
  return createStringError("the emitted program does not build, see '" + kept +
                           "': " + (cause.empty() ? "no output" : cause));
}

static double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Returns whether the dynamic loader finds the libraries of an executable:
/// they may have been upgraded, or be another machine's. With this variable,
/// which ldd sets as well, the loader lists the libraries and runs nothing.
static bool hasItsLibraries(StringRef path) {
  std::string list = outputOf(
      "/usr/bin/env", {"env", "LD_TRACE_LOADED_OBJECTS=1", path, "--help"});
  return !StringRef(list).contains("not found");
}

Expected<std::string> gpuopt::buildProgram(StringRef folder,
                                           const TargetInfo &target,
                                           StringRef cache,
                                           const Executable &executable) {
  if (Error error = checkBuildPaths(folder, cache))
    return std::move(error);
  BuildMachine machine = BuildMachine::find(target, executable.readsParquet);
  std::string kept =
      joinPath(cache, buildKey(folder, target, machine) +
                          (executable.readsParquet ? "-parquet" : ""));
  std::string path = joinPath(kept, executable.name);
  noteUse(path);
  if (sys::fs::can_execute(path) && hasItsLibraries(path))
    return path;
  Expected<int64_t> limit = cacheLimit();
  if (!limit)
    return limit.takeError();
  if (!executable.isQuiet)
    outs() << "building " << executable.what << " (target " << target.name
           << ") in " << kept << "\n";
  outs().flush();
  const auto begin = std::chrono::steady_clock::now();
  if (sys::fs::create_directories(kept))
    return createStringError("cannot create '" + kept + "'");
  std::string objects = joinPath(cache, "objects");
  removeAbandoned(kept);
  removeAbandoned(objects);
  auto scratch = ScratchFolder::create(kept + "/build");
  if (!scratch)
    return scratch.takeError();
  std::string build = scratch->pathOf("");
  std::vector<std::string> configure = {"cmake",
                                        "-S",
                                        folder.str(),
                                        "-B",
                                        build,
                                        "-DGPUOPT_TARGET=" +
                                            std::string(target.name),
                                        "-DGPUOPT_OBJECT_CACHE=" + objects};
  if (executable.readsParquet)
    configure.insert(configure.end(),
                     {"-DGPUOPT_PARQUET=ON", "-DPYARROW=" + machine.pyarrow});
  std::pair<StringRef, std::vector<std::string>> steps[] = {
      {"build.log", std::move(configure)},
      {"compile.log",
       {"cmake", "--build", build, "--parallel",
        std::to_string(cores_within_quota())}}};
  for (auto &[log, command] : steps) {
    auto status = execute(command, scratch->pathOf(log));
    if (!status)
      return status.takeError();
    if (*status != 0)
      return buildFailure(scratch->pathOf(log), joinPath(kept, log));
  }
  if (sys::fs::rename(scratch->pathOf(executable.name), path))
    return buildFailure(scratch->pathOf("compile.log"),
                        joinPath(kept, "compile.log"));
  trimCache(cache, *limit);
  if (!executable.isQuiet)
    outs() << "built in " << formatv("{0:f0}", secondsSince(begin)) << " s\n";
  return path;
}
