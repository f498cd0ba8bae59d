// 2-d convolution and its two gradients. Activations are NHWC, weights lie as
// ONNX stores them: [oc, c / groups, kh, kw]. A transposed convolution is the
// gradient for the data, with the roles of x and y exchanged.
//
//   y[n, p, q, o] = bias[o] + sum over c, i, j of
//     x[n, p * stride - pad_begin + i * dilation, ..., c] * w[o, c, i, j]
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/ops/conv_shape.h"

#ifdef __CUDACC__
#include "gpuopt/ops/conv_cuda.h"
#else
#include "gpuopt/ops/conv_host.h"
#endif
