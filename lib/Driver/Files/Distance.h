//===- Distance.h - How far two numbers are apart ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_DISTANCE_H
#define GPUOPT_LIB_DRIVER_FILES_DISTANCE_H

#include <cmath>

namespace gpuopt {

/// Returns how far two numbers that differ are apart. A number and NaN are as
/// far apart as can be.
inline double distanceOf(double first, double second) {
  double distance = std::abs(first - second);
  return distance >= 0 ? distance : INFINITY;
}

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_DISTANCE_H
