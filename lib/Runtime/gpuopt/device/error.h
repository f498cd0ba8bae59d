// The error with which a program ends, and functions for its text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt {

// The text that a program prints before it exits with status 1.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline std::string human_bytes(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; unit++)
    bytes /= 1024;
  char text[32];
  snprintf(text, sizeof text, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

// Returns a shape as messages and file headers write it: [2, 3].
inline std::string shape_text(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (int64_t size : shape) {
    if (text.size() > 1)
      text += ", ";
    text += std::to_string(size);
  }
  text += "]";
  return text;
}

} // namespace gpuopt
