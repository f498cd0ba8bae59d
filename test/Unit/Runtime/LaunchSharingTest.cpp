//===- LaunchSharingTest.cpp - Tests which launches threads share ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/device/launch_sharing.h"

#include <gtest/gtest.h>

using namespace gpuopt;

namespace {

/// A clock that launches move.
struct TestClock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<TestClock, duration>;
  static inline time_point time;
  static time_point now() { return time; }
  static void pass(double microseconds) {
    time += std::chrono::nanoseconds(int64_t(1000 * microseconds));
  }
};

/// Launches that take half as long when two threads share them, and what it
/// takes to start the other one besides.
class LaunchSharingTest : public testing::Test {
protected:
  void SetUp() override { threads_spin = true; }
  void TearDown() override { threads_spin = true; }

  /// Runs a launch `calls` times. Returns how often one thread computed alone.
  int run(double microseconds, uint64_t work, int calls) {
    int alone = 0;
    for (int i = 0; i < calls; i++) {
      const bool isAlone = sharing.begin(&kernel, work);
      TestClock::pass(isAlone ? microseconds
                              : microseconds / 2 + microsecondsToStart());
      alone += isAlone;
      sharing.end();
    }
    return alone;
  }
  static double microsecondsToStart() { return threads_spin ? 1 : 40; }

  LaunchSharing<TestClock> sharing;
  int kernel = 0;
};

TEST_F(LaunchSharingTest, SmallLaunchesAreNotShared) {
  run(1, 8, 100);
  EXPECT_EQ(run(1, 8, 100), 100);
}

TEST_F(LaunchSharingTest, LargeLaunchesAreShared) {
  run(50, 8, 100);
  EXPECT_EQ(run(50, 8, 100), 0);
}

TEST_F(LaunchSharingTest, HugeLaunchesAreNeverTriedAlone) {
  EXPECT_EQ(run(1000, 8, 2000), 0);
}

TEST_F(LaunchSharingTest, WhatSharingGainsMustBeWorthIt) {
  threads_spin = false;
  run(81, 8, 100);
  EXPECT_EQ(run(81, 8, 100), 100) << "80.5 us instead of 81";
}

TEST_F(LaunchSharingTest, ThreadsThatSleepShareLess) {
  run(50, 8, 100);
  threads_spin = false;
  run(50, 8, 100);
  EXPECT_EQ(run(50, 8, 100), 100);
  threads_spin = true;
  EXPECT_EQ(run(50, 8, 100), 0) << "what was chosen before";
}

TEST_F(LaunchSharingTest, LaunchesAreToldApartByTheirWork) {
  auto microseconds = [](uint64_t work) { return work % 2 == 0 ? 1 : 50; };
  for (int i = 0; i < 100; i++)
    for (uint64_t work = 2; work < 200; work++)
      run(microseconds(work), work, 1);
  for (uint64_t work = 2; work < 200; work++)
    EXPECT_EQ(run(microseconds(work), work, 1), work % 2 == 0) << work;
}

TEST_F(LaunchSharingTest, TriesAgainNowAndThen) {
  run(50, 8, 100);
  // Now the work is small.
  EXPECT_GT(run(1, 8, 2000), 1400);
}

} // namespace
