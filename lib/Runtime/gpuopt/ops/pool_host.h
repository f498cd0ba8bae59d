// Pooling on the host: a block computes one pixel for all channels.
#pragma once

#include "gpuopt/ops/pool.h"

namespace gpuopt {

namespace detail {

// The outputs along one axis whose windows may cover input i: [first, last].
struct Covering {
  int64_t first, last;
};
HOST_DEVICE Covering covering(const PoolShape &s, int axis, int64_t i,
                              int64_t kernel, int64_t outputs) {
  const int64_t reach = (kernel - 1) * s.dilation[axis];
  const int64_t from = i + s.pad_begin[axis] - reach,
                to = i + s.pad_begin[axis];
  const int64_t last = to / s.stride[axis];
  return {from <= 0 ? 0 : (from + s.stride[axis] - 1) / s.stride[axis],
          last < outputs ? last : outputs - 1};
}

// The elements that window (p, q) averages over.
HOST_DEVICE int64_t window_size(const PoolShape &s, int64_t p, int64_t q) {
  int64_t size = 1;
  for (int axis = 0; axis < 2; axis++) {
    const int64_t extent = axis == 0 ? s.h : s.w;
    const int64_t kernel = axis == 0 ? s.kh : s.kw;
    const int64_t low = s.count_include_pad ? -s.pad_begin[axis] : 0;
    const int64_t high =
        s.count_include_pad ? extent + s.pad_end[axis] : extent;
    const int64_t begin =
        (axis == 0 ? p : q) * s.stride[axis] - s.pad_begin[axis];
    const int64_t end = begin + kernel < high ? begin + kernel : high;
    size *= end - (begin > low ? begin : low);
  }
  return size;
}

} // namespace detail

template <class T>
KERNEL void max_pool_forward_kernel(PoolShape s, const T *x, T *y,
                                    int32_t *argmax) {
  const int64_t pixel = block();
  const int64_t q = pixel % s.ow, p = pixel / s.ow % s.oh,
                n = pixel / s.ow / s.oh;
  using C = Compute<T>;
  for (int64_t c = first_lane(); c < s.c; c += lane_step()) {
    Lanes<C> best(-kInfinity<C>);
    Lanes<int32_t> place(-1);
    for (int64_t i = 0; i < s.kh; i++)
      for (int64_t j = 0; j < s.kw; j++) {
        const int64_t row =
            p * s.stride[0] - s.pad_begin[0] + i * s.dilation[0];
        const int64_t col =
            q * s.stride[1] - s.pad_begin[1] + j * s.dilation[1];
        if (row < 0 || row >= s.h || col < 0 || col >= s.w)
          continue;
        const auto v =
            load(x + ((n * s.h + row) * s.w + col) * s.c + c, s.c - c);
        const Lanes<bool> better = (v > best) | (is_nan(v) & !is_nan(best)) |
                                   (place == Lanes<int32_t>(-1));
        best = select(better, v, best);
        place = select(better, Lanes<int32_t>(int32_t(row * s.w + col)), place);
      }
    store(y + pixel * s.c + c, best, s.c - c);
    store(argmax + pixel * s.c + c, place, s.c - c);
  }
}

template <class T>
KERNEL void max_pool_backward_kernel(PoolShape s, const T *dy,
                                     const int32_t *argmax, T *dx) {
  const int64_t pixel = block();
  const int64_t col = pixel % s.w, row = pixel / s.w % s.h,
                n = pixel / s.w / s.h;
  const auto rows = detail::covering(s, 0, row, s.kh, s.oh);
  const auto cols = detail::covering(s, 1, col, s.kw, s.ow);
  const Lanes<int32_t> here(int32_t(row * s.w + col));
  using C = Compute<T>;
  for (int64_t c = first_lane(); c < s.c; c += lane_step()) {
    Lanes<C> sum(C(0));
    for (int64_t p = rows.first; p <= rows.last; p++)
      for (int64_t q = cols.first; q <= cols.last; q++) {
        const int64_t at = ((n * s.oh + p) * s.ow + q) * s.c + c;
        sum += select(load(argmax + at, s.c - c) == here,
                      load(dy + at, s.c - c), C(0));
      }
    store(dx + pixel * s.c + c, sum, s.c - c);
  }
}

template <class T>
KERNEL void avg_pool_forward_kernel(PoolShape s, const T *x, T *y) {
  const int64_t pixel = block();
  const int64_t q = pixel % s.ow, p = pixel / s.ow % s.oh,
                n = pixel / s.ow / s.oh;
  using C = Compute<T>;
  const Lanes<C> size(C(detail::window_size(s, p, q)));
  for (int64_t c = first_lane(); c < s.c; c += lane_step()) {
    Lanes<C> sum(C(0));
    for (int64_t i = 0; i < s.kh; i++)
      for (int64_t j = 0; j < s.kw; j++) {
        const int64_t row = p * s.stride[0] - s.pad_begin[0] + i;
        const int64_t col = q * s.stride[1] - s.pad_begin[1] + j;
        if (row >= 0 && row < s.h && col >= 0 && col < s.w)
          sum += load(x + ((n * s.h + row) * s.w + col) * s.c + c, s.c - c);
      }
    store(y + pixel * s.c + c, sum / size, s.c - c);
  }
}

template <class T>
KERNEL void avg_pool_backward_kernel(PoolShape s, const T *dy, T *dx) {
  const int64_t pixel = block();
  const int64_t col = pixel % s.w, row = pixel / s.w % s.h,
                n = pixel / s.w / s.h;
  const auto rows = detail::covering(s, 0, row, s.kh, s.oh);
  const auto cols = detail::covering(s, 1, col, s.kw, s.ow);
  using C = Compute<T>;
  for (int64_t c = first_lane(); c < s.c; c += lane_step()) {
    Lanes<C> sum(C(0));
    for (int64_t p = rows.first; p <= rows.last; p++)
      for (int64_t q = cols.first; q <= cols.last; q++)
        sum += load(dy + ((n * s.oh + p) * s.ow + q) * s.c + c, s.c - c) /
               Lanes<C>(C(detail::window_size(s, p, q)));
    store(dx + pixel * s.c + c, sum, s.c - c);
  }
}

template <class T>
void max_pool_forward(Context &ctx, const PoolShape &s, const T *x, T *y,
                      int32_t *argmax) {
  launch(ctx, s.n * s.oh * s.ow, 1, max_pool_forward_kernel<T>, s, x, y,
         argmax);
}
template <class T>
void max_pool_backward(Context &ctx, const PoolShape &s, const T *dy,
                       const int32_t *argmax, T *dx) {
  launch(ctx, s.n * s.h * s.w, 1, max_pool_backward_kernel<T>, s, dy, argmax,
         dx);
}
template <class T>
void avg_pool_forward(Context &ctx, const PoolShape &s, const T *x, T *y) {
  launch(ctx, s.n * s.oh * s.ow, 1, avg_pool_forward_kernel<T>, s, x, y);
}
template <class T>
void avg_pool_backward(Context &ctx, const PoolShape &s, const T *dy, T *dx) {
  launch(ctx, s.n * s.h * s.w, 1, avg_pool_backward_kernel<T>, s, dy, dx);
}

} // namespace gpuopt
