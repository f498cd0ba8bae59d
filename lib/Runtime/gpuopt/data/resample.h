// Pictures in another size: the antialiased bilinear filter of PIL, bit for bit
// (src/libImaging/Resample.c). Each pixel is a weighted sum of those that the
// filter covers, with weights of 22 bits; columns come first, and what lies
// between the two passes is rounded to 8 bits.
#pragma once

#include "gpuopt/data/image.h"

#include <cmath>

namespace gpuopt {

namespace detail {

// The weights of a pass: output i of `first_output` on is the sum over k of
// weights[i * most + k] * input[first[i] + k].
struct ResampleWeights {
  static constexpr int kBits = 22;
  int64_t most = 0; // weights of one output
  std::vector<int64_t> first, count;
  std::vector<int32_t> weights;

  // From `in` pixels to `out`, of which those in [begin, end) are wanted.
  ResampleWeights(int64_t in, int64_t out, int64_t begin, int64_t end) {
    const double scale = double(in) / double(out);
    const double support = std::max(scale, 1.0); // of the triangle
    most = int64_t(std::ceil(support)) * 2 + 1;
    weights.resize(size_t((end - begin) * most));
    std::vector<double> exact(static_cast<size_t>(most));
    for (int64_t i = begin; i < end; i++) {
      const double center = (double(i) + 0.5) * scale;
      const int64_t from =
          std::max<int64_t>(0, int64_t(center - support + 0.5));
      const int64_t n = std::min(in, int64_t(center + support + 0.5)) - from;
      double sum = 0;
      for (int64_t k = 0; k < n; k++) {
        const double distance =
            std::abs((double(k + from) - center + 0.5) * (1.0 / support));
        sum += exact[size_t(k)] = distance < 1 ? 1 - distance : 0;
      }
      for (int64_t k = 0; k < n; k++)
        weights[first.size() * size_t(most) + size_t(k)] = int32_t(
            0.5 + (sum != 0 ? exact[size_t(k)] / sum : exact[size_t(k)]) *
                      double(1 << kBits));
      first.push_back(from);
      count.push_back(n);
    }
  }
  static uint8_t rounded(int32_t sum) {
    return uint8_t(std::clamp(sum >> kBits, 0, 255));
  }
  static constexpr int32_t kHalf = 1 << (kBits - 1);
};

inline void resample_columns(const uint8_t *from, const ResampleWeights &table,
                             uint8_t *to) {
  for (size_t i = 0; i < table.first.size(); i++, to += 4) {
    const uint8_t *pixel = from + table.first[i] * Image::kPixelBytes;
    const int32_t *weight = table.weights.data() + i * size_t(table.most);
    int32_t sum[4] = {ResampleWeights::kHalf, ResampleWeights::kHalf,
                      ResampleWeights::kHalf, ResampleWeights::kHalf};
    for (int64_t k = 0; k < table.count[i]; k++, pixel += 4)
      for (int c = 0; c < 4; c++)
        sum[c] += weight[k] * int32_t(pixel[c]);
    for (int c = 0; c < 4; c++)
      to[c] = ResampleWeights::rounded(sum[c]);
  }
}

// Adds up `count` rows, one `stride` bytes after the other.
inline void resample_rows(const uint8_t *from, int64_t stride, int64_t count,
                          const int32_t *weight, int64_t bytes, uint8_t *to) {
  constexpr int64_t kBlock = 64;
  for (int64_t begin = 0; begin < bytes; begin += kBlock) {
    const int64_t n = std::min(kBlock, bytes - begin);
    int32_t sum[kBlock];
    std::fill(sum, sum + kBlock, ResampleWeights::kHalf);
    for (int64_t k = 0; k < count; k++) {
      const uint8_t *row = from + k * stride + begin;
      if (n == kBlock)
        for (int64_t i = 0; i < kBlock; i++)
          sum[i] += weight[k] * int32_t(row[i]);
      else
        for (int64_t i = 0; i < n; i++)
          sum[i] += weight[k] * int32_t(row[i]);
    }
    for (int64_t i = 0; i < n; i++)
      to[begin + i] = ResampleWeights::rounded(sum[i]);
  }
}

} // namespace detail

// Resizes a picture to width x height, and computes of the result what lies in
// `window`.
inline void resample(const Image &from, int64_t width, int64_t height,
                     const Box &window, Image &to) {
  const detail::ResampleWeights columns(from.width, width, window.x,
                                        window.x + window.width),
      rows(from.height, height, window.y, window.y + window.height);
  to.resize(window.width, window.height);
  if (window.width == 0 || window.height == 0)
    return;
  const int64_t begin = rows.first.front(),
                end = rows.first.back() + rows.count.back();
  Image between;
  between.resize(window.width, end - begin);
  for (int64_t y = begin; y < end; y++)
    detail::resample_columns(from.row(y), columns, between.row(y - begin));
  for (int64_t y = 0; y < window.height; y++)
    detail::resample_rows(between.row(rows.first[size_t(y)] - begin),
                          between.width * Image::kPixelBytes,
                          rows.count[size_t(y)],
                          rows.weights.data() + y * rows.most,
                          between.width * Image::kPixelBytes, to.row(y));
}

} // namespace gpuopt
