// The part that the CUDA runtime's functions have in common.
#pragma once

#include "emulation/cudart/device.h"
#include "emulation/cudart/streams.h"

namespace gpuopt::emulation {

struct Cudart {
  using Status = cudaError_t;
  static constexpr int kNumber = 0;
  static constexpr Status kSuccess = cudaSuccess;
  static constexpr Status kFailure = cudaErrorLaunchFailure;
};

extern cudaError_t last_error;

// Runs the body of a call; cudaGetLastError returns its error as well.
template <class Body>
cudaError_t cudart(Body body) {
  const cudaError_t status = call<Cudart>(body);
  if (status != cudaSuccess)
    last_error = status;
  return status;
}

} // namespace gpuopt::emulation
