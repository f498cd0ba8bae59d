//===- Libraries.cpp - Shared libraries and their versions ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Doctor/Libraries.h"

#include "Build/Tools.h"
#include "Files/JoinPath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace gpuopt;

/// Loads the first of the library's files that can be loaded. Sets `path` to
/// what was loaded.
static sys::DynamicLibrary
load(const Library &library, ArrayRef<std::string> folders, std::string &path) {
  for (StringRef file : library.files) {
    path = file.str();
    sys::DynamicLibrary loaded =
        sys::DynamicLibrary::getPermanentLibrary(path.c_str());
    if (loaded.isValid())
      return loaded;
    for (const std::string &folder : folders) {
      path = joinPath(folder, file);
      if (!sys::fs::exists(path))
        continue;
      loaded = sys::DynamicLibrary::getPermanentLibrary(path.c_str());
      if (loaded.isValid())
        return loaded;
    }
  }
  return sys::DynamicLibrary();
}

/// Whether the C++ compiler finds a header.
static bool compilerFinds(StringRef header) {
  static const Tool compiler = findCxxCompiler();
  if (compiler.path.empty())
    return false;
  SmallVector<StringRef> command = {compiler.path};
  append_range(command, compiler.arguments);
  command.append({"-E", "-x", "c++", "-include", header, "/dev/null"});
  return sys::ExecuteAndWait(compiler.path, command, std::nullopt,
                             {StringRef(""), StringRef(""), StringRef("")},
                             /*SecondsToWait=*/10) == 0;
}

/// Whether a header lies beside one of these folders of libraries, or the C++
/// compiler finds it.
static bool hasHeader(StringRef header, ArrayRef<std::string> folders) {
  return llvm::any_of(folders,
                      [&](StringRef folder) {
                        return sys::fs::exists(
                            joinPath(sys::path::parent_path(folder),
                                     "include/" + header.str()));
                      }) ||
         compilerFinds(header);
}

/// Says that a library is for another CUDA than programs are built with;
/// nothing if it is for the same, or for none.
static std::string describeOtherCuda(const Library &library,
                                     sys::DynamicLibrary &loaded) {
  void *function = library.cudaFunction
                       ? loaded.getAddressOfSymbol(library.cudaFunction)
                       : nullptr;
  if (!function || library.cuda.empty())
    return "";
  size_t number = reinterpret_cast<size_t (*)()>(function)();
  VersionTuple own(unsigned(number / 1000), unsigned(number % 1000 / 10));
  if (number == 0 || own.getMajor() == library.cuda.getMajor())
    return "";
  return ", but it is for CUDA " + own.getAsString() +
         ", and nvcc is of CUDA " + library.cuda.getAsString() + ": " +
         library.advice.str();
}

Finding gpuopt::findLibrary(const Library &library,
                            ArrayRef<std::string> folders) {
  using State = Finding::State;
  Finding finding{State::Missing, library.name.str(),
                  "is not found: " + library.advice.str()};
  std::string path;
  sys::DynamicLibrary loaded = load(library, folders, path);
  if (!loaded.isValid())
    return finding;
  if (!hasHeader(library.header, folders))
    return {State::Missing, library.name.str(),
            "is found (" + path + "), but not its header " +
                library.header.str() + ": " + library.advice.str()};
  void *function = library.versionFunction
                       ? loaded.getAddressOfSymbol(library.versionFunction)
                       : nullptr;
  if (!function)
    return {State::Found, library.name.str(), path};
  VersionTuple version = library.version(function);
  finding.text = version.getAsString() + " (" + path + ")";
  bool isOld = version < library.least;
  bool isNew = !library.next.empty() && !(version < library.next);
  finding.state = isOld || isNew ? State::Unfit : State::Found;
  if (isOld)
    finding.text += ", but " + library.least.getAsString() +
                    " or later is needed: " + library.advice.str();
  if (isNew)
    finding.text += ", but one before " + library.next.getAsString() +
                    " is needed: " + library.advice.str();
  if (std::string other = describeOtherCuda(library, loaded); !other.empty()) {
    finding.state = State::Unfit;
    finding.text += other;
  }
  return finding;
}

Finding gpuopt::findHeader(StringRef name, StringRef header,
                           ArrayRef<std::string> folders, StringRef advice) {
  if (hasHeader(header, folders))
    return {Finding::State::Found, name.str(), header.str()};
  return {Finding::State::Missing, name.str(),
          header.str() + " is not found: " + advice.str()};
}

/// Returns the folders of NVIDIA's wheels, as programs find them.
static std::vector<std::string> wheels() {
  std::string folders;
  if (const char *given = getenv("NVIDIA_WHEELS"))
    folders = given;
  else if (auto python = sys::findProgramByName("python3"))
    folders = outputOf(
        *python, {*python, "-c", "import nvidia;print(*nvidia.__path__)"});
  SmallVector<StringRef> list;
  SplitString(folders, list);
  return {list.begin(), list.end()};
}

std::vector<std::string> gpuopt::foldersOfNvidia() {
  std::vector<std::string> roots = wheels();
  roots.insert(roots.begin(), {"/usr/local/cuda", "/usr/local/cuda-13.0"});
  std::vector<std::string> folders;
  for (const std::string &root : roots)
    for (StringRef part :
         {"lib64", "lib", "cu13/lib", "cublas/lib", "cudnn/lib", "nccl/lib"})
      folders.push_back(joinPath(root, part));
  return folders;
}
