// A time for people. This file is C++17: the compiler uses it too.
#pragma once

#include <cstdio>
#include <string>

namespace gpuopt {

// Returns "0.18 ms" or "87.3 ms": the time of a step, wherever it is told.
inline std::string ms_text(double ms) {
  char text[64];
  snprintf(text, sizeof text, ms < 1 ? "%.2f ms" : "%.1f ms", ms);
  return text;
}

} // namespace gpuopt
