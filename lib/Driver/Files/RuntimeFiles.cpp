//===- RuntimeFiles.cpp - What programs are built from --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/RuntimeFiles.h"

#include "Files/JoinPath.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace gpuopt;

/// Returns the folder of the runtime: beside an installed gpuopt, or in the
/// source tree.
static std::string runtimeFolder() {
  static int anchor;
  std::string executable = sys::fs::getMainExecutable("gpuopt", &anchor);
  std::string installed =
      joinPath(sys::path::parent_path(executable), "../share/gpuopt/runtime");
  return sys::fs::exists(installed) ? installed : GPUOPT_RUNTIME_DIR;
}

/// Returns the text of target.cmake: what a program can be built for, and what
/// this one is built for unless CMake is told otherwise.
static std::string targetFile(const TargetInfo &chosen) {
  std::string names;
  for (const TargetInfo &target : kTargets)
    names += " " + std::string(target.name);
  return "set(GPUOPT_TARGETS" + names + ")\nset(GPUOPT_DEFAULT_TARGET " +
         std::string(chosen.name) + ")\n";
}

Error gpuopt::copyRuntime(const TargetInfo &target,
                          OutputDirectory &directory) {
  std::string runtime = runtimeFolder();
  if (Error error = directory.copyFolder(runtime + "/gpuopt", "gpuopt"))
    return error;
  if (target.is_emulated())
    if (Error error = directory.copyFolder(runtime + "/emulation", "emulation"))
      return error;
  if (Error error = directory.copyFolder(runtime + "/program", ""))
    return error;
  return directory.write("target.cmake", targetFile(target));
}

Error gpuopt::copyCalibration(OutputDirectory &directory) {
  return directory.copyFolder(runtimeFolder() + "/calibration", "");
}

std::string gpuopt::selfTestFolder() {
  return joinPath(runtimeFolder(), "self_test");
}
