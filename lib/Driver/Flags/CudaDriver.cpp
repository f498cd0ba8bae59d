//===- CudaDriver.cpp - What the CUDA driver tells of a GPU ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CudaDriver.h"

using namespace llvm;
using namespace gpuopt;

template <typename... Parameters>
Error CudaDriver::call(const char *name, Parameters... arguments) const {
  sys::DynamicLibrary driver = library;
  void *function = driver.getAddressOfSymbol(name);
  if (!function)
    return createStringError("the CUDA driver has no '" + Twine(name) + "'");
  int status = reinterpret_cast<int (*)(Parameters...)>(function)(arguments...);
  return status ? createStringError("the CUDA driver fails with status " +
                                    Twine(status) + "; is there a GPU?")
                : Error::success();
}

Expected<CudaDriver> CudaDriver::load() {
  CudaDriver driver;
  std::string problem;
  driver.library =
      sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1", &problem);
  if (!driver.library.isValid())
    return createStringError("the CUDA driver cannot be loaded: " + problem);
  if (Error error = driver.call("cuInit", 0u))
    return std::move(error);
  return driver;
}

Expected<int64_t> CudaDriver::freeBytes() const {
  void *context = nullptr;
  size_t freeCount = 0, allCount = 0;
  Error error = call("cuDevicePrimaryCtxRetain", &context, 0);
  if (!error)
    error = call("cuCtxSetCurrent", context);
  if (!error)
    error = call("cuMemGetInfo_v2", &freeCount, &allCount);
  if (error)
    return std::move(error);
  return int64_t(freeCount);
}

Expected<GpuFacts> CudaDriver::describe() const {
  constexpr int kMultiprocessorCount = 16; // a CUdevice_attribute
  char name[256] = "";
  int multiprocessors = 0;
  Error error = call("cuDeviceGetName", name, int(sizeof name), 0);
  if (!error)
    error =
        call("cuDeviceGetAttribute", &multiprocessors, kMultiprocessorCount, 0);
  if (error)
    return std::move(error);
  return GpuFacts{name, multiprocessors};
}

Expected<GpuSupport> CudaDriver::support() const {
  constexpr int kMajor = 75, kMinor = 76; // of the type CUdevice_attribute
  char name[256] = "";
  int major = 0, minor = 0, version = 0;
  size_t bytes = 0;
  Error error = call("cuDeviceGetName", name, int(sizeof name), 0);
  if (!error)
    error = call("cuDeviceGetAttribute", &major, kMajor, 0);
  if (!error)
    error = call("cuDeviceGetAttribute", &minor, kMinor, 0);
  if (!error)
    error = call("cuDeviceTotalMem_v2", &bytes, 0);
  if (!error)
    error = call("cuDriverGetVersion", &version);
  if (error)
    return std::move(error);
  return GpuSupport{name, major, minor, int64_t(bytes), version};
}

Error gpuopt::expectGpu(const TargetInfo &target) {
  if (!target.runs_on_gpu)
    return Error::success();
  Expected<CudaDriver> driver = CudaDriver::load();
  if (driver)
    return Error::success();
  return createStringError(
      "a program for --target=" + std::string(target.name) +
      " cannot run on this machine: " + toString(driver.takeError()) +
      "; choose --target=host, or have gpuopt compile write the program for "
      "another machine");
}
