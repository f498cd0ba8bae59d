// The multifunction unit of the emulated machine. NVIDIA states how far its
// approximations may be off, and nobody may rely on more: each result here is
// off by an amount that is random within the bound, but the same for the same
// argument.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gpuopt::emulation {

// Which results the unit gives: any within the bounds, or always those at the
// lower or at the upper end.
enum class Approximation { Any, Lowest, Highest };
inline Approximation approximation = Approximation::Any;

// Returns a number in [-1, 1] for a word of an argument. The last rounds of
// MurmurHash3 (Appleby, 2011) spread its bits.
inline double deviation_of(uint32_t word) {
  if (approximation != Approximation::Any)
    return approximation == Approximation::Lowest ? -1 : 1;
  word ^= word >> 16;
  word *= 0x85ebca6bu;
  word ^= word >> 13;
  word *= 0xc2b2ae35u;
  word ^= word >> 16;
  return double(word) / 2147483647.5 - 1;
}

inline float flushed(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, x)
             : x;
}

// Returns a number that is at most `ulp` units in the last place away from what
// `exact` rounds to.
inline float off_by_ulp(double exact, uint32_t argument, int ulp) {
  const float rounded = flushed(float(exact));
  if (rounded == 0 || !std::isfinite(rounded))
    return rounded;
  const auto steps = int32_t(std::lround(deviation_of(argument) * ulp));
  return flushed(std::bit_cast<float>(std::bit_cast<int32_t>(rounded) + steps));
}

// Returns a number whose relative error is at most `bound`.
inline float off_by_share(double exact, uint32_t argument, double bound) {
  if (exact == 0 || !std::isfinite(exact))
    return float(exact);
  const double wanted = exact * (1 + deviation_of(argument) * bound);
  const float rounded = float(wanted);
  if (std::fabs(double(rounded) - exact) <= bound * std::fabs(exact))
    return rounded;
  return std::nextafterf(rounded, float(exact));
}

} // namespace gpuopt::emulation
