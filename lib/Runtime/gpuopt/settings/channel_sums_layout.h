// How channel_sums (gpuopt/ops/channel_sums_cuda.h) divides pixels among
// blocks, and the workspace that it takes for that. The compiler reserves this
// much. This file is C++17, as the compiler is.
#pragma once

#include <cstdint>

namespace gpuopt {

// Each part of the pixels has its own sums, which are added up afterwards. The
// number of parts depends on the pixels alone, since it decides in which order
// numbers are added.
constexpr int64_t kMostChannelSumsParts = 1024;
constexpr int64_t kLeastPixelsOfPart = 64;

struct ChannelSumsLayout {
  // `pixels` are those of all images, and `bytes_of_sum` is the size of a sum.
  constexpr ChannelSumsLayout(int64_t pixels, int64_t channels,
                              int64_t bytes_of_sum)
      : pixels_of_part(
            larger(kLeastPixelsOfPart, divided(pixels, kMostChannelSumsParts))),
        parts(divided(pixels, pixels_of_part)), squares(parts * channels),
        bytes(divided(2 * squares * bytes_of_sum, 256) * 256) {}

  int64_t pixels_of_part; // the last part may have fewer
  int64_t parts;
  int64_t squares; // the place of the sums of squares, in elements
  int64_t bytes;   // of [2, parts, channels] sums

private:
  static constexpr int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
  }
  static constexpr int64_t divided(int64_t a, int64_t b) {
    return (a + b - 1) / b;
  }
};

} // namespace gpuopt
