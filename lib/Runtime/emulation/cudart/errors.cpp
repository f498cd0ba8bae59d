// The device, errors, and what they are called.
#include "emulation/cudart/cudart.h"
#include "emulation/machine/block.h"

#include <cstring>

using namespace gpuopt::emulation;

namespace gpuopt::emulation {
cudaError_t last_error = cudaSuccess;
} // namespace gpuopt::emulation

const char *cudaGetErrorString(cudaError_t error) {
  if (const char *message = message_of(Cudart::kNumber, error))
    return message;
  return cudaGetErrorName(error);
}

const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "cudaSuccess";
  case cudaErrorInvalidValue:
    return "cudaErrorInvalidValue";
  case cudaErrorMemoryAllocation:
    return "cudaErrorMemoryAllocation";
  case cudaErrorInvalidConfiguration:
    return "cudaErrorInvalidConfiguration";
  case cudaErrorNotReady:
    return "cudaErrorNotReady";
  case cudaErrorLaunchFailure:
    return "cudaErrorLaunchFailure";
  default:
    return "an error of the CUDA runtime";
  }
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  if (device().lost.empty())
    last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

static void expect_device(int number) {
  if (number != 0)
    refuse(cudaErrorInvalidDevice, "the emulation has one device, number 0");
}

cudaError_t cudaSetDevice(int number) {
  return cudart([&] { expect_device(number); });
}

cudaError_t cudaGetDevice(int *number) {
  return cudart([&] { *number = 0; });
}

cudaError_t cudaGetDeviceCount(int *count) {
  return cudart([&] {
    *count = device().machine.device_count;
    if (*count == 0)
      refuse(cudaErrorNoDevice, "no CUDA-capable device is detected");
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int number) {
  return cudart([&] {
    expect_device(number);
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "emulated GPU");
    properties->totalGlobalMem = Memory::kDeviceBytes;
    properties->sharedMemPerBlock = 48 << 10;
    properties->warpSize = kWarpSize;
    properties->maxThreadsPerBlock = 1024;
    properties->major = device().machine.compute_capability / 10;
    properties->minor = device().machine.compute_capability % 10;
    // One multiprocessor, with what those of compute capability 9.0 have.
    properties->multiProcessorCount = 1;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->maxBlocksPerMultiProcessor = 32;
    properties->regsPerMultiprocessor = 65536;
    properties->sharedMemPerMultiprocessor = 228 << 10;
    properties->sharedMemPerBlockOptin = 227 << 10;
    properties->l2CacheSize = 50 << 20;
  });
}

cudaError_t cudaDriverGetVersion(int *version) {
  return cudart([&] { *version = device().machine.driver_version; });
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  return cudart([&] { *version = CUDART_VERSION; });
}

cudaError_t cudaDeviceSynchronize() {
  return cudart([&] {
    forbid_in_capture("cudaDeviceSynchronize");
    device().run_all();
  });
}

// Unlike a real reset, this keeps memory and handles; a lost device works
// again.
cudaError_t cudaDeviceReset() {
  const std::lock_guard<std::recursive_mutex> lock(device().mutex);
  device().schedule.discard();
  device().lost.clear();
  last_error = cudaSuccess;
  return cudaSuccess;
}
