// RandAugment (Cubuk et al., 2020) with torchvision's operations, magnitudes
// and defaults: each picture goes through a few operations that are drawn. They
// compute what PIL computes, to which torchvision hands pictures.
#pragma once

#include "gpuopt/data/draws.h"
#include "gpuopt/data/image.h"

#include <array>
#include <cmath>
#include <cstring>

namespace gpuopt {

// The operations, in the order of torchvision's table.
enum class AugmentKind {
  Identity,
  ShearX,
  ShearY,
  TranslateX,
  TranslateY,
  Rotate,
  Brightness,
  Color,
  Contrast,
  Sharpness,
  Posterize,
  Solarize,
  AutoContrast,
  Equalize,
};
constexpr int64_t kAugmentKinds = 14;

struct Augmentation {
  AugmentKind kind = AugmentKind::Identity;
  double magnitude = 0;
};

// Returns the magnitude of bin `magnitude` of `bins`, for a picture of a size.
inline double augment_magnitude(AugmentKind kind, int64_t magnitude,
                                int64_t bins, int64_t width, int64_t height) {
  const double share = double(magnitude) / double(bins - 1);
  switch (kind) {
  case AugmentKind::ShearX:
  case AugmentKind::ShearY:
    return 0.3 * share;
  case AugmentKind::TranslateX:
    return 150.0 / 331.0 * double(width) * share;
  case AugmentKind::TranslateY:
    return 150.0 / 331.0 * double(height) * share;
  case AugmentKind::Rotate:
    return 30 * share;
  case AugmentKind::Brightness:
  case AugmentKind::Color:
  case AugmentKind::Contrast:
  case AugmentKind::Sharpness:
    return 0.9 * share;
  case AugmentKind::Posterize:
    return 8 - std::nearbyint(double(magnitude) / (double(bins - 1) / 4));
  case AugmentKind::Solarize:
    // Exact where it is whole, since pixels are compared with it.
    return 255.0 * double(bins - 1 - magnitude) / double(bins - 1);
  default:
    return 0;
  }
}

// Draws an operation; half of those that have a sign get the other one.
inline Augmentation draw_augmentation(int64_t magnitude, int64_t bins,
                                      int64_t width, int64_t height,
                                      Draws &draws) {
  Augmentation drawn;
  drawn.kind = AugmentKind(draws.below(kAugmentKinds));
  drawn.magnitude =
      augment_magnitude(drawn.kind, magnitude, bins, width, height);
  const bool is_signed =
      drawn.kind >= AugmentKind::ShearX && drawn.kind <= AugmentKind::Sharpness;
  if (is_signed && draws.below(2) == 1)
    drawn.magnitude = -drawn.magnitude;
  return drawn;
}

namespace detail {

// PIL's blend of two values: those beyond are cut off where the share is
// outside of [0, 1].
inline uint8_t blended(uint8_t first, uint8_t second, float share) {
  const float value = float(first) + share * (float(second) - float(first));
  return value <= 0 ? 0 : value >= 255 ? 255 : uint8_t(value);
}

// ITU-R 601, as PIL computes it.
inline uint8_t brightness_of(const uint8_t *pixel) {
  return uint8_t(
      (pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
}

template <class F>
void for_pixels(Image &image, F change) {
  for (size_t i = 0; i < image.pixels.size(); i += Image::kPixelBytes)
    change(&image.pixels[i]);
}

// Replaces values by those of a table for each channel.
using ValueTable = std::array<uint8_t, 256>;
inline void apply_tables(Image &image, const ValueTable (&tables)[3]) {
  for_pixels(image, [&](uint8_t *pixel) {
    for (int c = 0; c < 3; c++)
      pixel[c] = tables[c][pixel[c]];
  });
}

// How many pixels have each value of a channel.
using Histogram = std::array<int64_t, 256>;
inline Histogram histogram_of(const Image &image, int channel) {
  Histogram counts{};
  for (size_t i = size_t(channel); i < image.pixels.size();
       i += Image::kPixelBytes)
    counts[image.pixels[i]]++;
  return counts;
}

// PIL's ImageOps.autocontrast: the values of a channel fill the whole range.
inline ValueTable autocontrast_table(const Histogram &counts) {
  int low = 0, high = 255;
  while (low < 255 && counts[size_t(low)] == 0)
    low++;
  while (high > 0 && counts[size_t(high)] == 0)
    high--;
  ValueTable table;
  for (int i = 0; i < 256; i++) {
    if (high <= low) {
      table[size_t(i)] = uint8_t(i);
      continue;
    }
    const double scale = 255.0 / (high - low), offset = -low * scale;
    table[size_t(i)] = uint8_t(std::clamp(int(i * scale + offset), 0, 255));
  }
  return table;
}

// PIL's ImageOps.equalize: all values of a channel become about as frequent.
inline ValueTable equalize_table(const Histogram &counts) {
  int64_t sum = 0, last = 0, kinds = 0;
  for (int64_t count : counts)
    if (count > 0)
      sum += count, last = count, kinds++;
  const int64_t step = kinds <= 1 ? 0 : (sum - last) / 255;
  ValueTable table;
  int64_t n = step / 2;
  for (int i = 0; i < 256; i++) {
    table[size_t(i)] =
        step == 0 ? uint8_t(i) : uint8_t(std::min<int64_t>(n / step, 255));
    n += counts[size_t(i)];
  }
  return table;
}

// Takes each pixel from the place x' = a x + b y + c, y' = d x + e y + f of the
// picture, in the fixed-point numbers of PIL; places outside are black.
inline void transform_affine(Image &image, const double (&matrix)[6],
                             Image &scratch) {
  auto fixed = [](double value) {
    return int64_t(std::floor(value * 65536 + 0.5));
  };
  scratch.resize(image.width, image.height);
  const int64_t a = fixed(matrix[0]), b = fixed(matrix[1]),
                d = fixed(matrix[3]), e = fixed(matrix[4]);
  int64_t row_x = fixed(matrix[2] + matrix[0] * 0.5 + matrix[1] * 0.5),
          row_y = fixed(matrix[5] + matrix[3] * 0.5 + matrix[4] * 0.5);
  for (int64_t y = 0; y < image.height; y++, row_x += b, row_y += e) {
    uint8_t *to = scratch.row(y);
    int64_t from_x = row_x, from_y = row_y;
    for (int64_t x = 0; x < image.width; x++, to += Image::kPixelBytes) {
      const int64_t column = from_x >> 16, row = from_y >> 16;
      const bool is_inside =
          column >= 0 && column < image.width && row >= 0 && row < image.height;
      if (is_inside)
        memcpy(to, image.row(row) + column * Image::kPixelBytes,
               Image::kPixelBytes);
      else
        memset(to, 0, Image::kPixelBytes);
      from_x += a;
      from_y += d;
    }
  }
  std::swap(image, scratch);
}

// PIL's Image.rotate, counterclockwise around the middle.
inline void rotate(Image &image, double degrees, Image &scratch) {
  constexpr double kPi = 3.14159265358979323846;
  double angle = -std::fmod(degrees, 360.0);
  if (angle == 0)
    return;
  angle *= kPi / 180;
  auto rounded = [](double x) { return std::nearbyint(x * 1e15) / 1e15; };
  const double cos = rounded(std::cos(angle)), sin = rounded(std::sin(angle)),
               x = double(image.width) / 2, y = double(image.height) / 2;
  const double matrix[6] = {cos,  sin, x - cos * x - sin * y,
                            -sin, cos, y + sin * x - cos * y};
  transform_affine(image, matrix, scratch);
}

// PIL's ImageFilter.SMOOTH, which leaves the pixels at the edges as they are.
inline void smooth(const Image &image, Image &result) {
  result = image;
  for (int64_t y = 1; y + 1 < image.height; y++)
    for (int64_t x = 1; x + 1 < image.width; x++)
      for (int64_t c = 0; c < 3; c++) {
        const int64_t at = x * Image::kPixelBytes + c;
        int sum = 4 * image.row(y)[at];
        for (int64_t row = y - 1; row <= y + 1; row++)
          for (int64_t k = -1; k <= 1; k++)
            sum += image.row(row)[at + k * Image::kPixelBytes];
        result.row(y)[at] = uint8_t(float(sum) / 13.0f + 0.5f);
      }
}

// PIL's ImageEnhance.Contrast: around the mean brightness.
inline void change_contrast(Image &image, float factor) {
  int64_t sum = 0;
  for_pixels(image, [&](uint8_t *pixel) { sum += brightness_of(pixel); });
  const auto mean =
      uint8_t(double(sum) / double(image.width * image.height) + 0.5);
  for_pixels(image, [&](uint8_t *pixel) {
    for (int c = 0; c < 3; c++)
      pixel[c] = blended(mean, pixel[c], factor);
  });
}

} // namespace detail

// Changes a picture; `scratch` is kept from picture to picture.
inline void augment(const Augmentation &change, Image &image, Image &scratch) {
  const double m = change.magnitude;
  const auto factor = float(1 + m);
  switch (change.kind) {
  case AugmentKind::Identity:
    return;
  case AugmentKind::ShearX:
    return detail::transform_affine(image, {1, m, 0, 0, 1, 0}, scratch);
  case AugmentKind::ShearY:
    return detail::transform_affine(image, {1, 0, 0, m, 1, 0}, scratch);
  case AugmentKind::TranslateX:
    return detail::transform_affine(image, {1, 0, -std::trunc(m), 0, 1, 0},
                                    scratch);
  case AugmentKind::TranslateY:
    return detail::transform_affine(image, {1, 0, 0, 0, 1, -std::trunc(m)},
                                    scratch);
  case AugmentKind::Rotate:
    return detail::rotate(image, m, scratch);
  case AugmentKind::Brightness:
    return detail::for_pixels(image, [&](uint8_t *pixel) {
      for (int c = 0; c < 3; c++)
        pixel[c] = detail::blended(0, pixel[c], factor);
    });
  case AugmentKind::Color:
    return detail::for_pixels(image, [&](uint8_t *pixel) {
      const uint8_t grey = detail::brightness_of(pixel);
      for (int c = 0; c < 3; c++)
        pixel[c] = detail::blended(grey, pixel[c], factor);
    });
  case AugmentKind::Contrast:
    return detail::change_contrast(image, factor);
  case AugmentKind::Sharpness:
    detail::smooth(image, scratch);
    for (size_t i = 0; i < image.pixels.size(); i++)
      image.pixels[i] =
          detail::blended(scratch.pixels[i], image.pixels[i], factor);
    return;
  case AugmentKind::Posterize: {
    const auto mask = uint8_t(0xff << (8 - int(m)));
    return detail::for_pixels(image, [&](uint8_t *pixel) {
      for (int c = 0; c < 3; c++)
        pixel[c] &= mask;
    });
  }
  case AugmentKind::Solarize:
    return detail::for_pixels(image, [&](uint8_t *pixel) {
      for (int c = 0; c < 3; c++)
        if (pixel[c] >= m)
          pixel[c] = uint8_t(255 - pixel[c]);
    });
  case AugmentKind::AutoContrast:
  case AugmentKind::Equalize: {
    detail::ValueTable tables[3];
    for (int c = 0; c < 3; c++) {
      const detail::Histogram counts = detail::histogram_of(image, c);
      tables[c] = change.kind == AugmentKind::Equalize
                      ? detail::equalize_table(counts)
                      : detail::autocontrast_table(counts);
    }
    return detail::apply_tables(image, tables);
  }
  }
}

} // namespace gpuopt
