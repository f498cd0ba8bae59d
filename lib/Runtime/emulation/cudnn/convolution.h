// A convolution or one of its gradients, by plain loops.
#pragma once

#include "emulation/cudnn/descriptors.h"

namespace gpuopt::emulation {

enum class ConvolutionKind { Forward, BackwardData, BackwardFilter };

struct Convolution {
  ConvolutionKind kind = ConvolutionKind::Forward;
  cudnnTensorStruct x, y;
  cudnnFilterStruct w;
  cudnnConvolutionStruct convolution;
  // In a deterministic algorithm sums are always added in the same order.
  bool is_deterministic = true;

  const cudnnTensorStruct &result() const;
};

// Refuses what cuDNN's manual forbids.
void check(const Convolution &convolution);

// Computes result = alpha * convolution + beta * result. The tensor that `kind`
// computes is written, the other two are read.
struct ConvolutionCall {
  Convolution convolution;
  void *x = nullptr, *w = nullptr, *y = nullptr;
  double alpha = 1, beta = 0;
  // If not null, the sums of the channels of y, as it is stored, and of their
  // squares.
  float *sum = nullptr, *sum_of_squares = nullptr;

  void *result() const;
};
void compute(const ConvolutionCall &call);

// Refuses operands of a call of `function` that do not lie in the device's
// memory, or that overlap with what is written.
void check_operands(const ConvolutionCall &call, const char *function,
                    void *workspace, size_t bytes);

} // namespace gpuopt::emulation
