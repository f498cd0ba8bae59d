// A loss or a metric for people. This file is C++17: the compiler uses it too.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace gpuopt {

// Returns "2.3026", or "9.876e-05" and "0.0009876" of what four decimals would
// leave few digits of, or "1.23457e+22" of what would have many before them.
inline std::string loss_text(double value) {
  constexpr double kLeastWithDecimals = 1e-3, kLeastWithExponent = 1e6;
  const double size = std::fabs(value);
  char text[40];
  if (value != value)
    return "nan";
  snprintf(text, sizeof text,
           size >= kLeastWithExponent              ? "%.6g"
           : size > 0 && size < kLeastWithDecimals ? "%.4g"
                                                   : "%.4f",
           value);
  return text;
}

} // namespace gpuopt
