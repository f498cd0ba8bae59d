// Pictures of any format that can be read, by what they begin with.
#pragma once

#include "gpuopt/data/image.h"
#ifdef GPUOPT_HAS_JPEG
#include "gpuopt/data/jpeg_reader.h"
#endif
#ifdef GPUOPT_HAS_PNG
#include "gpuopt/data/png_reader.h"
#endif

#include <memory>

namespace gpuopt {

namespace detail {
[[noreturn]] inline void refuse_format(const char *format, const char *library,
                                       const char *package) {
  throw Error("the data has " + std::string(format) + " pictures, and " +
              library +
              " was not there when this program was built: apt "
              "install " +
              package + ", and build it again");
}
} // namespace detail

// Throws BadContent if the picture is damaged, and an Error if this program
// lacks the library for its format.
inline std::unique_ptr<ImageReader> open_image(const NamedBytes &file) {
  auto begins = [&](const char *magic, size_t bytes) {
    return file.bytes >= bytes && memcmp(file.data, magic, bytes) == 0;
  };
  if (begins("\xff\xd8", 2))
#ifdef GPUOPT_HAS_JPEG
    return std::make_unique<JpegReader>(file);
#else
    detail::refuse_format("JPEG", "libjpeg-turbo", "libjpeg62-turbo-dev");
#endif
  if (begins("\x89PNG", 4))
#ifdef GPUOPT_HAS_PNG
    return std::make_unique<PngReader>(file);
#else
    detail::refuse_format("PNG", "libpng", "libpng-dev");
#endif
  throw BadContent("is neither a JPEG nor a PNG picture");
}

} // namespace gpuopt
