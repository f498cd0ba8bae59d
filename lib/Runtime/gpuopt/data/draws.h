// Random numbers that are functions of what they are for, and of nothing else:
// which thread draws them, and when, changes nothing.
#pragma once

#include <cstdint>

namespace gpuopt {

// The finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
inline uint64_t mix_bits(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The random numbers of one sample in one epoch.
class Draws {
public:
  Draws(uint64_t seed, uint64_t epoch, uint64_t sample, uint64_t attempt = 0)
      : state(mix_bits(mix_bits(mix_bits(mix_bits(seed) ^ epoch) ^ sample) ^
                       attempt)) {}

  // Returns a number in [0, 1).
  double uniform() {
    state = mix_bits(state);
    return double(state >> 11) * 0x1p-53;
  }
  double uniform(double low, double high) {
    return low + (high - low) * uniform();
  }
  // Returns an integer in [0, n).
  int64_t below(int64_t n) {
    const int64_t drawn = int64_t(uniform() * double(n));
    return drawn < n ? drawn : n - 1;
  }

private:
  uint64_t state;
};

} // namespace gpuopt
