//===- Random.h - Random numbers that are the same everywhere ---*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RANDOM_H
#define GPUOPT_LIB_PLANNING_RANDOM_H

#include "PortableMath.h"

#include <cstdint>

namespace gpuopt::planning {

/// SplitMix64 (Steele, Lea, Flood 2014): the searches draw from this, so that
/// their results do not depend on the standard library.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Returns a number in [0, bound), for 0 < bound < 2^31.
  int below(int bound) { return int((next() >> 32) * uint64_t(bound) >> 32); }
  /// Returns a number in [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  /// Draws from the exponential distribution with mean 1.
  double exponential() { return -portableLog(1 - unit()); }

private:
  uint64_t state;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RANDOM_H
