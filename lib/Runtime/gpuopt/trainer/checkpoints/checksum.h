// The line by which a checkpoint lists one of its files.
#pragma once

#include "gpuopt/data/crc32.h"
#include "gpuopt/data/mapped_file.h"

namespace gpuopt {

// Returns "3610a686 12345 NAME": the checksum, the bytes and the name of a
// file of a folder.
inline std::string checksum_line(const std::string &folder,
                                 const std::string &name) {
  const MappedFile file(folder + "/" + name);
  char checksum[16];
  snprintf(checksum, sizeof checksum, "%08x", crc32(file.data, file.bytes));
  return std::string(checksum) + " " + std::to_string(file.bytes) + " " + name;
}

} // namespace gpuopt
