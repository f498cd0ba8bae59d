// cuDNN's descriptors, as the emulation keeps them.
#pragma once

#include "emulation/cudart/streams.h"

#include <cudnn.h>

#include <cstdint>
#include <string>

// A tensor or a filter of four dimensions: n (or k), c, h, w; strides in
// elements.
struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int64_t size[4] = {}, stride[4] = {};

  int64_t elements() const { return size[0] * size[1] * size[2] * size[3]; }
  int64_t offset(int64_t n, int64_t c, int64_t h, int64_t w) const {
    return n * stride[0] + c * stride[1] + h * stride[2] + w * stride[3];
  }
  size_t bytes() const;
};
struct cudnnFilterStruct : cudnnTensorStruct {};

// [0] is the height, [1] the width.
struct cudnnConvolutionStruct {
  int64_t pad[2] = {}, pad_end[2] = {}, stride[2] = {1, 1};
  int64_t dilation[2] = {1, 1};
  int64_t groups = 1;
  bool flips_filter = false; // CUDNN_CONVOLUTION, not CUDNN_CROSS_CORRELATION
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace gpuopt::emulation {

struct Cudnn {
  using Status = cudnnStatus_t;
  static constexpr int kNumber = 2;
  static constexpr Status kSuccess = CUDNN_STATUS_SUCCESS;
  static constexpr Status kFailure = CUDNN_STATUS_EXECUTION_FAILED;
};
[[noreturn]] void refuse(cudnnStatus_t status, const std::string &message);

cudaDataType_t element_type(cudnnDataType_t type);
// Reads alpha or beta of a call on tensors of a type.
double scale_of(cudnnDataType_t type, const void *scale);
// Returns "[2, 8, 4, 4]".
std::string text_of(const cudnnTensorStruct &tensor);

} // namespace gpuopt::emulation
