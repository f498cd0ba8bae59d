//===- Buckets.cpp - A long curve in few points ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace gpuopt;

static void addBucket(ArrayRef<double> x, ArrayRef<double> y,
                      Buckets &buckets) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  double sum = 0, sumOfX = 0;
  size_t finite = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sumOfX += x[i];
    if (!std::isfinite(y[i]))
      continue;
    ++finite;
    sum += y[i];
    low = std::min(low, y[i]);
    high = std::max(high, y[i]);
  }
  double none = std::numeric_limits<double>::quiet_NaN();
  buckets.x.push_back(sumOfX / double(x.size()));
  buckets.low.push_back(finite ? low : none);
  buckets.mean.push_back(finite ? sum / double(finite) : none);
  buckets.high.push_back(finite ? high : none);
}

Buckets gpuopt::bucketsOf(ArrayRef<double> x, ArrayRef<double> y,
                          size_t count) {
  Buckets buckets;
  count = std::min(count, x.size());
  for (size_t i = 0; i < count; ++i) {
    size_t from = x.size() * i / count, to = x.size() * (i + 1) / count;
    addBucket(x.slice(from, to - from), y.slice(from, to - from), buckets);
  }
  return buckets;
}
