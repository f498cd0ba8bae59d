//===- BytesTextTest.cpp - Tests that programs write bytes as gpuopt does -===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/device/error.h"
#include "gtest/gtest.h"

using namespace gpuopt;

// A plan and the run of its program tell the same amounts.
TEST(BytesText, IsThatOfThePlan) {
  for (int64_t bytes : {0, 1, 1000, 1024, 10239, 10240, 1023999, 1024000,
                        45665485, 640995328, 1047527424})
    EXPECT_EQ(human_bytes(double(bytes)), planning::formatBytes(bytes));
  for (int64_t bytes = 3; bytes < int64_t(1) << 50; bytes = bytes * 17 / 11 + 1)
    EXPECT_EQ(human_bytes(double(bytes)), planning::formatBytes(bytes));
}
