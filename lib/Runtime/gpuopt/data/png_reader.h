// Reads PNG pictures by libpng. As PIL's convert("RGB") does, it ignores
// transparency and gamma, and keeps the upper 8 bits of each sample of 16 bits.
// It keeps them in gray pictures, too, where PIL (Pillow 13.0) instead turns
// every sample above 255 into 255.
#pragma once

#include "gpuopt/data/image.h"

#include <csetjmp>
#include <png.h>

namespace gpuopt {

class PngReader : public ImageReader {
public:
  explicit PngReader(const NamedBytes &file)
      : at(file.data), left(file.bytes), decoder(*this) {
    if (setjmp(jump))
      fail();
    png_set_read_fn(decoder.base, this, read_bytes);
    png_read_info(decoder.base, decoder.info);
    set_size(png_get_image_width(decoder.base, decoder.info),
             png_get_image_height(decoder.base, decoder.info));
  }

  void read(const Box &box, Image &image) override {
    image.resize(box.width, box.height);
    if (setjmp(jump))
      fail();
    png_set_expand(decoder.base);
    png_set_strip_16(decoder.base);
    png_set_gray_to_rgb(decoder.base);
    png_set_filler(decoder.base, 255, PNG_FILLER_AFTER);
    const int passes = png_set_interlace_handling(decoder.base);
    png_read_update_info(decoder.base, decoder.info);
    const size_t bytes = size_t(width * Image::kPixelBytes);
    if (png_get_rowbytes(decoder.base, decoder.info) != bytes)
      png_error(decoder.base, "its rows have an unexpected size");
    // The passes of an interlaced picture need all of its rows.
    const int64_t rows = passes > 1 ? height : 1;
    lines.resize(bytes * size_t(rows));
    const int64_t end = passes > 1 ? height : box.y + box.height;
    for (int pass = 0; pass < passes; pass++)
      for (int64_t y = 0; y < end; y++) {
        uint8_t *line = lines.data() + bytes * size_t(passes > 1 ? y : 0);
        png_read_row(decoder.base, line, nullptr);
        if (pass + 1 == passes && y >= box.y && y < box.y + box.height)
          memcpy(image.row(y - box.y), line + box.x * Image::kPixelBytes,
                 size_t(box.width * Image::kPixelBytes));
      }
  }

private:
  struct Decoder {
    png_structp base;
    png_infop info;
    explicit Decoder(PngReader &reader)
        : base(png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error,
                                      [](png_structp, png_const_charp) {})),
          info(base ? png_create_info_struct(base) : nullptr) {
      if (!info) {
        png_destroy_read_struct(&base, nullptr, nullptr);
        throw std::bad_alloc();
      }
    }
    ~Decoder() { png_destroy_read_struct(&base, &info, nullptr); }
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;
  };

  [[noreturn]] static void on_error(png_structp base, png_const_charp why) {
    auto *reader = static_cast<PngReader *>(png_get_error_ptr(base));
    snprintf(reader->text, sizeof reader->text, "%s", why);
    longjmp(reader->jump, 1);
  }
  static void read_bytes(png_structp base, png_bytep to, size_t bytes) {
    auto *reader = static_cast<PngReader *>(png_get_io_ptr(base));
    if (bytes > reader->left)
      png_error(base, "its data ends too early");
    memcpy(to, reader->at, bytes);
    reader->at += bytes;
    reader->left -= bytes;
  }
  [[noreturn]] void fail() const {
    throw BadContent(std::string("is a damaged PNG: ") + text);
  }

  const uint8_t *at;
  size_t left;
  jmp_buf jump;
  char text[200] = "";
  Decoder decoder;
  std::vector<uint8_t> lines;
};

} // namespace gpuopt
