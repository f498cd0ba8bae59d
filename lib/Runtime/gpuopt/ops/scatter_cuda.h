// The gradient of an embedding on a GPU. The positions of the indices are put
// into a bucket for each row of the table, and each bucket is sorted. A block
// sums the rows of dy at the positions of a short bucket. A long bucket, of a
// token that occurs often, is divided into segments, whose sums are added in a
// second step: one block would take as long as all others together. Atomics are
// used for integer counts only, so their order does not change the result.
#pragma once

#include "gpuopt/ops/scatter.h"
#include "gpuopt/settings/scatter_layout.h"

namespace gpuopt {

// Pointers into the workspace; ScatterLayout says what they have.
template <class C>
struct ScatterBuckets {
  int32_t *begin, *fill, *unsorted, *sorted;
  int32_t *long_row, *first_segment, *long_count;
  C *partial;

  ScatterBuckets(char *memory, const ScatterLayout &layout)
      : begin(reinterpret_cast<int32_t *>(memory + layout.begin)),
        fill(reinterpret_cast<int32_t *>(memory + layout.fill)),
        unsorted(reinterpret_cast<int32_t *>(memory + layout.unsorted)),
        sorted(reinterpret_cast<int32_t *>(memory + layout.sorted)),
        long_row(reinterpret_cast<int32_t *>(memory + layout.long_row)),
        first_segment(
            reinterpret_cast<int32_t *>(memory + layout.first_segment)),
        long_count(reinterpret_cast<int32_t *>(memory + layout.long_count)),
        partial(reinterpret_cast<C *>(memory + layout.partial)) {}
};

// ---- Buckets ---------------------------------------------------------------

constexpr int kScatterThreads = 1024; // of the blocks that count and sort

KERNEL void scatter_count(const int64_t *index, int64_t count, int64_t rows,
                          int32_t *size) {
  const int64_t i = block() * blockDim.x + threadIdx.x;
  if (i < count)
    atomicAdd(size + detail::row_of(index[i], rows), 1);
}

// Returns the sum of what the threads before this one have. All threads of a
// block of kScatterThreads call it.
DEVICE int32_t sum_before(int32_t value) {
  __shared__ int32_t of_warp[kScatterThreads / 32];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  int32_t sum = value; // up to this lane
  UNROLL
  for (int distance = 1; distance < 32; distance *= 2) {
    const int32_t other = __shfl_up_sync(0xffffffffu, sum, unsigned(distance));
    sum += lane >= distance ? other : 0;
  }
  __syncthreads(); // the values of the call before may still be read
  if (lane == 31)
    of_warp[warp] = sum;
  __syncthreads();
  for (int before = 0; before < warp; before++)
    sum += of_warp[before];
  return sum - value;
}

DEVICE int32_t segments_of(int32_t size) {
  return size <= kScatterSegment
             ? 0
             : int32_t((size + kScatterSegment - 1) / kScatterSegment);
}

// One block, in which each thread owns consecutive rows of the table: where the
// buckets begin, which of them are long, and where their segments begin. The
// buckets' fill, which was their size, is 0 again afterwards.
template <class C>
KERNEL void scatter_begin(ScatterBuckets<C> buckets, int64_t rows) {
  const int64_t each = ceil_div(rows, kScatterThreads);
  const int64_t first = threadIdx.x * each;
  const int64_t last = first + each < rows ? first + each : rows;
  int32_t size = 0, segments = 0, long_rows = 0;
  for (int64_t r = first; r < last; r++) {
    size += buckets.fill[r];
    segments += segments_of(buckets.fill[r]);
    long_rows += segments_of(buckets.fill[r]) > 0;
  }
  int32_t begin = sum_before(size), segment = sum_before(segments),
          place = sum_before(long_rows);
  for (int64_t r = first; r < last; r++) {
    buckets.begin[r] = begin;
    begin += buckets.fill[r];
    if (const int32_t own = segments_of(buckets.fill[r]); own > 0) {
      buckets.long_row[place] = int32_t(r);
      buckets.first_segment[place++] = segment;
      segment += own;
    }
    buckets.fill[r] = 0;
  }
  if (threadIdx.x == kScatterThreads - 1) {
    buckets.begin[rows] = begin;
    buckets.first_segment[place] = segment;
    *buckets.long_count = place;
  }
}

template <class C>
KERNEL void scatter_fill(const int64_t *index, int64_t count, int64_t rows,
                         ScatterBuckets<C> buckets) {
  const int64_t i = block() * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const int64_t row = detail::row_of(index[i], rows);
  buckets.unsorted[buckets.begin[row] + atomicAdd(buckets.fill + row, 1)] =
      int32_t(i);
}

// Puts the positions into their buckets, in no order.
template <class C>
void fill_buckets(Context &ctx, const int64_t *index, int64_t count,
                  int64_t rows, const ScatterBuckets<C> &buckets) {
  const int64_t blocks = ceil_div(count, 256);
  set_zero(ctx, buckets.fill, size_t(rows) * 4);
  launch(ctx, blocks, 256, scatter_count, index, count, rows, buckets.fill);
  launch(ctx, 1, kScatterThreads, scatter_begin<C>, buckets, rows);
  launch(ctx, blocks, 256, scatter_fill<C>, index, count, rows, buckets);
}

// ---- Sorting ---------------------------------------------------------------

// Puts each position of a bucket behind those that are smaller.
template <class C>
DEVICE void sort_by_rank(const ScatterBuckets<C> &buckets, int32_t from,
                         int32_t to) {
  for (int32_t k = from + int32_t(threadIdx.x); k < to;
       k += int32_t(blockDim.x)) {
    int32_t rank = 0;
    for (int32_t other = from; other < to; other++)
      rank += buckets.unsorted[other] < buckets.unsorted[k];
    buckets.sorted[from + rank] = buckets.unsorted[k];
  }
}

// Finds the positions of a row again, in their order, among all indices.
template <class C>
DEVICE void sort_by_search(const ScatterBuckets<C> &buckets, int64_t row,
                           const int64_t *index, int64_t count, int64_t rows) {
  const int64_t each = ceil_div(count, kScatterThreads);
  const int64_t first = threadIdx.x * each;
  const int64_t last = first + each < count ? first + each : count;
  int32_t found = 0;
  for (int64_t i = first; i < last; i++)
    found += detail::row_of(index[i], rows) == row;
  int32_t *to = buckets.sorted + buckets.begin[row] + sum_before(found);
  for (int64_t i = first; i < last; i++)
    if (detail::row_of(index[i], rows) == row)
      *to++ = int32_t(i);
}

// A block for each long bucket. To compare all pairs of its positions takes
// n * n steps, a search takes as many as there are indices.
template <class C>
KERNEL void scatter_sort_long(const int64_t *index, int64_t count, int64_t rows,
                              ScatterBuckets<C> buckets) {
  if (block() >= *buckets.long_count)
    return;
  const int64_t row = buckets.long_row[block()];
  const int32_t from = buckets.begin[row], to = buckets.begin[row + 1];
  if (int64_t(to - from) * (to - from) < 2 * count)
    sort_by_rank(buckets, from, to);
  else
    sort_by_search(buckets, row, index, count, rows);
}

// ---- Sums ------------------------------------------------------------------

// Adds `count` rows of dy from column c on, in their order. Four loads are
// under way before the first is added.
template <class C, class T>
DEVICE Lanes<C> add_rows(Lanes<C> sum, const T *dy, const int32_t *positions,
                         int32_t count, int64_t cols, int64_t c) {
  constexpr int kAtOnce = 4;
  int32_t k = 0;
  for (; k + kAtOnce <= count; k += kAtOnce) {
    Lanes<C> rows[kAtOnce];
    UNROLL
    for (int j = 0; j < kAtOnce; j++)
      rows[j] = convert<C>(load(dy + positions[k + j] * cols + c, cols - c));
    UNROLL
    for (int j = 0; j < kAtOnce; j++)
      sum += rows[j];
  }
  for (; k < count; k++)
    sum += convert<C>(load(dy + positions[k] * cols + c, cols - c));
  return sum;
}

// A block for each row of the table, which leaves long buckets to others.
template <class T, class D>
KERNEL void scatter_sum(ScatterBuckets<Compute<D>> buckets, const T *dy,
                        int64_t cols, D *dtable, bool accumulate) {
  using C = Compute<D>;
  const int64_t row = block();
  const int32_t from = buckets.begin[row], to = buckets.begin[row + 1];
  if (segments_of(to - from) > 0 || (from == to && accumulate))
    return;
  sort_by_rank(buckets, from, to);
  __syncthreads();
  D *out = dtable + row * cols;
  for (int64_t c = first_lane(); c < cols; c += lane_step()) {
    const Lanes<C> sum = accumulate ? load(out + c, cols - c) : Lanes<C>(C(0));
    store(out + c, add_rows(sum, dy, buckets.sorted + from, to - from, cols, c),
          cols - c);
  }
}

// Returns the long bucket that a segment is in.
template <class C>
DEVICE int32_t bucket_of_segment(const ScatterBuckets<C> &buckets,
                                 int64_t segment) {
  int32_t first = 0, last = *buckets.long_count;
  while (last - first > 1) {
    const int32_t middle = (first + last) / 2;
    if (buckets.first_segment[middle] <= segment)
      first = middle;
    else
      last = middle;
  }
  return first;
}

// A block for each segment of a long bucket.
template <class C, class T>
KERNEL void scatter_sum_segments(ScatterBuckets<C> buckets, const T *dy,
                                 int64_t cols) {
  const int64_t segment = block();
  if (segment >= buckets.first_segment[*buckets.long_count])
    return;
  const int32_t bucket = bucket_of_segment(buckets, segment);
  const int32_t row = buckets.long_row[bucket], end = buckets.begin[row + 1];
  const int64_t from =
      buckets.begin[row] +
      (segment - buckets.first_segment[bucket]) * kScatterSegment;
  const int32_t count =
      int32_t(end - from < kScatterSegment ? end - from : kScatterSegment);
  C *out = buckets.partial + segment * cols;
  for (int64_t c = first_lane(); c < cols; c += lane_step())
    store(out + c,
          add_rows(Lanes<C>(C(0)), dy, buckets.sorted + from, count, cols, c),
          cols - c);
}

// A block for each long bucket, which adds the sums of its segments.
template <class D>
KERNEL void scatter_add_segments(ScatterBuckets<Compute<D>> buckets,
                                 int64_t cols, D *dtable, bool accumulate) {
  using C = Compute<D>;
  if (block() >= *buckets.long_count)
    return;
  D *out = dtable + buckets.long_row[block()] * cols;
  const int32_t first = buckets.first_segment[block()];
  const int32_t last = buckets.first_segment[block() + 1];
  for (int64_t c = first_lane(); c < cols; c += lane_step()) {
    Lanes<C> sum = accumulate ? load(out + c, cols - c) : Lanes<C>(C(0));
#pragma unroll 4
    for (int32_t s = first; s < last; s++)
      sum += load(buckets.partial + s * cols + c, cols - c);
    store(out + c, sum, cols - c);
  }
}

// beta 0: dtable is written; 1: it is added to.
template <class T, class D>
void scatter_add_rows(Context &ctx, const int64_t *index, int64_t count,
                      const T *dy, int64_t rows, int64_t cols, D *dtable,
                      double beta) {
  using C = Compute<D>;
  const ScatterLayout layout(rows, count, cols, sizeof(C));
  const ScatterBuckets<C> buckets(ctx.workspace(size_t(layout.bytes)), layout);
  const bool accumulate = beta != 0;
  fill_buckets(ctx, index, count, rows, buckets);
  launch(ctx, rows, 128, scatter_sum<T, D>, buckets, dy, cols, dtable,
         accumulate);
  launch(ctx, layout.long_rows, kScatterThreads, scatter_sort_long<C>, index,
         count, rows, buckets);
  launch(ctx, layout.segments, 128, scatter_sum_segments<C, T>, buckets, dy,
         cols);
  launch(ctx, layout.long_rows, 128, scatter_add_segments<D>, buckets, cols,
         dtable, accumulate);
}

} // namespace gpuopt
