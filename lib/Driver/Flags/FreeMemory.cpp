//===- FreeMemory.cpp - What --memory-budget=auto stands for --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

/// Memory to leave free for the code of cuBLASLt and cuDNN, which is loaded
/// onto the GPU when it is first called. How much it takes is known only then.
static constexpr int64_t kLibraryCodeBytes = int64_t(512) << 20;

namespace {
/// The few functions of the CUDA driver that are needed, loaded from its
/// library because gpuopt itself is built without CUDA.
class CudaDriver {
public:
  Error load() {
    std::string problem;
    library =
        sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1", &problem);
    if (!library.isValid())
      return createStringError("the CUDA driver cannot be loaded: " + problem);
    for (auto [function, name] :
         {std::pair(&init, "cuInit"), std::pair(&free, "cuMemGetInfo_v2"),
          std::pair(&retain, "cuDevicePrimaryCtxRetain"),
          std::pair(&setCurrent, "cuCtxSetCurrent")})
      if (!(*function = library.getAddressOfSymbol(name)))
        return createStringError("the CUDA driver has no '" + Twine(name) +
                                 "'");
    return Error::success();
  }

  /// Returns the bytes that are free beside a context, which is created as the
  /// program creates its own.
  Expected<int64_t> freeBytes() {
    void *context = nullptr;
    size_t freeCount = 0, allCount = 0;
    int status = reinterpret_cast<int (*)(unsigned)>(init)(0);
    if (!status)
      status = reinterpret_cast<int (*)(void **, int)>(retain)(&context, 0);
    if (!status)
      status = reinterpret_cast<int (*)(void *)>(setCurrent)(context);
    if (!status)
      status = reinterpret_cast<int (*)(size_t *, size_t *)>(free)(&freeCount,
                                                                   &allCount);
    if (status)
      return createStringError("the CUDA driver fails with status " +
                               Twine(status) + "; is there a GPU?");
    return freeCount;
  }

private:
  sys::DynamicLibrary library;
  void *init = nullptr, *free = nullptr, *retain = nullptr,
       *setCurrent = nullptr;
};
} // namespace

static Expected<FreeMemory> freeMemoryOfGpu() {
  CudaDriver driver;
  if (Error error = driver.load())
    return error;
  Expected<int64_t> bytes = driver.freeBytes();
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
