// Numbers that the compiler and the programs that it writes must agree on.
// This file is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// Dimensions of a tensor that a program describes.
constexpr int kMaxDims = 8;
// Names in the file of weights that one tensor has, where weights are tied.
constexpr int kMaxNames = 16;

// Elements that one block of the runtime's elementwise kernels works on.
constexpr int64_t kSpan = 8192;
// How many partial sums sum_of_squares writes for a gradient of n elements.
constexpr int64_t sum_of_squares_partials(int64_t n) {
  return (n + kSpan - 1) / kSpan;
}

} // namespace gpuopt
