// The error with which a program ends, and functions for its text.
#pragma once

#include <cmath>
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

// Returns bytes as people write them, rounded as gpuopt plan rounds them: up,
// so that an amount that is called enough is enough.
inline std::string human_bytes(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  char text[32];
  if (bytes < 10 * 1024) {
    snprintf(text, sizeof text, "%.0f B", bytes);
    return text;
  }
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; unit++)
    bytes /= 1024;
  const double digits = bytes < 10 ? 100 : 10;
  snprintf(text, sizeof text, bytes < 10 ? "%.2f %s" : "%.1f %s",
           std::ceil(bytes * digits) / digits, units[unit]);
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
