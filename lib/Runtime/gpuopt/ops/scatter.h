// dtable[index[i], :] += dy[i, :], the gradient of an embedding. The order in
// which the rows of dy that go to one row of the table are added is fixed by
// their positions, so every run has the same bits.
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
} // namespace gpuopt

#ifdef __CUDACC__
#include "gpuopt/ops/scatter_cuda.h"
#else
#include "gpuopt/ops/scatter_host.h"
#endif
