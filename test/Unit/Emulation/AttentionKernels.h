// The kernels of attention take the compiler long: they are compiled once, in
// AttentionKernels.cpp, for all tests. A test calls those that the compiler
// would choose.
#pragma once

#include "gpuopt/ops/attention.h"

namespace gpuopt {

template <class T>
void attention(Context &ctx, const AttentionShape &s, const T *q, const T *k,
               const T *v, T *y, float *statistics,
               const AttentionOptions &o = {});

template <class T>
void attention_backward(Context &ctx, const AttentionShape &s,
                        const AttentionGradientShape &g, const T *q, const T *k,
                        const T *v, const T *y, const float *statistics,
                        const T *dy, T *dq, T *dk, T *dv,
                        const AttentionOptions &o = {});

} // namespace gpuopt
