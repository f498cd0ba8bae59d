// Facts that the compiler, programs and gpuopt-plan-convolutions share about
// the calls of convolutions: their names, the type of the shape that they pass,
// and where cuDNN's workspace begins. This file is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

constexpr char kConvForwardCall[] = "conv_forward";
constexpr char kConvForwardWithSumsCall[] = "conv_forward_with_sums";
constexpr char kConvBackwardDataCall[] = "conv_backward_data";
constexpr char kConvBackwardWeightsCall[] = "conv_backward_weights";

constexpr char kConvShapeType[] = "ConvShape";

// The bytes at the beginning of the workspace that are for the weights in
// cuDNN's order. cuDNN's own workspace begins behind them.
constexpr int64_t conv_weight_bytes(int64_t elements, int64_t element_bytes) {
  constexpr int64_t kAlignment = 256;
  return (elements * element_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace gpuopt
