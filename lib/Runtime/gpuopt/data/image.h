// Pictures in memory, and what reads them from files.
#pragma once

#include "gpuopt/data/mapped_file.h"

#include <algorithm>
#include <vector>

namespace gpuopt {

// Thrown where the content of a sample is damaged or is not what the input
// needs; its text says why, and whoever knows says where.
struct BadContent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A rectangle of pixels. It may reach beyond a picture, which is black there.
struct Box {
  int64_t x = 0, y = 0, width = 0, height = 0;

  bool operator==(const Box &other) const {
    return x == other.x && y == other.y && width == other.width &&
           height == other.height;
  }
  bool lies_in(int64_t of_width, int64_t of_height) const {
    return x >= 0 && y >= 0 && x + width <= of_width && y + height <= of_height;
  }
  // Returns the part that lies in a picture.
  Box within(int64_t of_width, int64_t of_height) const {
    Box box;
    box.x = std::clamp<int64_t>(x, 0, of_width);
    box.y = std::clamp<int64_t>(y, 0, of_height);
    box.width = std::clamp<int64_t>(x + width, 0, of_width) - box.x;
    box.height = std::clamp<int64_t>(y + height, 0, of_height) - box.y;
    return box;
  }
};

// Rows of pixels of four bytes: red, green, blue, and one that is not used.
struct Image {
  static constexpr int64_t kPixelBytes = 4;
  int64_t width = 0, height = 0;
  std::vector<uint8_t> pixels;

  void resize(int64_t new_width, int64_t new_height) {
    width = new_width;
    height = new_height;
    pixels.resize(size_t(width * height * kPixelBytes));
  }
  uint8_t *row(int64_t y) { return pixels.data() + y * width * kPixelBytes; }
  const uint8_t *row(int64_t y) const {
    return pixels.data() + y * width * kPixelBytes;
  }
};

// Puts a picture onto a black one, of which it is the part `place`.
inline void put_on_black(const Image &part, int64_t left, int64_t top,
                         Image &whole) {
  std::fill(whole.pixels.begin(), whole.pixels.end(), uint8_t(0));
  for (int64_t y = 0; y < part.height && part.width > 0; y++)
    memcpy(whole.row(top + y) + left * Image::kPixelBytes, part.row(y),
           size_t(part.width * Image::kPixelBytes));
}

// A picture in a file. The constructors of those that derive from it read the
// header; all throw BadContent.
class ImageReader {
public:
  // More pixels than this are taken for damage, as by PIL.
  static constexpr int64_t kMostPixels = 178956970;

  virtual ~ImageReader() = default;
  // Reads the pixels of a box that lies in the picture. It is called once.
  virtual void read(const Box &box, Image &image) = 0;

  int64_t width = 0, height = 0;

protected:
  void set_size(int64_t new_width, int64_t new_height) {
    width = new_width;
    height = new_height;
    const std::string size = "has " + std::to_string(width) + " x " +
                             std::to_string(height) + " pixels, but ";
    if (width <= 0 || height <= 0)
      throw BadContent(size + "a picture needs at least one");
    if (width > kMostPixels / height)
      throw BadContent(size + "only up to " + std::to_string(kMostPixels) +
                       " are read");
  }
};

} // namespace gpuopt
