//===- KnownMultiples.cpp - What places are multiples of ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnownMultiples.h"

#include <numeric>

using namespace gpuopt;
using device::AccessPattern;

int64_t gpuopt::multipleOf(int64_t size, int64_t span, int64_t count) {
  return std::gcd(kMostLanes, std::gcd(size, count > 1 ? span : 0));
}

int64_t gpuopt::multipleOfIterations(int64_t columns,
                                     const LaunchShape &launch) {
  const int64_t width = launch.threads / launch.groups;
  return columns % (width * launch.lanes) == 0
             ? multipleOf(columns)
             : std::min(multipleOf(columns), kMostLanes / 2);
}

AccessPattern gpuopt::patternOf(int64_t laneStride) {
  return laneStride == 0   ? AccessPattern::Uniform
         : laneStride == 1 ? AccessPattern::Contiguous
                           : AccessPattern::Strided;
}

int64_t gpuopt::commonFactor(const AffineAccess &access) {
  int64_t common = std::gcd(kMostLanes, access.offset);
  for (int64_t stride : llvm::ArrayRef(access.strides).drop_back())
    common = std::gcd(common, stride);
  return common;
}

int64_t gpuopt::alignmentOf(const KernelShape &shape, unsigned argument,
                            const AffineAccess &access, int64_t rowStride) {
  if (patternOf(access.strides.back()) != device::AccessPattern::Contiguous)
    return 1;
  return std::gcd(std::gcd(commonFactor(access), rowStride),
                  shape.origins[argument]);
}
