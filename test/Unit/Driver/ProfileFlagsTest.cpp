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
#include "gtest/gtest.h"

using namespace gpuopt;

namespace {

using Flags = std::vector<std::string>;

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
}

} // namespace
