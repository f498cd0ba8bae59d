// The seeded choices of the emulated machine: which warp runs next, which
// block, which stream. Another seed is another order, and correct programs
// give the same bits under each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuopt::emulation {

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, n); n is far below 2^32.
  size_t below(size_t n) { return size_t((next() >> 32) * n >> 32); }

  template <class T>
  void shuffle(std::vector<T> &values) {
    for (size_t left = values.size(); left > 1; left--)
      std::swap(values[left - 1], values[below(left)]);
  }

private:
  uint64_t state;
};

// Returns the one generator of the machine. It starts from
// GPUOPT_EMULATION_SEED, or from 1 if that is not set. Throws a Fault if the
// variable is no whole number.
Random &machine_random();
void seed_machine(uint64_t seed);

} // namespace gpuopt::emulation
