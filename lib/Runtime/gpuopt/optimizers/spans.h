// Work on each element of tensors. A block takes one span, kSpan elements: of
// one tensor or, in one launch, of all tensors that a table names.
//
//   DEVICE_TABLE CopyRow<float, float, float> kSums[] = {
//       {1024, 66560, 16000, 0}, // to, from, elements, first span
//       {65024, 130560, 300, 2},
//   };
//   accumulate(ctx, state, m, kSums, 3); // so many spans in all
//
// The spans of a table are numbered row by row, so a row has first_span, how
// many there are in the rows before it. Each element is computed as it is by a
// launch for its tensor alone.
#pragma once

#include "gpuopt/device/buffer.h"
#include "gpuopt/device/device.h"
#include "gpuopt/settings/limits.h"

namespace gpuopt {

// Threads of a block that works on kSpan elements.
constexpr int kSpanThreads = 256;

// Calls f(i, left) for the elements of a span of n, kLanes at a time: from i
// on, of which `left` are in the span.
template <class F>
DEVICE void for_span(int64_t span, int64_t n, const F &f) {
  const int64_t begin = span * kSpan;
  const int64_t end = begin + kSpan < n ? begin + kSpan : n;
  for (int64_t i = begin + first_lane(); i < end; i += lane_step())
    f(i, end - i);
}

// A tensor of a table in which some are of type T and others of type H.
template <class T, class H>
struct EitherBuffer {
  constexpr EitherBuffer(size_t offset, bool is_half = false)
      : offset(offset), is_half(is_half) {}
  template <class X>
  constexpr EitherBuffer(Buffer<X> buffer)
      : offset(buffer.offset), is_half(!std::is_same_v<X, T>) {
    static_assert(std::is_same_v<X, T> || std::is_same_v<X, H>);
  }
  size_t offset;
  bool is_half;

  // Calls f with where the tensor begins.
  template <class F>
  DEVICE void visit(Memory m, const F &f) const {
    if constexpr (!std::is_same_v<T, H>)
      if (is_half)
        return f(m[Buffer<H>(offset)]);
    f(m[Buffer<T>(offset)]);
  }
};

// The rows of a table, in the device's memory.
template <class Row>
struct Rows {
  const Row *first;
  int count;

  // Returns the row whose span it is: the last one that begins with it or
  // before it, since a row without elements begins where the next one does.
  DEVICE const Row &of_span(int64_t span) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first[middle].first_span <= span ? low : high) = middle;
    }
    return first[low];
  }
};

template <class Row, class Work>
KERNEL void for_rows_kernel(Memory m, Rows<Row> rows, Work work) {
  const int64_t span = block();
  const Row &row = rows.of_span(span);
  work(m, row, span - row.first_span);
}
// Runs work(m, row, span), where `span` counts from the row's first one, for
// all `spans` of a DEVICE_TABLE in one launch.
template <class Row, size_t kRows, class Work>
void for_rows(Context &ctx, Memory m, const Row (&table)[kRows], int64_t spans,
              Work work, int threads = kSpanThreads) {
  launch(ctx, spans, threads, for_rows_kernel<Row, Work>, m,
         Rows<Row>{on_device(table), int(kRows)}, work);
}

// A row of a table of copies: `elements` go `to` where they are T or H.
template <class To, class T, class H>
struct CopyRow {
  Buffer<To> to;
  EitherBuffer<T, H> from;
  int64_t elements, first_span;
};

// A row of a table of sums (ops/sum_parts.h): `count` parts of `columns` each.
struct SumPartsRow {
  Buffer<float> sum, parts;
  int64_t count, columns, first_span;
};

} // namespace gpuopt
