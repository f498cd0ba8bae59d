// Pooling on a GPU: a thread computes one vector of channels of one pixel, and
// consecutive threads have consecutive vectors. Reads from small windows are
// all begun before the first of them is used. Where each tensor has fewer than
// 2^31 elements and whole vectors, offsets have 32 bits and divisions are
// multiplications.
#pragma once

#include "gpuopt/ops/pool.h"

#include <algorithm>

namespace gpuopt {
namespace detail {

constexpr int kPoolThreads = 256; // of a block

// Divides numbers from 0 to 2^31 - 1 by a number that a launch has in common.
template <class Index>
class PoolDivisor {
public:
  explicit PoolDivisor(int64_t divisor) : divisor(Index(divisor)) {
    while ((int64_t(1) << shift) < divisor)
      shift++;
    factor = uint32_t((uint64_t((int64_t(1) << shift) - divisor) << 32) /
                          uint64_t(divisor) +
                      1);
  }
  DEVICE Index quotient(Index x) const {
    if constexpr (sizeof(Index) == 8) {
      return x / divisor;
    } else {
      const uint32_t high = uint32_t(uint64_t(x) * factor >> 32);
      return Index((high + uint32_t(x)) >> shift);
    }
  }
  DEVICE Index get() const { return divisor; }

private:
  Index divisor;
  uint32_t factor = 0;
  int32_t shift = 0;
};

// A PoolShape with numbers of one width; `height` and `width` are those of the
// tensor that the launch writes. An Index of 32 bits promises whole vectors.
template <class Index>
struct PoolLaunch {
  PoolLaunch(const PoolShape &s, int64_t height, int64_t width)
      : vectors(ceil_div(s.c, kLanes)), height(height), width(width),
        threads(Index(s.n * height * width * ceil_div(s.c, kLanes))),
        c(Index(s.c)), kernel{Index(s.kh), Index(s.kw)},
        inputs{Index(s.h), Index(s.w)}, outputs{Index(s.oh), Index(s.ow)},
        stride{PoolDivisor<Index>(s.stride[0]),
               PoolDivisor<Index>(s.stride[1])},
        pad_begin{Index(s.pad_begin[0]), Index(s.pad_begin[1])},
        pad_end{Index(s.pad_end[0]), Index(s.pad_end[1])},
        dilation{Index(s.dilation[0]), Index(s.dilation[1])},
        count_include_pad(s.count_include_pad != 0) {}

  int64_t blocks() const { return ceil_div(threads, kPoolThreads); }

  PoolDivisor<Index> vectors, height, width;
  Index threads, c;
  // [0] is the height, [1] the width.
  Index kernel[2], inputs[2], outputs[2];
  PoolDivisor<Index> stride[2];
  Index pad_begin[2], pad_end[2], dilation[2];
  bool count_include_pad;
};

// What a thread computes: channels from c on of one pixel.
template <class Index>
struct PoolPlace {
  DEVICE explicit PoolPlace(const PoolLaunch<Index> &s) {
    const Index thread = Index(block()) * kPoolThreads + Index(threadIdx.x);
    exists = thread < s.threads;
    pixel = s.vectors.quotient(thread);
    c = (thread - pixel * s.vectors.get()) * kLanes;
    const Index line = s.width.quotient(pixel);
    n = s.height.quotient(line);
    at[0] = line - n * s.height.get();
    at[1] = pixel - line * s.width.get();
  }
  // Returns where the thread writes.
  DEVICE Index offset(const PoolLaunch<Index> &s) const {
    return pixel * s.c + c;
  }

