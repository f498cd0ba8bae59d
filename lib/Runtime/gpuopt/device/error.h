// The error with which a program ends, and functions for its text.
#pragma once

#include "gpuopt/device/bytes_text.h"

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt {

// The text that a program prints before it exits with status 1.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Returns the text of an exception. That of std::bad_alloc itself is only its
// name.
inline const char *error_text(const std::exception &error) {
  return dynamic_cast<const std::bad_alloc *>(&error)
             ? "the host has no memory left"
             : error.what();
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
