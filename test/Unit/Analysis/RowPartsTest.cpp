// Into how many parts rows are cut for kernels whose blocks add up what they
// work on.

#include "gpuopt/Analysis/Kernels/RowParts.h"
#include "gtest/gtest.h"

using namespace gpuopt;

namespace {

DeviceModel deviceOf(double multiprocessors) {
  DeviceModel device;
  device.multiprocessors = multiprocessors;
  return device;
}

// 132 multiprocessors run 264 blocks at once. The largest divisor below that is
// 256: each block reads 256 rows, and the end costs as much as 8 more. 512
// blocks would run in two waves of 128 + 8 rows.
TEST(RowParts, FillTheDeviceOnce) {
  EXPECT_EQ(rowPartsFor(65536, deviceOf(132)), 256);
}

// 108 multiprocessors run 216 blocks at once. 1024 blocks take 5 waves of
// 64 + 8 rows, 256 blocks 2 of 256 + 8.
TEST(RowParts, LeaveFewIdleInTheLastWave) {
  EXPECT_EQ(rowPartsFor(65536, deviceOf(108)), 1024);
}

// The number of rows of 128 images of 197 patches has one factor that is no
// power of two.
TEST(RowParts, DivideAnyNumberOfRows) {
  EXPECT_EQ(rowPartsFor(128 * 197, deviceOf(132)), 4 * 197);
}

TEST(RowParts, HaveRowsEnough) {
  EXPECT_EQ(rowPartsFor(8192, deviceOf(132)), 256);
  EXPECT_EQ(rowPartsFor(4096, deviceOf(132)), std::nullopt);
  EXPECT_EQ(rowPartsFor(128, deviceOf(1)), 2);
  EXPECT_EQ(rowPartsFor(63, deviceOf(1)), std::nullopt);
  EXPECT_EQ(rowPartsFor(8191, deviceOf(132)), std::nullopt); // a prime
}

} // namespace
