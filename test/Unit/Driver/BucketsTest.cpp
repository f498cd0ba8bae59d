//===- BucketsTest.cpp - Tests of curves in few points --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Buckets.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace gpuopt;

TEST(Buckets, KeepsAShortCurve) {
  Buckets buckets = bucketsOf({1, 2, 5}, {3, NAN, 4}, 3);
  EXPECT_EQ(buckets.x, (std::vector<double>{1, 2, 5}));
  for (const std::vector<double> *y :
       {&buckets.low, &buckets.mean, &buckets.high}) {
    EXPECT_EQ((*y)[0], 3);
    EXPECT_TRUE(std::isnan((*y)[1]));
    EXPECT_EQ((*y)[2], 4);
  }
  EXPECT_TRUE(bucketsOf({}, {}, 3).x.empty());
}

TEST(Buckets, LeavesOutWhatIsNotFinite) {
  Buckets buckets = bucketsOf({0, 1, 2, 3}, {INFINITY, 2, 6, NAN}, 1);
  EXPECT_EQ(buckets.x, std::vector<double>{1.5});
  EXPECT_EQ(buckets.low, std::vector<double>{2});
  EXPECT_EQ(buckets.mean, std::vector<double>{4});
  EXPECT_EQ(buckets.high, std::vector<double>{6});
}

TEST(Buckets, LosesNoPeak) {
  std::mt19937 random(1);
  for (size_t size : {1, 7, 99, 1000, 12345}) {
    std::vector<double> x(size), y(size);
    std::iota(x.begin(), x.end(), 1);
    for (double &value : y)
      value = std::normal_distribution<double>()(random);
    Buckets buckets = bucketsOf(x, y, 50);
    EXPECT_LE(buckets.x.size(), 50u);
    EXPECT_EQ(*std::max_element(buckets.high.begin(), buckets.high.end()),
              *std::max_element(y.begin(), y.end()));
    EXPECT_EQ(*std::min_element(buckets.low.begin(), buckets.low.end()),
              *std::min_element(y.begin(), y.end()));
    EXPECT_TRUE(std::is_sorted(buckets.x.begin(), buckets.x.end()));
    for (size_t i = 0; i < buckets.x.size(); ++i) {
      EXPECT_LE(buckets.low[i], buckets.mean[i]);
      EXPECT_LE(buckets.mean[i], buckets.high[i]);
    }
  }
}
