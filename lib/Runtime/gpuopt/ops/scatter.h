// dtable[index[i], :] += dy[i, :], the gradient of an embedding: rows that
// occur more than once are added in the order of i, on every run the same.
#pragma once

#include "gpuopt/device/device.h"

namespace gpuopt {

namespace detail {
// Returns the row of an index. As in ONNX, a negative index counts from the
// end.
HOST_DEVICE int64_t row_of(int64_t index, int64_t rows) {
  return index < 0 ? index + rows : index;
}
} // namespace detail

#ifndef __CUDACC__

// A block owns some columns of the table and goes through all indices.
constexpr int64_t kScatterColumns = 4 * kLanes;

template <class T, class D>
KERNEL void scatter_add_rows_kernel(const int64_t *index, int64_t count,
                                    const T *dy, int64_t rows, int64_t cols,
                                    D *dtable) {
  const int64_t begin = block() * kScatterColumns;
  const int64_t end =
      begin + kScatterColumns < cols ? begin + kScatterColumns : cols;
  for (int64_t i = 0; i < count; i++) {
    const T *from = dy + i * cols;
    D *to = dtable + detail::row_of(index[i], rows) * cols;
    for (int64_t c = begin; c < end; c += kLanes)
      store(to + c,
            load(to + c, end - c) +
                convert<Compute<D>>(load(from + c, end - c)),
            end - c);
  }
}

// beta 0: dtable is written; 1: it is added to.
template <class T, class D>
void scatter_add_rows(Context &ctx, const int64_t *index, int64_t count,
                      const T *dy, int64_t rows, int64_t cols, D *dtable,
                      double beta) {
  if (beta == 0)
    set_zero(ctx, dtable, size_t(rows * cols) * sizeof(D));
  launch(ctx, ceil_div(cols, kScatterColumns), 1, scatter_add_rows_kernel<T, D>,
         index, count, dy, rows, cols, dtable);
}

#else

// Positions are put into a bucket for each row of the table, each bucket is
// sorted, and a block sums the positions of its bucket. Atomics are used for
// integer counts only, so their order does not change the result.
struct ScatterWorkspace {
  int32_t *begin, *fill;      // [rows + 1], [rows]
  int32_t *unsorted, *sorted; // [count]

  ScatterWorkspace(Context &ctx, int64_t rows, int64_t count) {
    const auto padded = [](int64_t n) { return size_t((n + 63) / 64 * 64); };
    char *memory = ctx.workspace(
        4 * (padded(rows + 1) + padded(rows) + 2 * padded(count)));
    begin = reinterpret_cast<int32_t *>(memory);
    fill = begin + padded(rows + 1);
    unsorted = fill + padded(rows);
    sorted = unsorted + padded(count);
  }
};

KERNEL void scatter_count(const int64_t *index, int64_t count, int64_t rows,
                          int32_t *size) {
  const int64_t i = block() * blockDim.x + threadIdx.x;
  if (i < count)
    atomicAdd(size + detail::row_of(index[i], rows), 1);
}

// begin[r] = the sum of the sizes before r; one block of 1024 threads, each of
// which owns consecutive rows.
KERNEL void scatter_begin(const int32_t *size, int32_t *begin, int64_t rows) {
  __shared__ int32_t of_thread[1024];
  const int64_t each = (rows + 1023) / 1024, first = threadIdx.x * each;
  const int64_t last = first + each < rows ? first + each : rows;
  int32_t sum = 0;
  for (int64_t r = first; r < last; r++)
    sum += size[r];
  of_thread[threadIdx.x] = sum;
  __syncthreads();
  int32_t before = 0;
  for (int t = 0; t < int(threadIdx.x); t++)
    before += of_thread[t];
  for (int64_t r = first; r < last; r++) {
    begin[r] = before;
    before += size[r];
  }
  if (threadIdx.x == 1023)
    begin[rows] = before;
}

KERNEL void scatter_fill(const int64_t *index, int64_t count, int64_t rows,
                         const int32_t *begin, int32_t *fill,
                         int32_t *unsorted) {
  const int64_t i = block() * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const int64_t row = detail::row_of(index[i], rows);
  unsorted[begin[row] + atomicAdd(fill + row, 1)] = int32_t(i);
}

template <class T, class D>
KERNEL void scatter_sum(const int32_t *begin, const int32_t *unsorted,
                        int32_t *sorted, const T *dy, int64_t cols, D *dtable,
                        bool accumulate) {
  const int64_t row = block();
  const int32_t from = begin[row], to = begin[row + 1];
  if (from == to && accumulate)
    return;
  for (int32_t k = from + int32_t(threadIdx.x); k < to;
       k += int32_t(blockDim.x)) {
    int32_t rank = 0;
    for (int32_t other = from; other < to; other++)
      rank += unsorted[other] < unsorted[k];
    sorted[from + rank] = unsorted[k];
  }
  __syncthreads();
  using C = Compute<D>;
  D *out = dtable + row * cols;
  for (int64_t c = first_lane(); c < cols; c += lane_step()) {
    Lanes<C> sum = accumulate ? load(out + c, cols - c) : Lanes<C>(C(0));
    for (int32_t k = from; k < to; k++)
      sum += convert<C>(load(dy + sorted[k] * cols + c, cols - c));
    store(out + c, sum, cols - c);
  }
}

// beta 0: dtable is written; 1: it is added to.
template <class T, class D>
void scatter_add_rows(Context &ctx, const int64_t *index, int64_t count,
                      const T *dy, int64_t rows, int64_t cols, D *dtable,
                      double beta) {
  const ScatterWorkspace w(ctx, rows, count);
  set_zero(ctx, w.fill, size_t(rows) * 4);
  launch(ctx, ceil_div(count, 256), 256, scatter_count, index, count, rows,
         w.fill);
  launch(ctx, 1, 1024, scatter_begin, static_cast<const int32_t *>(w.fill),
         w.begin, rows);
  set_zero(ctx, w.fill, size_t(rows) * 4);
  launch(ctx, ceil_div(count, 256), 256, scatter_fill, index, count, rows,
         static_cast<const int32_t *>(w.begin), w.fill, w.unsorted);
  launch(ctx, rows, 128, scatter_sum<T, D>,
         static_cast<const int32_t *>(w.begin),
         static_cast<const int32_t *>(w.unsorted), w.sorted, dy, cols, dtable,
         beta != 0);
}

#endif

} // namespace gpuopt
