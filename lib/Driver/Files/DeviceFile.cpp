//===- DeviceFile.cpp - The measured devices of this machine --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/DeviceFile.h"

#include "Files/JoinPath.h"
#include "gpuopt/device/cpu_quota.h"
#include "gpuopt/device/processor_name.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace gpuopt;

std::string gpuopt::calibratedFile(StringRef cache, StringRef name,
                                   int64_t parallelism) {
  std::string file = "device-";
  for (char c : name)
    if (isAlnum(c))
      file += toLower(c);
    else if (file.back() != '-')
      file += '-';
  if (file.back() != '-')
    file += '-';
  return joinPath(cache, file + std::to_string(parallelism) + ".json");
}

/// Returns how many threads programs compute with unless they are told
/// (default_threads in device_host.h).
static int threadsOfPrograms() {
  const int given = threads_of_environment();
  return given > 0 ? given : cores_within_quota();
}

std::string gpuopt::calibratedProcessorFile(StringRef cache) {
  return calibratedFile(cache, processor_name(), threadsOfPrograms());
}
