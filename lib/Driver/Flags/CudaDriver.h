//===- CudaDriver.h - What the CUDA driver tells of a GPU -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_CUDADRIVER_H
#define GPUOPT_LIB_DRIVER_FLAGS_CUDADRIVER_H

#include "gpuopt/settings/target_table.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace gpuopt {

/// The first GPU that programs of this user see.
struct GpuFacts {
  std::string name; ///< As the GPU calls itself.
  int64_t multiprocessors = 0;
};

/// The capabilities of that GPU and of its driver.
struct GpuSupport {
  std::string name;
  int64_t major = 0, minor = 0; ///< The compute capability.
  int64_t memoryBytes = 0;
  int64_t driverVersion = 0; ///< 1000 major + 10 minor, of CUDA.
};

/// The few functions of the CUDA driver that are needed, loaded from its
/// library because gpuopt itself is built without CUDA.
class CudaDriver {
public:
  /// Fails where there is no driver or no GPU.
  static llvm::Expected<CudaDriver> load();

  /// Returns the bytes that are free beside a context, which is created as the
  /// program creates its own.
  llvm::Expected<int64_t> freeBytes() const;
  llvm::Expected<GpuFacts> describe() const;
  llvm::Expected<GpuSupport> support() const;

private:
  /// Calls a function of the driver, whose status is 0 if it succeeds.
  template <typename... Parameters>
  llvm::Error call(const char *name, Parameters... arguments) const;

  llvm::sys::DynamicLibrary library;
};

/// Fails if a program for `target` would run on a GPU, and there is none here.
llvm::Error expectGpu(const TargetInfo &target);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_CUDADRIVER_H
