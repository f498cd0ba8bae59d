//===- Buckets.h - A long curve in few points -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_BUCKETS_H
#define GPUOPT_LIB_DRIVER_REPORT_BUCKETS_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace gpuopt {

/// A curve in buckets of neighbouring points. Each bucket has the mean of its
/// abscissas and the least, the mean and the greatest of its finite ordinates,
/// so that no peak is lost; they are NaN in a bucket without a finite one.
struct Buckets {
  std::vector<double> x, low, mean, high;
};

/// Puts the points of a curve into at most `count` buckets of about as many
/// points each; a curve of no more points has a bucket for each. `x` and `y`
/// are of the same length.
Buckets bucketsOf(llvm::ArrayRef<double> x, llvm::ArrayRef<double> y,
                  size_t count);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_BUCKETS_H
