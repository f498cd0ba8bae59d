// What the tests of the emulated machine share: memory of the device, launches
// and the text of errors.
#pragma once

#include "emulation/machine/random.h"
#include "gpuopt/device/error.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Each test begins with a device that works, and leaves none of its work.
class Emulation : public ::testing::Test {
protected:
  void SetUp() override { cudaDeviceReset(); }
  void TearDown() override { cudaDeviceReset(); }
};

// n elements on the device, filled with NaNs or with values.
template <class T>
class OnDevice {
public:
  explicit OnDevice(size_t n) : n(n) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void **>(&data), n * sizeof(T)),
              cudaSuccess);
  }
  explicit OnDevice(const std::vector<T> &values) : OnDevice(values.size()) {
    EXPECT_EQ(
        cudaMemcpy(data, values.data(), n * sizeof(T), cudaMemcpyHostToDevice),
        cudaSuccess);
  }
  ~OnDevice() { cudaFree(data); }
  OnDevice(const OnDevice &) = delete;
  OnDevice &operator=(const OnDevice &) = delete;

  // After all work that was begun.
  std::vector<T> values() const {
    std::vector<T> all(n);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(
        cudaMemcpy(all.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost),
        cudaSuccess);
    return all;
  }

  T *data = nullptr;
  size_t n;
};

struct Stream {
  Stream() { cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking); }
  ~Stream() {
    if (handle)
      cudaStreamDestroy(handle);
  }
  operator cudaStream_t() const { return handle; }
  cudaStream_t handle = nullptr;
};
struct Event {
  Event() { cudaEventCreate(&handle); }
  ~Event() { cudaEventDestroy(handle); }
  operator cudaEvent_t() const { return handle; }
  cudaEvent_t handle = nullptr;
};

template <class... P, class... A>
cudaError_t run(cudaStream_t stream, unsigned blocks, unsigned threads,
                void (*kernel)(P...), A... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// The text of the error that synchronising ends with; empty where all is well.
inline std::string error_of_work() {
  const cudaError_t status = cudaDeviceSynchronize();
  return status == cudaSuccess ? "" : cudaGetErrorString(status);
}

// The text of the exception that a call of gpuopt's runtime ends with; empty
// where it ends well.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const gpuopt::Error &error) {
    return error.what();
  }
  return "";
}

// How many of the first seeds make `differs` true.
template <class F>
int count_seeds(int seeds, F differs) {
  int count = 0;
  for (int seed = 1; seed <= seeds; seed++) {
    gpuopt::emulation::seed_machine(uint64_t(seed));
    count += differs();
  }
  return count;
}

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
