// Places in the one allocation that a program makes.
#pragma once

#include "gpuopt/kernels/types.h"

namespace gpuopt {

// The offset of a tensor that a table could name, but that there is not.
constexpr size_t kNowhere = ~size_t(0);

template <class T>
struct Buffer { // elements of T from `offset` on
  HOST_DEVICE constexpr Buffer(size_t offset) : offset(offset) {}
  size_t offset;
};

struct Memory { // the allocation: m[kBuffer] is where the buffer begins
  char *start;
  template <class T>
  HOST_DEVICE T *operator[](Buffer<T> buffer) const {
    return reinterpret_cast<T *>(start + buffer.offset);
  }
  template <class T>
  HOST_DEVICE T *find(Buffer<T> buffer) const { // null at kNowhere
    return buffer.offset == kNowhere ? nullptr : (*this)[buffer];
  }
};

} // namespace gpuopt
