//===- BuildKey.cpp - What tells builds of programs apart -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/BuildKey.h"

#include "Build/Tools.h"
#include "Files/TextHasher.h"
#include "gpuopt/Driver/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"

#include <vector>

using namespace llvm;
using namespace gpuopt;

static std::string described(const Tool &tool) {
  return tool.path.empty() ? "" : tool.path + "\n" + tool.output;
}

static std::string environment(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

/// Returns the compilers with their flags, and where CMake finds libraries.
static std::string compilersOf(const TargetInfo &target) {
  std::string found = described(findCxxCompiler());
  std::vector<const char *> flags = {"CXX",
                                     "CXXFLAGS",
                                     "LDFLAGS",
                                     "CMAKE_PREFIX_PATH",
                                     "CMAKE_LIBRARY_PATH",
                                     "CMAKE_INCLUDE_PATH"};
  if (target.runs_on_gpu) {
    found += described(findCudaCompiler());
    flags.insert(flags.end(),
                 {"CUDACXX", "CUDAFLAGS", "CUDAHOSTCXX", "CUDAARCHS",
                  "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"});
  }
  for (const char *flag : flags)
    found += flag + ("=" + environment(flag)) + "\n";
  return found;
}

/// Returns the model of this processor and the features that the operating
/// system lets programs use.
static std::string thisProcessor() {
  std::vector<std::string> features;
  for (const auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  return sys::getHostCPUName().str() + " " + join(features, " ");
}

/// Returns the folder of the wheel pyarrow: the one that the environment names,
/// or that python3 finds elsewhere than in the current directory.
static std::string findPyarrow() {
  if (std::string folder = environment("PYARROW"); !folder.empty())
    return folder;
  auto python = sys::findProgramByName("python3");
  if (!python)
    return "";
  std::string folder = standardOutputOf(
      *python, {*python, "-c",
                "import sys; sys.path = [path for path in sys.path if path]; "
                "import importlib.util as u; print(u.find_spec('pyarrow')."
                "submodule_search_locations[0], end='')"});
  return sys::fs::is_directory(folder) ? folder : "";
}

/// Returns what tells where parquet.cmake finds Apache Arrow: the libraries of
/// pyarrow, and where CMake looks besides.
static std::string thisArrow(StringRef pyarrow) {
  std::vector<std::string> libraries;
  std::error_code code;
  for (sys::fs::directory_iterator file(pyarrow, code), end;
       !code && file != end; file.increment(code))
    if (StringRef name = sys::path::filename(file->path());
        name.starts_with("libarrow.so") || name.starts_with("libparquet.so"))
      libraries.push_back(file->path());
  llvm::sort(libraries);
  std::string found = join(libraries, "\n") + "\n";
  for (const char *variable : {"Parquet_DIR", "Parquet_ROOT", "Arrow_DIR"})
    found += variable + ("=" + environment(variable)) + "\n";
  return found;
}

BuildMachine BuildMachine::find(const TargetInfo &target, bool readsParquet) {
  BuildMachine machine{compilersOf(target),
                       target.is_cuda ? "" : thisProcessor(), ""};
  if (readsParquet) {
    machine.pyarrow = findPyarrow();
    machine.arrow = thisArrow(machine.pyarrow);
  }
  return machine;
}

/// Returns whether an executable depends on a file. It does not depend on the
/// file of defaults, which `trainModel` overrides by flags.
static bool isSource(StringRef file) {
  if (sys::path::filename(file) == kDefaultsFile)
    return false;
  constexpr StringLiteral kEndings[] = {".h", ".cu", ".cpp", ".txt", ".cmake"};
  return any_of(kEndings,
                [&](StringRef ending) { return file.ends_with(ending); });
}

static std::vector<std::string> sourcesOf(StringRef folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::recursive_directory_iterator file(folder, code), end;
       !code && file != end; file.increment(code))
    if (isSource(file->path()))
      files.push_back(file->path());
  llvm::sort(files);
  return files;
}

std::string gpuopt::buildKey(StringRef folder, const TargetInfo &target,
                             const BuildMachine &machine) {
  TextHasher hasher;
  hasher.add(target.name);
  hasher.add(machine.compilers);
  hasher.add(machine.processor);
  hasher.add(machine.arrow);
  hasher.add(machine.pyarrow);
  for (const std::string &file : sourcesOf(folder))
    if (auto buffer = MemoryBuffer::getFile(file)) {
      hasher.add(StringRef(file).drop_front(folder.size()));
      hasher.add((*buffer)->getBuffer());
    }
  return hasher.digits(24);
}
