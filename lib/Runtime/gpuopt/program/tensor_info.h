// The program's description of its tensors.
#pragma once

#include "gpuopt/kernels/types.h"
#include "gpuopt/settings/limits.h"

namespace gpuopt {

// A tensor in the program's one allocation.
struct TensorInfo {
  const char *name; // the ONNX file's
  Type type;
  int rank;
  int64_t shape[kMaxDims];
  size_t offset, bytes;

  int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
      n *= shape[i];
    return n;
  }
};

// Written before each micro step; the first dimension is the batch.
struct InputInfo {
  TensorInfo tensor;
  // Values lie in [index_lowest, index_limit) or, of floating-point numbers, in
  // [index_lowest, index_limit]; -1: anything.
  int64_t index_limit = -1;
  bool is_label = false; // --labels, or the next token
  int64_t ignore_index =
      INT64_MIN; // a label outside the limit that counts for nothing
  int64_t index_lowest = 0;
  // The output that begins with this input along one dimension; -1: none.
  // `place_inputs` copies the input there, and `forward` reads it there.
  int placed_in = -1;
};

template <class T>
struct Table {
  const T *data = nullptr;
  int count = 0;
  Table() = default;
  template <int N>
  constexpr Table(const T (&items)[N]) : data(items), count(N) {}
  const T *begin() const { return data; }
  const T *end() const { return data + count; }
};

} // namespace gpuopt
