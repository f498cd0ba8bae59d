// The sizes of a 2-d convolution, which of its three products is meant, and its
// tensors.
#pragma once

#include <cstdint>

namespace gpuopt {

// [0] is the height, [1] the width.
struct ConvShape {
  int64_t n, h, w, c, oh, ow, oc, kh, kw;
  int64_t stride[2] = {1, 1}, pad_begin[2] = {0, 0}, pad_end[2] = {0, 0};
  int64_t dilation[2] = {1, 1};
  int64_t groups = 1;
};

enum ConvKind : int64_t {
  kConvForward,
  kConvBackwardData,
  kConvBackwardWeights
};

// The tensors of a convolution; the one that its kind computes is written. The
// sums, of floats, are null where the graph has none.
struct ConvTensors {
  const void *x, *w, *y;
  void *sum = nullptr, *sum_of_squares = nullptr;
};

} // namespace gpuopt
