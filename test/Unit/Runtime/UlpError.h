// How far a number is off, in units in the last place.
#pragma once

#include <algorithm>
#include <cmath>

namespace gpuopt {

// Returns the distance of `got` from the exact result `want` in units in the
// last place of a float, of which subnormal numbers have the same ones as the
// smallest normal one; 1e30 if only one of the two is infinite or not a number.
inline double error_in_ulp(float got, double want) {
  const float rounded = float(want);
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0 : 1e30;
  if (got == rounded)
    return 0;
  if (std::isinf(got) || std::isinf(rounded))
    return 1e30;
  const double ulp = std::ldexp(1.0, std::max(std::ilogb(want), -126) - 23);
  return std::fabs(double(got) - want) / ulp;
}

} // namespace gpuopt
