// How scatter_add_rows divides the workspace on a GPU. The compiler reserves
// this much. This file is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// The sum of a row that occurs more often than this is divided into segments,
// one for each so many of its positions.
constexpr int64_t kScatterSegment = 128;

// Offsets in bytes, each a multiple of 256.
struct ScatterLayout {
  // `rows` are those of the table, `count` is the number of indices, `columns`
  // that of a row, and `bytes_of_sum` the size of an element while it is
  // summed.
  constexpr ScatterLayout(int64_t rows, int64_t count, int64_t columns,
                          int64_t bytes_of_sum)
      : long_rows(count / kScatterSegment), segments(2 * long_rows) {
    begin = take(4 * (rows + 1));
    fill = take(4 * rows);
    unsorted = take(4 * count);
    sorted = take(4 * count);
    long_row = take(4 * long_rows);
    first_segment = take(4 * (long_rows + 1));
    long_count = take(4);
    partial = take(segments * columns * bytes_of_sum);
  }

  // The most rows that can be divided, and the most segments that they can have
  // together: a row of n positions has at most n / kScatterSegment + 1.
  int64_t long_rows, segments;

  int64_t begin = 0;         // [rows + 1]: where a row's positions begin
  int64_t fill = 0;          // [rows]: counts
  int64_t unsorted = 0;      // [count]: positions, by row
  int64_t sorted = 0;        // [count]: the same, ascending in each row
  int64_t long_row = 0;      // [long_rows]: which rows are divided
  int64_t first_segment = 0; // [long_rows + 1]: where their segments begin
  int64_t long_count = 0;    // [1]: how many they are
  int64_t partial = 0;       // [segments, columns]: sums of segments
  int64_t bytes = 0;

private:
  constexpr int64_t take(int64_t size) {
    const int64_t offset = bytes;
    bytes += (size + 255) / 256 * 256;
    return offset;
  }
};

} // namespace gpuopt
