// Pictures for the tests of data, written by the libraries that read them.
#pragma once

#include "Files.h"

#include <cmath>
#include <cstdio>
#include <jpeglib.h>
#include <png.h>

namespace gpuopt {

// Rows of pixels of three bytes, smooth with some detail, as photographs are.
inline std::vector<uint8_t> smooth_pixels(int width, int height, int channels,
                                          int seed = 1) {
  std::vector<uint8_t> pixels;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      for (int c = 0; c < channels; c++)
        pixels.push_back(uint8_t(
            128 + 90 * std::sin(0.05 * x + c + seed) * std::cos(0.07 * y) +
            (x * 7 + y * 13 + seed) % 23));
  return pixels;
}

struct JpegKind {
  int channels = 3;                 // 1: grey, 4: ink
  int horizontal = 2, vertical = 2; // pixels of one pixel of chroma
  bool is_progressive = false;
};

inline std::string jpeg(int width, int height, JpegKind kind = {},
                        int seed = 1) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char *file = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&encoder, &file, &bytes);
  encoder.image_width = JDIMENSION(width);
  encoder.image_height = JDIMENSION(height);
  encoder.input_components = kind.channels;
  encoder.in_color_space = kind.channels == 1   ? JCS_GRAYSCALE
                           : kind.channels == 4 ? JCS_CMYK
                                                : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 90, TRUE);
  if (kind.channels == 3) {
    encoder.comp_info[0].h_samp_factor = kind.horizontal;
    encoder.comp_info[0].v_samp_factor = kind.vertical;
  }
  if (kind.is_progressive)
    jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  std::vector<uint8_t> pixels =
      smooth_pixels(width, height, kind.channels, seed);
  for (int y = 0; y < height; y++) {
    JSAMPROW row = pixels.data() + size_t(y * width * kind.channels);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  std::string content(reinterpret_cast<char *>(file), bytes);
  jpeg_destroy_compress(&encoder);
  free(file);
  return content;
}

// `colors` is a colour type of libpng with as many channels as the pixels have.
inline std::string png(int width, int height, int colors,
                       const std::vector<uint8_t> &pixels, int bits = 8,
                       bool is_interlaced = false) {
  std::string content;
  png_structp encoder =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(encoder);
  png_set_write_fn(
      encoder, &content,
      [](png_structp base, png_bytep data, size_t bytes) {
        static_cast<std::string *>(png_get_io_ptr(base))
            ->append(reinterpret_cast<char *>(data), bytes);
      },
      nullptr);
  png_set_IHDR(encoder, info, png_uint_32(width), png_uint_32(height), bits,
               colors, is_interlaced ? PNG_INTERLACE_ADAM7 : 0, 0, 0);
  const png_color palette[2] = {{10, 20, 30}, {200, 100, 50}};
  if (colors == PNG_COLOR_TYPE_PALETTE)
    png_set_PLTE(encoder, info, palette, 2);
  png_write_info(encoder, info);
  const size_t row_bytes = pixels.size() / size_t(height);
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; y++)
    rows.push_back(const_cast<png_bytep>(pixels.data()) +
                   row_bytes * size_t(y));
  png_write_image(encoder, rows.data());
  png_write_end(encoder, info);
  png_destroy_write_struct(&encoder, &info);
  return content;
}

} // namespace gpuopt
