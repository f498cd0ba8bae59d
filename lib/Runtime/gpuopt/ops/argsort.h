// y[r, k] is the place of the k-th element of row r of x in sorted order. Equal
// elements keep their order, and NaN is greater than all numbers.
#pragma once

#include "gpuopt/device/device.h"

#ifndef __CUDACC__
#include <algorithm>
#endif

namespace gpuopt {
namespace detail {

// Whether element i of a row comes before element j.
template <class T>
DEVICE bool comes_before(const T *row, int64_t i, int64_t j, bool descending) {
  const Compute<T> a = load_scalar(row + i), b = load_scalar(row + j);
  const bool is_less = a < b || (b != b && a == a);
  const bool is_greater = b < a || (a != a && b == b);
  if (is_less || is_greater)
    return is_less != descending;
  return i < j;
}

} // namespace detail

// A block for each row. A GPU's threads sort the places by Batcher's merge
// exchange (Knuth, The Art of Computer Programming 3, 5.2.2 M): rounds of
// comparisons at a distance, of which no two touch the same element.
template <class T>
KERNEL void argsort_kernel(int64_t columns, const T *x, int64_t *y,
                           bool descending) {
  x += block() * columns, y += block() * columns;
#ifdef __CUDACC__
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x)
    y[i] = i;
  for (int64_t p = 1; p < columns; p *= 2)
    for (int64_t distance = p; distance >= 1; distance /= 2) {
      __syncthreads();
      const int64_t first = distance % p;
      for (int64_t i = first + threadIdx.x; i + distance < columns;
           i += blockDim.x) {
        const int64_t j = i + distance;
        const bool is_compared =
            (i - first) / distance % 2 == 0 && i / (2 * p) == j / (2 * p);
        if (is_compared && detail::comes_before(x, y[j], y[i], descending)) {
          const int64_t place = y[i];
          y[i] = y[j];
          y[j] = place;
        }
      }
    }
#else
  for (int64_t i = 0; i < columns; i++)
    y[i] = i;
  std::sort(y, y + columns, [=](int64_t i, int64_t j) {
    return detail::comes_before(x, i, j, descending);
  });
#endif
}

template <class T>
void argsort(Context &ctx, int64_t rows, int64_t columns, const T *x,
             int64_t *y, bool descending) {
  const int threads = columns >= 512 ? 512 : columns >= 128 ? 128 : 32;
  launch(ctx, rows, threads, argsort_kernel<T>, columns, x, y, descending);
}

} // namespace gpuopt
