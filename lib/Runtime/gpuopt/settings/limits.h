// Numbers that the compiler and the programs that it writes must agree on.
// This file is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// Dimensions of a tensor that a program describes.
constexpr int kMaxDims = 8;

// The bytes that the hyperparameters of a parameter group take.
constexpr int64_t kParamGroupBytes = 2048;

// Elements that one block of the runtime's elementwise kernels works on.
constexpr int64_t kSpan = 8192;
// The rows and columns of a tile that a processor transposes in its registers.
constexpr int64_t kTileRows = 16;
// How many partial sums sum_of_squares writes for a gradient of n elements.
constexpr int64_t sum_of_squares_partials(int64_t n) {
  return (n + kSpan - 1) / kSpan;
}

// How many parts the `terms` of each sum for a bias of attention are cut into,
// which are added up at the end. All parts of a bias of so many `elements` are
// at most 2^20 partial sums, or there is one part.
constexpr int64_t parts_of_bias_sums(int64_t elements, int64_t terms) {
  const int64_t most = (int64_t(1) << 20) / elements;
  return most < 1 ? 1 : most < terms ? most : terms;
}

// The columns that one block adds up, in ops/column_sums.h.
constexpr int64_t kSumColumns = 64;
// How many blocks add up the parts of a sum over so many columns.
constexpr int64_t sum_parts_blocks(int64_t columns) {
  return (columns + kSumColumns - 1) / kSumColumns;
}

// The rows of a gradient whose columns the backward of attention adds up to one
// part of a sum.
constexpr int64_t kAttentionSumRows = 64;
// The largest head for which it does.
constexpr int64_t kLargestSummedHead = 128;

} // namespace gpuopt
