// The facts that a device says of itself, which nobody has to measure.
#pragma once

#include "gpuopt/device/device.h"

#include <string_view>
#include <utility>

namespace gpuopt::calibration {

using Facts = std::vector<std::pair<const char *, double>>;

#ifdef __CUDACC__
constexpr bool kHasTf32 = true, kIsGpu = true;

inline Facts facts_of(Context &) {
  int device = 0;
  cudaDeviceProp gpu;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaGetDeviceProperties(&gpu, device));
  return {
      {"memoryInBytes", double(gpu.totalGlobalMem)},
      {"multiprocessors", gpu.multiProcessorCount},
      {"warpSize", gpu.warpSize},
      {"threadsPerMultiprocessor", gpu.maxThreadsPerMultiProcessor},
      {"blocksPerMultiprocessor", gpu.maxBlocksPerMultiProcessor},
      {"registersPerMultiprocessor", gpu.regsPerMultiprocessor},
      {"sharedBytesPerMultiprocessor", double(gpu.sharedMemPerMultiprocessor)},
      {"sharedBytesPerBlock", double(gpu.sharedMemPerBlockOptin)},
      {"l2CacheInBytes", double(gpu.l2CacheSize)}};
}
#else
constexpr bool kHasTf32 = false, kIsGpu = false;

inline Facts facts_of(Context &ctx) {
  return {{"multiprocessors", ctx.num_threads}};
}
#endif

// Returns how many blocks of a kernel run side by side at least: one for each
// core or multiprocessor.
inline int64_t cores_of(Context &ctx) {
  for (const auto &[name, value] : facts_of(ctx))
    if (std::string_view(name) == "multiprocessors")
      return int64_t(value);
  return 1;
}

} // namespace gpuopt::calibration
