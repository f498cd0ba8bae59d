// JPEG pictures, by libjpeg-turbo.
#pragma once

#include "gpuopt/data/image.h"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h> // needs cstdio

#include <jerror.h>

namespace gpuopt {

namespace detail {

// libjpeg's errors, which it tells by a call that must not return.
struct JpegErrors {
  jpeg_error_mgr base;
  jmp_buf jump;
  char text[JMSG_LENGTH_MAX];

  JpegErrors() {
    jpeg_std_error(&base);
    base.error_exit = [](j_common_ptr decoder) {
      auto *errors = reinterpret_cast<JpegErrors *>(decoder->err);
      errors->base.format_message(decoder, errors->text);
      longjmp(errors->jump, 1);
    };
    // libjpeg goes on after data that ends too early, with grey pixels, and
    // calls it a warning.
    base.emit_message = [](j_common_ptr decoder, int level) {
      const int code = decoder->err->msg_code;
      if (level < 0 && (code == JWRN_HIT_MARKER || code == JWRN_JPEG_EOF))
        decoder->err->error_exit(decoder);
    };
  }
};

struct JpegDecoder {
  jpeg_decompress_struct base{};
  JpegErrors errors;
  JpegDecoder() {
    base.err = &errors.base;
    jpeg_create_decompress(&base);
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&base); }
};

} // namespace detail

class JpegReader : public ImageReader {
public:
  explicit JpegReader(const NamedBytes &file) {
    if (setjmp(decoder.errors.jump))
      fail();
    jpeg_mem_src(&decoder.base, file.data,
                 static_cast<unsigned long>(file.bytes));
    jpeg_read_header(&decoder.base, TRUE);
    set_size(decoder.base.image_width, decoder.base.image_height);
  }

  // Blocks outside of the box are not transformed.
  void read(const Box &box, Image &image) override {
    image.resize(box.width, box.height);
    if (setjmp(decoder.errors.jump))
      fail();
    jpeg_decompress_struct &base = decoder.base;
    const bool is_cmyk =
        base.jpeg_color_space == JCS_CMYK || base.jpeg_color_space == JCS_YCCK;
    base.out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBX;
    jpeg_start_decompress(&base);
    // Chroma is interpolated from neighbours, which must not be cut off.
    constexpr int64_t kMargin = 32;
    JDIMENSION left = JDIMENSION(std::max<int64_t>(0, box.x - kMargin));
    JDIMENSION columns =
        JDIMENSION(std::min(box.x + box.width + kMargin, width)) - left;
    if (columns < JDIMENSION(width))
      jpeg_crop_scanline(&base, &left, &columns);
    line.resize(size_t(base.output_width) * Image::kPixelBytes);
    if (box.y > 0)
      jpeg_skip_scanlines(&base, JDIMENSION(box.y));
    const size_t row_bytes = size_t(box.width * Image::kPixelBytes);
    const size_t begin = size_t(box.x - left) * Image::kPixelBytes;
    for (int64_t y = 0; y < box.height; y++) {
      JSAMPROW row = line.data();
      jpeg_read_scanlines(&base, &row, 1);
      if (is_cmyk)
        from_cmyk(line.data() + begin, image.row(y), box.width);
      else
        memcpy(image.row(y), line.data() + begin, row_bytes);
    }
  }

private:
  [[noreturn]] void fail() const {
    throw BadContent(std::string("is a damaged JPEG: ") + decoder.errors.text);
  }
  // Files have the complements of ink. This is PIL's conversion.
  static void from_cmyk(const uint8_t *from, uint8_t *to, int64_t pixels) {
    for (int64_t i = 0; i < pixels; i++, from += 4, to += 4)
      for (int c = 0; c < 3; c++) {
        const int product = (255 - from[c]) * from[3] + 128;
        const int ink = ((product >> 8) + product) >> 8;
        to[c] = uint8_t(std::max(0, from[3] - ink));
      }
  }

  detail::JpegDecoder decoder;
  std::vector<uint8_t> line;
};

} // namespace gpuopt
