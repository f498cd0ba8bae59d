// The sums of the channels of an activation, and those of their squares:
//
//   sum[c] = y[0, c] + y[1, c] + ..., squares[c] = y[0, c]^2 + ...
//
// They are for convolutions whose engine does not add them up itself.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/settings/column_sums_layout.h"

namespace gpuopt {
namespace detail {

// Each block adds up one part of the pixels, in their order.
template <class T>
KERNEL void channel_sums_of_parts(const T *y, int64_t pixels, int64_t channels,
                                  ColumnSumsLayout layout,
                                  Compute<T> *partial) {
  using C = Compute<T>;
  const int64_t part = block();
  const int64_t first = part * layout.rows_of_part;
  const int64_t last = first + layout.rows_of_part < pixels
                           ? first + layout.rows_of_part
                           : pixels;
  for (int64_t c = first_lane(); c < channels; c += lane_step()) {
    Lanes<C> sum(C(0)), squares(C(0));
    for (int64_t pixel = first; pixel < last; pixel++) {
      const Lanes<C> value = load(y + pixel * channels + c, channels - c);
      sum += value;
      squares += value * value;
    }
    store(partial + part * channels + c, sum, channels - c);
    store(partial + layout.sums + part * channels + c, squares, channels - c);
  }
}

// Returns the sum of x over all threads of a block.
template <class C>
DEVICE C sum_of_threads(C x) {
  Lanes<C> lanes(C(0));
  lanes.part[0] = x;
  return block_sum(lanes);
}

// Each block adds up the parts of one channel.
template <class C>
KERNEL void channel_sums_of_all(const C *partial, int64_t channels,
                                ColumnSumsLayout layout, C *sum, C *squares) {
  const int64_t channel = block();
  C own = 0, own_squares = 0;
  for (int64_t part = threadIdx.x; part < layout.parts; part += blockDim.x) {
    own += partial[part * channels + channel];
    own_squares += partial[layout.sums + part * channels + channel];
  }
  own = sum_of_threads(own);
  own_squares = sum_of_threads(own_squares);
  if (first_thread()) {
    sum[channel] = own;
    squares[channel] = own_squares;
  }
}

} // namespace detail

// `y` is [pixels, channels]; the context's workspace has the bytes that
// ColumnSumsLayout says.
template <class T>
void channel_sums(Context &ctx, int64_t pixels, int64_t channels, const T *y,
                  Compute<T> *sum, Compute<T> *squares) {
  constexpr int64_t kWarp = 32, kMostThreads = 256;
  const ColumnSumsLayout layout(pixels, channels, sizeof(Compute<T>), 2);
  auto *partial =
      reinterpret_cast<Compute<T> *>(ctx.workspace(size_t(layout.bytes)));
  const int64_t threads = ceil_div(ceil_div(channels, kLanes), kWarp) * kWarp;
  launch(ctx, layout.parts, threads < kMostThreads ? threads : kMostThreads,
         detail::channel_sums_of_parts<T>, y, pixels, channels, layout,
         partial);
  launch(ctx, channels, kMostThreads, detail::channel_sums_of_all<Compute<T>>,
         static_cast<const Compute<T> *>(partial), channels, layout, sum,
         squares);
}

} // namespace gpuopt