  bool exists;
  Index pixel, n, at[2], c;
};

template <class Index, class T>
DEVICE void pool_read(T (&v)[kLanes], const T *p, Index left) {
  if constexpr (sizeof(Index) == 4)
    read_vector(v, p);
  else
    read(v, p, left);
}
template <class Index, class T>
DEVICE void pool_store(T *p, Lanes<Compute<T>> x, Index left) {
  if constexpr (sizeof(Index) == 4)
    store_vector(p, x);
  else
    store(p, x, left);
}
template <class T>
DEVICE void fill(T (&v)[kLanes], Compute<T> value) {
  T element;
  store_scalar(&element, value);
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = element;
}

// Reads element (i, j) of an output's window; `outside` stands in the padding.
// Returns the element's place in the plane, or -1 in the padding.
template <class Index, class T>
DEVICE Index read_element(T (&v)[kLanes], const PoolLaunch<Index> &s,
                          const PoolPlace<Index> &y, const T *x, Index i,
                          Index j, Compute<T> outside) {
  const Index row =
      y.at[0] * s.stride[0].get() - s.pad_begin[0] + i * s.dilation[0];
  const Index col =
      y.at[1] * s.stride[1].get() - s.pad_begin[1] + j * s.dilation[1];
  const bool inside =
      row >= 0 && row < s.inputs[0] && col >= 0 && col < s.inputs[1];
  fill(v, outside);
  if (inside)
    pool_read<Index>(
        v, x + (((y.n * s.inputs[0] + row) * s.inputs[1] + col) * s.c + y.c),
        Index(s.c - y.c));
  return inside ? row * s.inputs[1] + col : -1;
}

// Calls f(values, place) for each element of an output's window, row by row. A
// Window that is not 0 is the length of both of its sides.
template <int Window, class Index, class T, class F>
DEVICE void visit_window(const PoolLaunch<Index> &s, const PoolPlace<Index> &y,
                         const T *x, Compute<T> outside, F f) {
  if constexpr (Window > 0) {
    T v[Window * Window][kLanes];
    Index place[Window * Window];
    UNROLL
    for (int k = 0; k < Window * Window; k++)
      place[k] =
          read_element<Index>(v[k], s, y, x, k / Window, k % Window, outside);
    UNROLL
    for (int k = 0; k < Window * Window; k++)
      f(widen_all(v[k]), place[k]);
  } else {
    for (Index i = 0; i < s.kernel[0]; i++)
      for (Index j = 0; j < s.kernel[1]; j++) {
        T v[kLanes];
        const Index place = read_element<Index>(v, s, y, x, i, j, outside);
        f(widen_all(v), place);
      }
  }
}

// The outputs along one axis whose windows may cover input i: [first, last].
template <class Index>
struct Covering {
  DEVICE Covering(const PoolLaunch<Index> &s, int axis, Index i) {
    const Index to = i + s.pad_begin[axis];
    const Index from = to - (s.kernel[axis] - 1) * s.dilation[axis];
    const Index stride = s.stride[axis].get();
    first = from <= 0 ? 0 : s.stride[axis].quotient(from + stride - 1);
    last = s.stride[axis].quotient(to);
    last = last < s.outputs[axis] ? last : s.outputs[axis] - 1;
  }
  Index first, last;
};

// Calls f(p, q, offset, inside, k) for each window that may cover an input, row
// by row: its output, the offset of its channels in a tensor of outputs,
// whether there is such a window, and its number. A Count that is not 0 is how
// many of them there are at most along an axis; if it is 0, all have number 0.
template <int Count, class Index, class F>
DEVICE void visit_covering(const PoolLaunch<Index> &s,
                           const PoolPlace<Index> &x, F f) {
  const Covering<Index> rows(s, 0, x.at[0]), cols(s, 1, x.at[1]);
  auto visit = [&](Index p, Index q, int number) {
    f(p, q, ((x.n * s.outputs[0] + p) * s.outputs[1] + q) * s.c + x.c,
      p <= rows.last && q <= cols.last, number);
  };
  if constexpr (Count > 0) {
    UNROLL
    for (int k = 0; k < Count * Count; k++)
      visit(rows.first + k / Count, cols.first + k % Count, k);
  } else {
    for (Index p = rows.first; p <= rows.last; p++)
      for (Index q = cols.first; q <= cols.last; q++)
        visit(p, q, 0);
  }
}

// Returns how many elements window i covers along one axis, as averages count.
template <class Index>
DEVICE Index window_length(const PoolLaunch<Index> &s, int axis, Index i) {
  const Index low = s.count_include_pad ? -s.pad_begin[axis] : 0;
  const Index high =
      s.inputs[axis] + (s.count_include_pad ? s.pad_end[axis] : 0);
  const Index begin = i * s.stride[axis].get() - s.pad_begin[axis];
  const Index end =
      begin + s.kernel[axis] < high ? begin + s.kernel[axis] : high;
  return end - (begin > low ? begin : low);
}

} // namespace detail

template <int Window, class Index, class T>
KERNEL void LAUNCH_BOUNDS(detail::kPoolThreads)
    max_pool_forward_kernel(detail::PoolLaunch<Index> s, const T *RESTRICT x,
                            T *RESTRICT y, int32_t *RESTRICT argmax) {
  const detail::PoolPlace<Index> at(s);
  if (!at.exists)
    return;
  using C = Compute<T>;
  Lanes<C> best(-kInfinity<C>);
  Lanes<int32_t> place(-1);
  int32_t first = -1;
  detail::visit_window<Window>(
      s, at, x, -kInfinity<C>, [&](Lanes<C> v, Index here) {
        const Lanes<bool> better = (v > best) | (is_nan(v) & !is_nan(best));
        best = select(better, v, best);
        place = select(better, Lanes<int32_t>(int32_t(here)), place);
        first = first < 0 ? int32_t(here) : first;
      });
  // Where all are minus infinity, none was better than another.
  const Lanes<int32_t> none(-1);
  place = select(place == none, Lanes<int32_t>(first), place);
  const Index to = at.offset(s), left = s.c - at.c;
  detail::pool_store<Index>(y + to, best, left);
  detail::pool_store<Index>(argmax + to, place, left);
}

template <int Count, class Index, class T>
KERNEL void LAUNCH_BOUNDS(detail::kPoolThreads)
    max_pool_backward_kernel(detail::PoolLaunch<Index> s, const T *RESTRICT dy,
                             const int32_t *RESTRICT argmax, T *RESTRICT dx) {
  const detail::PoolPlace<Index> at(s);
  if (!at.exists)
    return;
  using C = Compute<T>;
  constexpr int kAhead = Count > 0 ? Count * Count : 1;
  const Index left = s.c - at.c;
  const Lanes<int32_t> here(int32_t(at.at[0] * s.inputs[1] + at.at[1]));
  Lanes<C> sum(C(0));
  T gradient[kAhead][kLanes];
  int32_t place[kAhead][kLanes];
  auto add = [&](int k) {
    sum += select(detail::widen_all(place[k]) == here,
                  detail::widen_all(gradient[k]), C(0));
  };
  detail::visit_covering<Count>(
      s, at, [&](Index, Index, Index from, bool inside, int k) {
        detail::fill(gradient[k], C(0));
        detail::fill(place[k], -1);
        if (inside) {
          detail::pool_read<Index>(gradient[k], dy + from, left);
          detail::pool_read<Index>(place[k], argmax + from, left);
        }
        if constexpr (Count == 0)
          add(k);
      });
  if constexpr (Count > 0) {
    UNROLL
    for (int k = 0; k < kAhead; k++)
      add(k);
  }
  detail::pool_store<Index>(dx + at.offset(s), sum, left);
}

template <int Window, class Index, class T>
KERNEL void LAUNCH_BOUNDS(detail::kPoolThreads)
    avg_pool_forward_kernel(detail::PoolLaunch<Index> s, const T *RESTRICT x,
                            T *RESTRICT y) {
  const detail::PoolPlace<Index> at(s);
  if (!at.exists)
    return;
  using C = Compute<T>;
  const Lanes<C> size(C(detail::window_length(s, 0, at.at[0]) *
                        detail::window_length(s, 1, at.at[1])));
  Lanes<C> sum(C(0));
  detail::visit_window<Window>(s, at, x, C(0),
                               [&](Lanes<C> v, Index) { sum += v; });
  detail::pool_store<Index>(y + at.offset(s), sum / size, Index(s.c - at.c));
}

template <int Count, class Index, class T>
KERNEL void LAUNCH_BOUNDS(detail::kPoolThreads)
    avg_pool_backward_kernel(detail::PoolLaunch<Index> s, const T *RESTRICT dy,
                             T *RESTRICT dx) {
  const detail::PoolPlace<Index> at(s);
  if (!at.exists)
    return;
  using C = Compute<T>;
  constexpr int kAhead = Count > 0 ? Count * Count : 1;
  const Index left = s.c - at.c;
  Lanes<C> sum(C(0));
  T gradient[kAhead][kLanes];
  C size[kAhead] = {};
  auto add = [&](int k) {
    sum += detail::widen_all(gradient[k]) / Lanes<C>(size[k]);
  };
  detail::visit_covering<Count>(
      s, at, [&](Index p, Index q, Index from, bool inside, int k) {
        detail::fill(gradient[k], C(0));
        size[k] = C(1);
        if (inside) {
          detail::pool_read<Index>(gradient[k], dy + from, left);
          size[k] = C(detail::window_length(s, 0, p) *
                      detail::window_length(s, 1, q));
        }
        if constexpr (Count == 0)
          add(k);
      });
  if constexpr (Count > 0) {
    UNROLL
    for (int k = 0; k < kAhead; k++)
      add(k);
  }
  detail::pool_store<Index>(dx + at.offset(s), sum, left);
}

namespace detail {

// Returns whether all tensors can be read in whole vectors, with offsets of 32
// bits.
template <class... T>
bool is_small_pool(const PoolShape &s, const T *...p) {
  const int64_t elements = std::max(s.h * s.w, s.oh * s.ow) * s.n * s.c;
  return s.c % kLanes == 0 && elements < INT32_MAX &&
         ((reinterpret_cast<uintptr_t>(p) % kAlignment<T> == 0) && ...);
}

// Returns the side of the window if it is a small square, else 0.
inline int64_t window_of(const PoolShape &s) {
  return s.kh == s.kw && s.kh <= 3 ? s.kh : 0;
}

// Returns how many windows at most cover an input along an axis, or 0 if that
// is many.
inline int64_t count_of(const PoolShape &s) {
  const int64_t count = 1 + std::max((s.kh - 1) * s.dilation[0] / s.stride[0],
                                     (s.kw - 1) * s.dilation[1] / s.stride[1]);
  return count <= 3 ? count : 0;
}

// Launches a kernel over a tensor of `height` times `width` pixels.
template <class Index, class Kernel, class... A>
void launch_pool(Context &ctx, const PoolShape &s, int64_t height,
                 int64_t width, Kernel kernel, A... args) {
  const PoolLaunch<Index> sizes(s, height, width);
  launch(ctx, sizes.blocks(), kPoolThreads, kernel, sizes, args...);
}

} // namespace detail

template <class T>
void max_pool_forward(Context &ctx, const PoolShape &s, const T *x, T *y,
                      int32_t *argmax) {
  if (!detail::is_small_pool(s, x, y, argmax))
    return detail::launch_pool<int64_t>(ctx, s, s.oh, s.ow,
                                        max_pool_forward_kernel<0, int64_t, T>,
                                        x, y, argmax);
  const int64_t window = detail::window_of(s);
  auto *kernel = window == 3   ? max_pool_forward_kernel<3, int32_t, T>
                 : window == 2 ? max_pool_forward_kernel<2, int32_t, T>
                               : max_pool_forward_kernel<0, int32_t, T>;
  detail::launch_pool<int32_t>(ctx, s, s.oh, s.ow, kernel, x, y, argmax);
}
template <class T>
void max_pool_backward(Context &ctx, const PoolShape &s, const T *dy,
                       const int32_t *argmax, T *dx) {
  if (!detail::is_small_pool(s, dy, argmax, dx))
    return detail::launch_pool<int64_t>(ctx, s, s.h, s.w,
                                        max_pool_backward_kernel<0, int64_t, T>,
                                        dy, argmax, dx);
  const int64_t count = detail::count_of(s);
  auto *kernel = count == 1   ? max_pool_backward_kernel<1, int32_t, T>
                 : count == 2 ? max_pool_backward_kernel<2, int32_t, T>
                 : count == 3 ? max_pool_backward_kernel<3, int32_t, T>
                              : max_pool_backward_kernel<0, int32_t, T>;
  detail::launch_pool<int32_t>(ctx, s, s.h, s.w, kernel, dy, argmax, dx);
}
template <class T>
void avg_pool_forward(Context &ctx, const PoolShape &s, const T *x, T *y) {
  if (!detail::is_small_pool(s, x, y))
    return detail::launch_pool<int64_t>(
        ctx, s, s.oh, s.ow, avg_pool_forward_kernel<0, int64_t, T>, x, y);
  const int64_t window = detail::window_of(s);
  auto *kernel = window == 3   ? avg_pool_forward_kernel<3, int32_t, T>
                 : window == 2 ? avg_pool_forward_kernel<2, int32_t, T>
                               : avg_pool_forward_kernel<0, int32_t, T>;
  detail::launch_pool<int32_t>(ctx, s, s.oh, s.ow, kernel, x, y);
}
template <class T>
void avg_pool_backward(Context &ctx, const PoolShape &s, const T *dy, T *dx) {
  if (!detail::is_small_pool(s, dy, dx))
    return detail::launch_pool<int64_t>(
        ctx, s, s.h, s.w, avg_pool_backward_kernel<0, int64_t, T>, dy, dx);
  const int64_t count = detail::count_of(s);
  auto *kernel = count == 1   ? avg_pool_backward_kernel<1, int32_t, T>
                 : count == 2 ? avg_pool_backward_kernel<2, int32_t, T>
                 : count == 3 ? avg_pool_backward_kernel<3, int32_t, T>
                              : avg_pool_backward_kernel<0, int32_t, T>;
  detail::launch_pool<int32_t>(ctx, s, s.h, s.w, kernel, dy, dx);
}

} // namespace gpuopt
