// The kernels of attention take the compiler most of a minute: they are
// compiled once, in AttentionKernels.cpp, for all tests.
#pragma once

#include "gpuopt/ops/attention.h"

// HOW is `extern template` or `template`.
#define GPUOPT_ATTENTION_KERNELS(HOW, T)                                       \
  HOW void gpuopt::attention<T>(                                               \
      gpuopt::Context &, const gpuopt::AttentionShape &, const T *, const T *, \
      const T *, T *, float *, const gpuopt::AttentionOptions &);              \
  HOW void gpuopt::attention_backward<T>(                                      \
      gpuopt::Context &, const gpuopt::AttentionShape &,                       \
      const gpuopt::AttentionGradientShape &, const T *, const T *, const T *, \
      const T *, const float *, const T *, T *, T *, T *,                      \
      const gpuopt::AttentionOptions &);

GPUOPT_ATTENTION_KERNELS(extern template, float)
GPUOPT_ATTENTION_KERNELS(extern template, gpuopt::f16)
GPUOPT_ATTENTION_KERNELS(extern template, gpuopt::bf16)
