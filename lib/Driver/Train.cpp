//===- Train.cpp - Compile, build and run in one go -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildErrors.h"
#include "OutputDirectory.h"
#include "gpuopt/Driver/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace llvm;
using namespace gpuopt;

static std::string joinPath(StringRef folder, const Twine &name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

static int failure(const Twine &what) {
  errs() << "gpuopt: error: " << what << "\n";
  return 1;
}

/// Runs a command; its output goes to `log`.
static int execute(ArrayRef<std::string> command, StringRef log) {
  auto program = sys::findProgramByName(command[0]);
  if (!program)
    return failure("'" + command[0] + "' is not installed");
  SmallVector<StringRef> arguments(command.begin(), command.end());
  std::optional<StringRef> redirects[] = {std::nullopt, log, log};
  if (!log.empty())
    sys::fs::remove(log); // a shorter output would leave an older one's end
  std::string problem;
  int status =
      sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  // A signal says nothing of its own; an exit status does.
  return status < 0 ? failure("'" + command[0] + "': " + problem) : status;
}

/// step.cu without what `trainModel` gives as flags.
static std::string withoutDefaults(StringRef source) {
  auto [before, rest] = source.split(kFlagDefaultsBegin);
  return (before + rest.split(kFlagDefaultsEnd).second).str();
}

/// A hash of everything that the executable is made of.
static std::string contentHash(StringRef program, StringRef target) {
  SHA256 hash;
  hash.update(target);
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::recursive_directory_iterator file(program, code), end;
       !code && file != end; file.increment(code))
    if (StringRef(file->path()).ends_with(".h") ||
        StringRef(file->path()).ends_with(".cu") ||
        StringRef(file->path()).ends_with(".cpp") ||
        StringRef(file->path()).ends_with(".txt"))
      files.push_back(file->path());
  llvm::sort(files);
  for (const std::string &file : files)
    if (auto buffer = MemoryBuffer::getFile(file))
      hash.update(withoutDefaults((*buffer)->getBuffer()));
  return toHex(hash.final(), /*LowerCase=*/true).substr(0, 24);
}

static std::string cacheFolder() {
  if (const char *cache = getenv("XDG_CACHE_HOME"))
    return joinPath(cache, "gpuopt");
  const char *home = getenv("HOME");
  return joinPath(home ? home : "/tmp", ".cache/gpuopt");
}

/// Builds the program unless the same one has been built before; returns the
/// executable, empty after a failure.
static std::string buildProgram(const std::string &program,
                                const std::string &target) {
  std::string build = joinPath(cacheFolder(), contentHash(program, target)),
              executable = joinPath(build, "trainer");
  if (sys::fs::exists(executable))
    return executable;
  outs() << "building the trainer (target " << target << ") in " << build
         << "\n";
  outs().flush();
  if (sys::fs::create_directories(build))
    return failure("cannot create '" + build + "'"), "";
  std::string log = joinPath(build, "build.log");
  int status = execute(
      {"cmake", "-S", program, "-B", build, "-DGPUOPT_TARGET=" + target}, log);
  if (status == 0) {
    log = joinPath(build, "compile.log");
    status = execute({"cmake", "--build", build}, log);
  }
  if (status == 0 && sys::fs::exists(executable))
    return executable;
  std::string cause;
  if (auto buffer = MemoryBuffer::getFile(log)) {
    errs() << (*buffer)->getBuffer().take_back(4000);
    cause = firstErrorOf((*buffer)->getBuffer());
  }
  // Last of all, and with the cause, where only the end is looked at.
  return failure("the emitted program does not build, see '" + log +
                 "': " + (cause.empty() ? "no output" : cause)),
         "";
}

/// Becomes the command, so that signals are the trainer's: it saves at Ctrl-C,
/// and its end is the end of this process. Returns where that fails.
static int become(ArrayRef<std::string> command) {
  outs().flush();
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  return failure("cannot run '" + command[0] + "': " + strerror(errno));
}

static TrainerFeatures features(const DriverOptions &options) {
  TrainerFeatures features;
  features.hasAdam = options.pipeline.step.optimizer == "adamw";
  features.hasMomentum = !features.hasAdam && options.pipeline.step.useMomentum;
  features.scalesLoss = options.pipeline.lossScaling.enabled;
  return features;
}

int gpuopt::trainModel(const DriverOptions &options) {
  DriverOptions compile = options;
  if (Error error = OutputDirectory::checkResults(options.outputDir))
    return failure(toString(std::move(error)));
  std::string program = OutputDirectory::programBelow(options.outputDir);
  compile.outputDir = program;
  if (int status = compileModel(compile))
    return status;
  std::string executable = buildProgram(program, options.target);
  if (executable.empty())
    return 1;
  sys::fs::copy_file(joinPath(program, "plan.json"),
                     joinPath(options.outputDir, "plan.json"));
  std::vector<std::string> command{
      executable, "--weights=" + joinPath(program, "model.safetensors"),
      "--output-dir=" + options.outputDir};
  // The executable may have been built with other defaults.
  for (std::string &flag : flagsOfDefaults(options.emission, features(options)))
    command.push_back(std::move(flag));
  command.insert(command.end(), options.runArguments.begin(),
                 options.runArguments.end());
  // Idle threads must not spin while the others work.
  setenv("OMP_WAIT_POLICY", "passive", /*overwrite=*/0);
  return become(command);
}
