// The lines by which a checkpoint lists its files.
#pragma once

#include "gpuopt/data/checksums_file.h"
#include "gpuopt/data/crc32.h"
#include "gpuopt/data/mapped_file.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace gpuopt {

// Returns "3610a686 12345 NAME": the checksum and the number of bytes that a
// file has, and its name.
inline std::string checksum_line(const uint8_t *data, size_t bytes,
                                 const std::string &name) {
  char checksum[16];
  snprintf(checksum, sizeof checksum, "%08x", crc32(data, bytes));
  return std::string(checksum) + " " + std::to_string(bytes) + " " + name;
}
// Returns that of a file of a folder.
inline std::string checksum_line(const std::string &folder,
                                 const std::string &name) {
  const MappedFile file(folder + "/" + name);
  return checksum_line(file.data, file.bytes, name);
}

inline Error damaged_file(const std::string &folder, std::string_view name) {
  return Error("'" + folder + "' is damaged: '" + std::string(name) +
               "' is not the file that '" + kChecksumsFile + "' lists");
}

// Throws an Error if a file is not the one that the checksums of its folder
// list. A folder may have none, and a file need not be listed.
inline void check_listed(const std::string &path) {
  const std::filesystem::path file(path);
  const std::string folder = file.has_parent_path()
                                 ? file.parent_path().string()
                                 : std::string("."),
                    name = file.filename().string(),
                    list = folder + "/" + kChecksumsFile;
  std::error_code code;
  if (!std::filesystem::exists(list, code))
    return;
  const MappedFile lines(list);
  std::string_view left(reinterpret_cast<const char *>(lines.data),
                        lines.bytes);
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (line.substr(line.rfind(' ') + 1) == name &&
        line != checksum_line(folder, name))
      throw damaged_file(folder, name);
  }
}

} // namespace gpuopt
