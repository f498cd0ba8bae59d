// How the runtime's kernels divide the rows of a matrix among blocks where they
// add up its columns, and the workspace that they take for that. The compiler
// reserves this much. This file is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// Each part of the rows has its own sums, which are added up afterwards. The
// number of parts depends on the rows alone, since it decides in which order
// numbers are added.
constexpr int64_t kMostColumnSumsParts = 1024;
constexpr int64_t kLeastRowsOfPart = 64;

struct ColumnSumsLayout {
  // `kinds` sums are formed of each column, each of them of `bytes_of_sum`.
  constexpr ColumnSumsLayout(int64_t rows, int64_t columns,
                             int64_t bytes_of_sum, int64_t kinds = 1)
      : rows_of_part(
            larger(kLeastRowsOfPart, divided(rows, kMostColumnSumsParts))),
        parts(divided(rows, rows_of_part)), sums(parts * columns),
        bytes(divided(kinds * sums * bytes_of_sum, 256) * 256) {}

  int64_t rows_of_part; // the last part may have fewer
  int64_t parts;
  int64_t sums;  // of all parts, of one kind; those of the next kind follow
  int64_t bytes; // of [kinds, parts, columns] sums

private:
  static constexpr int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
  }
  static constexpr int64_t divided(int64_t a, int64_t b) {
    return (a + b - 1) / b;
  }
};

} // namespace gpuopt
