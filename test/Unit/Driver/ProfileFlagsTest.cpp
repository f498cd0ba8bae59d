//===- ProfileFlagsTest.cpp - The flags of a run that is profiled ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// `gpuopt profile` gives a trainer flags of its own before those of the user,
// which win.
//
//===----------------------------------------------------------------------===//

#include "Commands/ProfileFlags.h"
#include "Files/TrainerFlags.h"
#include "gtest/gtest.h"

using namespace gpuopt;

namespace {

using Flags = std::vector<std::string>;

// gpuopt.train writes arrays to a folder that it removes.
TEST(ProfileFlags, KnowsArraysOfPython) {
  auto areRemoved = [](std::vector<std::string> flags) {
    return nameRemovedArrays(flags);
  };
  EXPECT_TRUE(
      areRemoved({"trainer", "--data", "x=/none/gpuopt-k3/data-1.npy"}));
  EXPECT_TRUE(areRemoved({"--labels=/none/gpuopt-k3/labels.npy"}));
  EXPECT_TRUE(areRemoved({"--labels", "/none/gpuopt-k3/labels.npy"}));
  EXPECT_FALSE(areRemoved({"--labels", "/none/data/labels.npy", "--seed=1"}));
  EXPECT_FALSE(areRemoved({"-o", "gpuopt-k3/run"}));
}

TEST(ProfileFlags, TheLastValueIsLeft) {
  EXPECT_EQ(withoutReplaced({"--max-steps=3", "--data", "x=a.npy",
                             "--max-steps", "5", "--data=y=b.npy"}),
            (Flags{"--data", "x=a.npy", "--max-steps", "5", "--data=y=b.npy"}));
}

TEST(ProfileFlags, NamesHaveSeveralSpellings) {
  EXPECT_EQ(withoutReplaced({"--learning_rate=0.1", "-o", "a",
                             "--learning-rate", "0.2", "--output-dir=b"}),
            (Flags{"--learning-rate", "0.2", "--output-dir=b"}));
  EXPECT_EQ(withoutReplaced({"--output-dir=b", "-o", "a"}), (Flags{"-o", "a"}));
  EXPECT_EQ(valueOf("--output-dir", {"--seed=1", "-o", "a"}), "a");
  EXPECT_EQ(valueOf("--learning-rate", {"--learning_rate=0.1"}), "0.1");
  EXPECT_EQ(valueOf("--seed", {"-o", "a"}), std::nullopt);
  EXPECT_EQ(valueOf("--seed", {"-o", "--seed=1"}), std::nullopt);
}

TEST(ProfileFlags, WhatIsKeptOfARunIsLeftOut) {
  EXPECT_EQ(flagsToRepeat({"--save-best", "--metric-for-best-model", "accuracy",
                           "--eval-metrics=accuracy", "--checksums-to=a.jsonl",
                           "--checksums_to", "b.jsonl", "--max_steps", "3",
                           "-o", "out", "--seed=1"},
                          {}),
            (Flags{"--seed=1"}));
}

TEST(ProfileFlags, SwitchesTakeNoValue) {
  EXPECT_EQ(
      flagsToRepeat({"--save-best", "-o", "out", "--quiet", "--no-save-best",
                     "--shuffle", "--data", "x=a.npy", "--data=y=b.npy"},
                    {"--quiet", "--data", "y=c.npy"}),
      (Flags{"--quiet", "--shuffle", "--data", "x=a.npy"}));
  EXPECT_EQ(withWholePaths({"--shuffle", "-o", "/out", "--eval_labels", "/a",
                            "--output_dir=/b"}),
            (Flags{"--shuffle", "-o", "/out", "--eval_labels", "/a",
                   "--output_dir=/b"}));
  std::vector<std::string> whole =
      withWholePaths({"-o", "out", "--eval_labels=a.npy"});
  EXPECT_EQ(whole[1].front(), '/');
  EXPECT_EQ(whole[2].find("--eval_labels=/"), 0u);
}

} // namespace
