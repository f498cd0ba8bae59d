// Facts that the compiler and programs share about fast products. This file
// is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// Products in half precision are fast where each matrix has a multiple of so
// many elements along its unit stride, and begins its rows at such multiples:
// these are 16 bytes. In TF32, half as many are.
constexpr int64_t kEvenElements = 8, kEvenFloats = 4;

// Whether the rows of a matrix, which lie along its unit stride, begin at
// multiples of `even` elements, as a single row does. The matrix has the
// extents `rows` and `cols` and the strides `row` and `col`, one of which is 1.
constexpr bool has_even_rows(int64_t rows, int64_t cols, int64_t row,
                             int64_t col, int64_t even = kEvenElements) {
  const bool is_row_major = col == 1;
  return (is_row_major ? rows : cols) == 1 ||
         (is_row_major ? row : col) % even == 0;
}

// Returns what of an extent is over a multiple of `even` and is computed by a
// product of its own; 0 where no matrix has the extent along its unit stride.
constexpr int64_t odd_end(int64_t extent, bool is_along_unit_stride,
                          int64_t even = kEvenElements) {
  return is_along_unit_stride && extent > even ? extent % even : 0;
}

// Returns how many 32-bit words a row of `columns` bits has in the mask of a
// ReLU: libraries begin each row at a multiple of 128 bits.
constexpr int64_t mask_words(int64_t columns) {
  constexpr int64_t kBits = 128, kWordsOfBits = kBits / 32;
  return (columns + kBits - 1) / kBits * kWordsOfBits;
}

} // namespace gpuopt
