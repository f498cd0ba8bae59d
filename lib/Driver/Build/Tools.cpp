//===- Tools.cpp - The programs that programs are built with --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/Tools.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace gpuopt;

static std::string output(StringRef program, ArrayRef<StringRef> arguments,
                          bool hasErrors) {
  SmallString<128> log;
  if (sys::fs::createTemporaryFile("gpuopt", "log", log))
    return "";
  sys::ExecuteAndWait(program, arguments, std::nullopt,
                      {StringRef(""), StringRef(log),
                       hasErrors ? StringRef(log) : StringRef("")},
                      /*SecondsToWait=*/10);
  auto buffer = MemoryBuffer::getFile(log);
  sys::fs::remove(log);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

std::string gpuopt::outputOf(StringRef program, ArrayRef<StringRef> arguments) {
  return output(program, arguments, /*hasErrors=*/true);
}

std::string gpuopt::standardOutputOf(StringRef program,
                                     ArrayRef<StringRef> arguments) {
  return output(program, arguments, /*hasErrors=*/false);
}

/// Returns the first of `names` that is installed. `arguments` go before
/// --version.
static Tool find(ArrayRef<StringRef> names, ArrayRef<StringRef> moreFolders,
                 ArrayRef<StringRef> arguments) {
  for (StringRef name : names) {
    auto path = sys::findProgramByName(name);
    if (!path && !moreFolders.empty())
      path = sys::findProgramByName(name, moreFolders);
    // A name with a slash is returned as it is.
    if (!path || !sys::fs::can_execute(*path))
      continue;
    SmallVector<StringRef> command = {*path};
    append_range(command, arguments);
    command.push_back("--version");
    return {
        *path, {arguments.begin(), arguments.end()}, outputOf(*path, command)};
  }
  return {};
}

Tool gpuopt::findTool(ArrayRef<StringRef> names,
                      ArrayRef<StringRef> moreFolders) {
  return find(names, moreFolders, {});
}

/// Returns the compiler that an environment variable names or, without the
/// variable, the first of `names` that is installed.
static Tool findCompiler(const char *variable, ArrayRef<StringRef> names,
                         ArrayRef<StringRef> moreFolders = {}) {
  const char *given = getenv(variable);
  SmallVector<StringRef> command;
  StringRef(given ? given : "")
      .split(command, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (command.empty())
    return find(names, moreFolders, {});
  return find(command[0], moreFolders, ArrayRef(command).drop_front());
}

Tool gpuopt::findCxxCompiler() {
  return findCompiler("CXX", {"c++", "g++", "clang++"});
}

Tool gpuopt::findCudaCompiler() {
  return findCompiler("CUDACXX", {"nvcc"},
                      {"/usr/local/cuda/bin", "/usr/local/cuda-13.0/bin"});
}
