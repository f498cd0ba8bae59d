// 2-d convolution and its two gradients. Activations are NHWC, weights lie as
// ONNX stores them: [oc, c / groups, kh, kw]. A transposed convolution is the
// gradient for the data, with the roles of x and y exchanged.
//
//   y[n, p, q, o] = bias[o] + sum over c, i, j of
//     x[n, p * stride - pad_begin + i * dilation, ..., c] * w[o, c, i, j]
#pragma once

#include "gpuopt/device/device.h"

namespace gpuopt {

// [0] is the height, [1] the width.
struct ConvShape {
  int64_t n, h, w, c, oh, ow, oc, kh, kw;
  int64_t stride[2] = {1, 1}, pad_begin[2] = {0, 0}, pad_end[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  int64_t groups = 1;
};

} // namespace gpuopt

#ifdef __CUDACC__
#include "gpuopt/ops/conv_cuda.h"
#else
#include "gpuopt/ops/conv_host.h"
#endif
