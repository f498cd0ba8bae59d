// Writes to files of lines or records that grow while a run goes on.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>

namespace gpuopt {

// Writes all of a text at a place of a file. Returns nothing, or the reason why
// a part or all of it is not written. A disk that fills up takes a part without
// an error: only the write of the rest fails, and says why.
inline std::string write_at(int file, std::string_view text, off_t place) {
  while (!text.empty()) {
    const ssize_t written = pwrite(file, text.data(), text.size(), place);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return strerror(written < 0 ? errno : ENOSPC);
    text.remove_prefix(size_t(written));
    place += written;
  }
  return "";
}

} // namespace gpuopt
