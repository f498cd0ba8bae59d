// What a device says of itself, which nobody has to measure.
#pragma once

#include "gpuopt/device/device.h"

#include <utility>

namespace gpuopt::calibration {

using Facts = std::vector<std::pair<const char *, double>>;

#ifdef __CUDACC__
constexpr bool kHasTf32 = true;

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
constexpr bool kHasTf32 = false;

inline Facts facts_of(Context &ctx) {
  return {{"multiprocessors", ctx.num_threads}};
}
#endif

} // namespace gpuopt::calibration
