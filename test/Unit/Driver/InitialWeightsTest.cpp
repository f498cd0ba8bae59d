//===- InitialWeightsTest.cpp - Files of --init-from before the run -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/InitialWeights.h"

#include "gpuopt/data/safetensors.h"
#include "gtest/gtest.h"

#include <filesystem>

using namespace gpuopt;

namespace {

struct InitialWeightsTest : testing::Test {
  InitialWeightsTest() {
    const float elements[] = {1, 2};
    write_safetensors(file, {{"w", Type::F32, {2}, elements, 8}});
  }
  ~InitialWeightsTest() override { std::filesystem::remove(file); }
  std::vector<std::string> warningsOf(const std::vector<WeightShape> &weights,
                                      bool isStrict = false) const {
    const StartFindings found = lookAtStart(file, weights, isStrict, "");
    EXPECT_EQ(found.problem, "");
    return found.warnings;
  }
  const std::string file =
      testing::TempDir() + "gpuopt-initial-weights.safetensors";
  const WeightShape fits{"w", {}, "f32", {2}}, lacks{"v", {}, "f32", {2}};
};

TEST_F(InitialWeightsTest, WarnOfWhatTheFileLacks) {
  EXPECT_TRUE(warningsOf({fits}).empty());
  EXPECT_EQ(warningsOf({fits, lacks}),
            std::vector<std::string>{"'--init-from' '" + file +
                                     "': 1 of 2 tensors are taken; lacks 'v'"});
}

// The trainer leaves what does not fit to this warning.
TEST_F(InitialWeightsTest, WarnIfTheProgramCannotBeCompared) {
  const WeightShape narrow{"n", {}, "f8E4M3FN", {2}};
  EXPECT_EQ(
      warningsOf({fits, narrow}),
      std::vector<std::string>{
          "'--init-from' '" + file +
          "': it is not known before the run which tensors fit, because the "
          "program has 'n' with elements of f8E4M3FN and 1 dimensions; "
          "--init-strict has the run refuse a file that does not fit"});
  // Then the run says itself what does not fit.
  EXPECT_TRUE(warningsOf({fits, narrow}, /*isStrict=*/true).empty());
}

} // namespace
