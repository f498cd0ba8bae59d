//===- FreeMemory.cpp - What --memory-budget=auto stands for --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CudaDriver.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

/// Memory to leave free for the code of cuBLASLt and cuDNN, which is loaded
/// onto the GPU when it is first called. How much it takes is known only then.
static constexpr int64_t kLibraryCodeBytes = int64_t(512) << 20;

static Expected<FreeMemory> freeMemoryOfGpu() {
  Expected<CudaDriver> driver = CudaDriver::load();
  if (!driver)
    return driver.takeError();
  Expected<int64_t> bytes = driver->freeBytes();
  if (!bytes)
    return bytes.takeError();
  FreeMemory memory;
  memory.budgetInBytes = std::max<int64_t>(0, *bytes - kLibraryCodeBytes);
  memory.description = "of " + planning::formatBytes(*bytes) +
                       " that are free on the GPU beside a CUDA context, " +
                       planning::formatBytes(kLibraryCodeBytes) +
                       " are left to the code of libraries";
  return memory;
}

/// Returns MemAvailable: the memory that can be had without swapping.
static Expected<FreeMemory> freeMemoryOfHost() {
  auto file = MemoryBuffer::getFileAsStream("/proc/meminfo");
  if (!file)
    return createStringError("cannot read /proc/meminfo: " +
                             file.getError().message());
  StringRef rest = (*file)->getBuffer().split("MemAvailable:").second.ltrim();
  int64_t kibibytes = 0;
  if (rest.consumeInteger(10, kibibytes))
    return createStringError("/proc/meminfo has no number for MemAvailable");
  return FreeMemory{kibibytes * 1024, "available on the host"};
}

Expected<FreeMemory> gpuopt::measureFreeMemory(const TargetInfo &target) {
  return target.runs_on_gpu ? freeMemoryOfGpu() : freeMemoryOfHost();
}
