// 2-d pooling over NHWC and its gradients. The gradients gather: each input
// pixel asks the windows that cover it, in one order, so nothing is added
// concurrently.
//
//   max_pool_forward(ctx, shape, x, y, argmax);
//   max_pool_backward(ctx, shape, dy, argmax, dx);
//   avg_pool_forward(ctx, shape, x, y);
//   avg_pool_backward(ctx, shape, dy, dx);
//
// argmax: the row-major place of the maximum in its plane, as the first one
// met; a NaN is a maximum, as in torch.
#pragma once

#include "gpuopt/device/device.h"

namespace gpuopt {

// [0] is the height, [1] the width.
struct PoolShape {
  int64_t n, h, w, c, oh, ow, kh, kw;
  int64_t stride[2] = {1, 1}, pad_begin[2] = {0, 0}, pad_end[2] = {0, 0};
  int64_t dilation[2] = {1, 1}; // max pooling alone
  int64_t count_include_pad = 0;
};

} // namespace gpuopt

#ifdef __CUDACC__
#include "gpuopt/ops/pool_cuda.h"
#else
#include "gpuopt/ops/pool_host.h"
#endif
