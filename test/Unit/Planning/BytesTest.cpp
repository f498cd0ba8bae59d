//===- BytesTest.cpp - Amounts of memory as people write them -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Bytes.h"
#include "gtest/gtest.h"

using namespace gpuopt::planning;

TEST(Bytes, AreReadWithBinaryAndDecimalUnits) {
  EXPECT_EQ(*parseBytes("4096"), 4096);
  EXPECT_EQ(*parseBytes("100B"), 100);
  EXPECT_EQ(*parseBytes("8GiB"), int64_t(8) << 30);
  EXPECT_EQ(*parseBytes("1.5 gib"), int64_t(3) << 29);
  EXPECT_EQ(*parseBytes("512MB"), 512'000'000);
  EXPECT_EQ(*parseBytes("3mb"), 3'000'000);
  EXPECT_EQ(*parseBytes("3kB"), 3'000);
  EXPECT_EQ(*parseBytes("3mib"), int64_t(3) << 20);
}

TEST(Bytes, RefuseWhatMayBeTwoAmounts) {
  const std::string units = "; units are B, KB, MB, GB, TB (powers of 1000) "
                            "and KiB, MiB, GiB, TiB (of 1024)";
  for (const char *text : {"3Mb", "3 Gb", "3Mib", "1.5Tb"})
    EXPECT_EQ(parseBytes(text).error().message,
              "'" + std::string(text) + "' may mean bits or bytes" + units);
  for (const char *text : {"8G", "8g", "8 G"})
    EXPECT_EQ(parseBytes(text).error().message,
              "'" + std::string(text) + "' may mean 8GB or 8GiB" + units);
}

TEST(Bytes, RefuseWhatIsNoAmount) {
  for (const char *text : {"", "GiB", "-1GiB", "8GiB of it", "8XB", "8Gi",
                           "nan", "1e300TiB"})
    EXPECT_EQ(parseBytes(text).error().message,
              "expects bytes like '8GiB', '512MB' or '4096', but got '" +
                  std::string(text) + "'");
}

TEST(Bytes, RefuseWhatIsTooLarge) {
  EXPECT_EQ(*parseBytes("4194303TiB"), int64_t(4194303) << 40);
  for (const char *text : {"4194304TiB", "99999999999GiB", "9000000TiB"})
    EXPECT_EQ(parseBytes(text).error().message,
              "expects less than 4194304TiB, but got '" + std::string(text) +
                  "'");
}

TEST(Bytes, ArePrintedShort) {
  EXPECT_EQ(formatBytes(4096), "4096 B");
  EXPECT_EQ(formatBytes(640'995'328), "611.4 MiB");
  EXPECT_EQ(formatBytes(int64_t(8) << 30), "8.00 GiB");
  EXPECT_EQ(formatBytes(int64_t(1000) << 20), "0.98 GiB");
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(10239), "10239 B");
  EXPECT_EQ(formatBytes(10240), "10.0 KiB");
  EXPECT_EQ(formatBytes(1023 << 10), "1.00 MiB");
  EXPECT_EQ(formatBytes(int64_t(2000) << 40), "2000.0 TiB");
}
