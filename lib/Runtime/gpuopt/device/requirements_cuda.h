// What a CUDA program needs of the machine that it starts on, said before
// anything else fails in a way that is hard to understand.
#pragma once

#include "gpuopt/device/error.h"

#include <cuda_runtime.h>

#include <string>

namespace gpuopt {

inline void check_cuda(cudaError_t status, const char *what, const char *file,
                       int line) {
  if (status == cudaSuccess)
    return;
  throw Error(std::string("CUDA: ") + cudaGetErrorString(status) + " in " +
              what + " (" + file + ":" + std::to_string(line) + ")");
}
#define CHECK_CUDA(call) ::gpuopt::check_cuda((call), #call, __FILE__, __LINE__)

// Asynchronous copies to shared memory and bfloat16 came with it.
constexpr int kLeastComputeCapability = 8;

// 12040 is CUDA 12.4.
inline std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

// A driver runs programs of all versions of CUDA up to its own, and of later
// ones with the same major number.
inline void check_driver() {
  int driver = 0, runtime = 0;
  CHECK_CUDA(cudaDriverGetVersion(&driver));
  CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
  if (driver == 0)
    throw Error("this program needs an NVIDIA GPU, but no NVIDIA driver is "
                "loaded; compile with --target host for the processor");
  if (driver / 1000 < runtime / 1000)
    throw Error("the NVIDIA driver is for CUDA " + cuda_version_text(driver) +
                ", but this program was built with CUDA " +
                cuda_version_text(runtime) +
                "; update the driver, or build with an older CUDA Toolkit");
}

inline void check_device(int device) {
  int count = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  if (device < 0 || device >= count)
    throw Error("there is no GPU " + std::to_string(device) +
                ": they have numbers from 0, and this program sees " +
                std::to_string(count));
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  if (properties.major < kLeastComputeCapability)
    throw Error(std::string("the GPU '") + properties.name +
                "' has compute capability " + std::to_string(properties.major) +
                "." + std::to_string(properties.minor) +
                ", but programs of gpuopt need at least " +
                std::to_string(kLeastComputeCapability) +
                ".0 (Ampere); compile with --target host for the processor");
}

} // namespace gpuopt
