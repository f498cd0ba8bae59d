// Convolution by plain loops, for double, which oneDNN does not have. Each
// element of the result is summed in one order, whatever the number of threads.
#pragma once

#include "gpuopt/ops/conv.h"

namespace gpuopt {
namespace loops {

// Returns the position that tap k of output o reads; outside of [0, size) it
// reads padding.
inline int64_t tap(const ConvShape &s, int axis, int64_t o, int64_t k) {
  return o * s.stride[axis] - s.pad_begin[axis] + k * s.dilation[axis];
}
// Returns the output whose tap k reads i, or -1.
inline int64_t output_of(const ConvShape &s, int axis, int64_t i, int64_t k,
                         int64_t outputs) {
  const int64_t scaled = i + s.pad_begin[axis] - k * s.dilation[axis];
  if (scaled < 0 || scaled % s.stride[axis] != 0)
    return -1;
  const int64_t o = scaled / s.stride[axis];
  return o < outputs ? o : -1;
}

template <class T>
void conv_forward(const ConvShape &s, const T *x, const T *w, const T *bias,
                  T *y) {
  const int64_t depth = s.c / s.groups, share = s.oc / s.groups;
#pragma omp parallel for schedule(static)
  for (int64_t pixel = 0; pixel < s.n * s.oh * s.ow; pixel++) {
    const int64_t q = pixel % s.ow, p = pixel / s.ow % s.oh,
                  n = pixel / s.ow / s.oh;
    for (int64_t o = 0; o < s.oc; o++) {
      T sum = bias ? bias[o] : T(0);
      for (int64_t i = 0; i < s.kh; i++)
        for (int64_t j = 0; j < s.kw; j++) {
          const int64_t row = tap(s, 0, p, i), col = tap(s, 1, q, j);
          if (row < 0 || row >= s.h || col < 0 || col >= s.w)
            continue;
          const T *in =
              x + ((n * s.h + row) * s.w + col) * s.c + o / share * depth;
          for (int64_t c = 0; c < depth; c++)
            sum += in[c] * w[((o * depth + c) * s.kh + i) * s.kw + j];
        }
      y[pixel * s.oc + o] = sum;
    }
  }
}

template <class T>
void conv_backward_data(const ConvShape &s, const T *dy, const T *w, T *dx) {
  const int64_t depth = s.c / s.groups, share = s.oc / s.groups;
#pragma omp parallel for schedule(static)
  for (int64_t pixel = 0; pixel < s.n * s.h * s.w; pixel++) {
    const int64_t col = pixel % s.w, row = pixel / s.w % s.h,
                  n = pixel / s.w / s.h;
    for (int64_t c = 0; c < s.c; c++) {
      const int64_t group = c / depth;
      T sum = 0;
      for (int64_t i = 0; i < s.kh; i++)
        for (int64_t j = 0; j < s.kw; j++) {
          const int64_t p = output_of(s, 0, row, i, s.oh),
                        q = output_of(s, 1, col, j, s.ow);
          if (p < 0 || q < 0)
            continue;
          const T *out = dy + ((n * s.oh + p) * s.ow + q) * s.oc;
          for (int64_t o = group * share; o < (group + 1) * share; o++)
            sum += out[o] * w[((o * depth + c % depth) * s.kh + i) * s.kw + j];
        }
      dx[pixel * s.c + c] = sum;
    }
  }
}

template <class T>
void conv_backward_weights(const ConvShape &s, const T *x, const T *dy, T *dw,
                           double beta) {
  const int64_t depth = s.c / s.groups, share = s.oc / s.groups;
#pragma omp parallel for schedule(static)
  for (int64_t element = 0; element < s.oc * depth * s.kh * s.kw; element++) {
    const int64_t j = element % s.kw, i = element / s.kw % s.kh;
    const int64_t c = element / s.kw / s.kh % depth,
                  o = element / s.kw / s.kh / depth;
    T sum = 0;
    for (int64_t n = 0; n < s.n; n++)
      for (int64_t p = 0; p < s.oh; p++)
        for (int64_t q = 0; q < s.ow; q++) {
          const int64_t row = tap(s, 0, p, i), col = tap(s, 1, q, j);
          if (row < 0 || row >= s.h || col < 0 || col >= s.w)
            continue;
          sum +=
              x[((n * s.h + row) * s.w + col) * s.c + o / share * depth + c] *
              dy[((n * s.oh + p) * s.ow + q) * s.oc + o];
        }
    dw[element] = (beta != 0 ? dw[element] : T(0)) + sum;
  }
}

} // namespace loops
} // namespace gpuopt
