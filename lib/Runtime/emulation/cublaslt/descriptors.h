// cuBLASLt's descriptors, as the emulation keeps them: attributes by number.
#pragma once

#include "emulation/cudart/device.h"

#include <cublasLt.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace gpuopt::emulation {

struct Cublas {
  using Status = cublasStatus_t;
  static constexpr int kNumber = 1;
  static constexpr Status kSuccess = CUBLAS_STATUS_SUCCESS;
  static constexpr Status kFailure = CUBLAS_STATUS_EXECUTION_FAILED;
};
[[noreturn]] void refuse(cublasStatus_t status, const std::string &message);

// The attributes that the emulation knows, and the sizes of their values.
using AttributeSizes = std::map<int, size_t>;

class Attributes {
public:
  Attributes(const char *name, const AttributeSizes &sizes)
      : name(name), sizes(sizes) {}

  void set(int attribute, const void *value, size_t bytes);
  void get(int attribute, void *value, size_t bytes) const;

  template <class T>
  T value(int attribute, T fallback) const {
    auto found = values.find(attribute);
    if (found != values.end())
      memcpy(&fallback, found->second.data(), sizeof fallback);
    return fallback;
  }
  template <class T>
  void put(int attribute, T value) {
    set(attribute, &value, sizeof value);
  }

private:
  void check(int attribute, const void *value, size_t bytes) const;

  const char *name;
  const AttributeSizes &sizes;
  std::map<int, std::vector<char>> values;
};

// Handles of cuBLASLt are pointers to structures that only it knows.
struct MatmulDescriptor : Attributes {
  MatmulDescriptor();
};
struct MatrixLayout : Attributes {
  MatrixLayout();
};
struct Preference : Attributes {
  Preference();
};
const MatmulDescriptor &of(cublasLtMatmulDesc_t handle);
const MatrixLayout &of(cublasLtMatrixLayout_t handle);
const Preference &of(cublasLtMatmulPreference_t handle);

} // namespace gpuopt::emulation
