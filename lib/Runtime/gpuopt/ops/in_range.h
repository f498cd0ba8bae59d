// Indices that a program computes may lie outside of their dimension. Nothing
// is read there: the index becomes 0, and the first such index is noted for the
// trainer, which ends with an error.
#pragma once

#include "gpuopt/kernels/lanes.h"
#include "gpuopt/optimizers/optimizer.h"

namespace gpuopt {

// Several blocks may find one; the first to write is kept.
DEVICE void note_outside(StepState *state, int32_t number, int64_t index,
                         int64_t position) {
  IndexOutside &outside = state->outside;
#ifdef __CUDACC__
  if (atomicCAS(&outside.is_taken, 0, 1) != 0)
    return;
#else
  if (__atomic_exchange_n(&outside.is_taken, 1, __ATOMIC_RELAXED) != 0)
    return;
#endif
  outside.number = number;
  outside.index = index;
  outside.position = position;
}

// Returns the index, counted from the front if it is negative.
DEVICE int64_t in_range(StepState *state, int32_t number, int64_t size,
                        int64_t index, int64_t position) {
  const int64_t place = index < 0 ? index + size : index;
  if (place >= 0 && place < size)
    return place;
  note_outside(state, number, index, position);
  return 0;
}

// `n` is the number of lanes from here to the end; what the other lanes hold
// does not matter.
DEVICE Lanes<int64_t> in_range(StepState *state, int32_t number, int64_t size,
                               Lanes<int64_t> index, Lanes<int64_t> position,
                               int64_t n) {
  Lanes<int64_t> places(0);
  for (int k = 0; k < kLanes && k < n; k++)
    set_lane(places, k,
             in_range(state, number, size, lane(index, k), lane(position, k)));
  return places;
}

} // namespace gpuopt
