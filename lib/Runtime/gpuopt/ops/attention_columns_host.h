// Sums over the columns of what attention's backward writes, on the host.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/lanes.h"
#include "gpuopt/kernels/memory.h"
#include "gpuopt/ops/attention.h"

#include <algorithm>

namespace gpuopt {
namespace detail {

// Adds up the columns of one tensor of AttentionColumns, as it is stored: the
// rows of each part in their order.
template <class T>
void add_up_columns([[maybe_unused]] Context &ctx, const AttentionShape &s,
                    int which, int64_t size, const T *x,
                    const int64_t (&batch)[3], int64_t row, float *sums) {
  const AttentionColumns columns(s);
  const int64_t heads = s.batch[1];
#pragma omp parallel for num_threads(ctx.num_threads)
  for (int64_t i = 0; i < s.batch[0] * heads * columns.tiles; i++) {
    const int64_t tile = i % columns.tiles, head = i / columns.tiles % heads,
                  of_batch = i / columns.tiles / heads;
    const T *from = x + of_batch * batch[0] + head * batch[1];
    float *to = sums + columns.place(which, of_batch, head, tile, size);
    const int64_t begin = tile * kAttentionSumRows,
                  end = std::min(begin + kAttentionSumRows, s.queries);
    for (int64_t j = 0; j < size; j += kLanes) {
      Lanes<float> sum(0.0f);
      for (int64_t r = begin; r < end; r++)
        sum += load(from + r * row + j, size - j);
      store(to + j, sum, size - j);
    }
  }
}

} // namespace detail

} // namespace gpuopt
