//===- PortableMath.h - The same numbers on every machine -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last digits of the C library's functions depend on the processor, and so
// would every later choice of a search. The functions here use only basic
// operations, which are rounded in the same way everywhere; Planning is
// compiled without fused multiplications and additions.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_PORTABLEMATH_H
#define GPUOPT_LIB_PLANNING_PORTABLEMATH_H

#include <cmath>

namespace gpuopt::planning {

constexpr double logOfTwo = 0.69314718055994531;

/// Returns the natural logarithm of a positive number, to 13 digits, by the
/// series of the inverse hyperbolic tangent.
inline double portableLog(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent), sum = 0;
  double t = (mantissa - 1) / (mantissa + 1), square = t * t;
  for (int power = 29; power > 0; power -= 2)
    sum = sum * square + 1. / power;
  return 2 * t * sum + exponent * logOfTwo;
}

/// Returns e to the power of x by its series, to 13 digits if |x| is below 100.
inline double portableExp(double x) {
  double exponent = std::floor(x / logOfTwo);
  double rest = x - exponent * logOfTwo, sum = 1;
  for (int power = 20; power > 0; --power)
    sum = 1 + rest / power * sum;
  return std::ldexp(sum, int(exponent));
}

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_PORTABLEMATH_H
