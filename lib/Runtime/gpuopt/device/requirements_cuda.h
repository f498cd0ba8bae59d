// Checks of what a CUDA program needs of the machine that it starts on, made
// before anything else fails in a way that is hard to understand.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/device/least_versions.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace gpuopt {

inline void check_cuda(cudaError_t status, const char *what, const char *file,
                       int line) {
  if (status == cudaSuccess)
    return;
  throw Error(std::string("CUDA: ") + cudaGetErrorString(status) + " in " +
              what + " (" + file + ":" + std::to_string(line) + ")");
}
#define CHECK_CUDA(call) ::gpuopt::check_cuda((call), #call, __FILE__, __LINE__)

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

// Returns the architectures that a program was built for, 800 for compute
// capability 8.0. nvcc names them; elsewhere nothing is known.
inline std::vector<int> architectures_built_for() {
#ifdef __CUDA_ARCH_LIST__
  return {__CUDA_ARCH_LIST__};
#else
  return {};
#endif
}

// 86 is 8.6.
inline std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." +
         std::to_string(capability % 10);
}

// A program runs on GPUs from the oldest on that it was built for.
inline void
check_device(int device,
             const std::vector<int> &built_for = architectures_built_for()) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice) {
    cudaGetLastError(); // the message below tells it
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    throw Error(
        "this program needs an NVIDIA GPU, but CUDA finds none" +
        (visible ? " (CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "')"
                 : "") +
        "; compile with --target host for the processor");
  }
  check_cuda(status, "cudaGetDeviceCount", __FILE__, __LINE__);
  if (device < 0 || device >= count)
    throw Error("there is no GPU " + std::to_string(device) +
                ": they have numbers from 0, and this program sees " +
                std::to_string(count));
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  const int capability = properties.major * 10 + properties.minor;
  const std::string has = std::string("the GPU '") + properties.name +
                          "' has compute capability " +
                          capability_text(capability);
  if (properties.major < int(kLeastComputeCapability.major))
    throw Error(has + ", but programs of gpuopt need at least " +
                std::to_string(kLeastComputeCapability.major) +
                ".0 (Ampere); compile with --target host for the processor");
  if (built_for.empty())
    return;
  const int oldest = *std::min_element(built_for.begin(), built_for.end()) / 10;
  if (capability < oldest)
    throw Error(has + ", but this program was built for " +
                capability_text(oldest) +
                " and later; build it with -DCMAKE_CUDA_ARCHITECTURES=" +
                std::to_string(capability));
}

// Whether a program has code for GPUs of compute capability 9.0 that uses their
// products of warpgroups (kernels/warpgroup_cuda.h), which is code for sm_90a.
// What builds the program says so.
#if defined(GPUOPT_BUILT_FOR_SM90A) || defined(GPUOPT_EMULATED)
constexpr bool kIsBuiltForWarpgroups = true;
#else
constexpr bool kIsBuiltForWarpgroups = false;
#endif

inline bool has_warpgroup_products(int device) {
  if constexpr (!kIsBuiltForWarpgroups)
    return false;
  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  return properties.major == 9 && properties.minor == 0;
}

// The needs of libraries are checked when a program starts, too. Only the
// headers that are included know which libraries these are.
using Requirement = void (*)();
inline std::vector<Requirement> &requirements_of_libraries() {
  static std::vector<Requirement> all;
  return all;
}
struct RequiredAtStart {
  explicit RequiredAtStart(Requirement check) {
    requirements_of_libraries().push_back(check);
  }
};

inline void check_requirements(int device) {
  check_driver();
  check_device(device);
  for (Requirement check : requirements_of_libraries())
    check();
}

} // namespace gpuopt
