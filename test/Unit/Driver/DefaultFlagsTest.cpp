//===- DefaultFlagsTest.cpp - What a trainer is handed by default ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Target/Cxx/EmitProgram.h"

#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace gpuopt;

namespace {

std::vector<std::string> flagsOf(const TrainingSettings &settings) {
  ProgramKind kind;
  kind.optimizer = "adamw";
  kind.scales_loss = true;
  return defaultFlags(settings, kind);
}

bool has(const std::vector<std::string> &flags, llvm::StringRef prefix) {
  return std::any_of(flags.begin(), flags.end(), [&](const std::string &flag) {
    return llvm::StringRef(flag).starts_with(prefix);
  });
}

TEST(DefaultFlags, SayHowADynamicLossScaleMoves) {
  std::vector<std::string> flags = flagsOf(TrainingSettings());
  EXPECT_TRUE(has(flags, "--loss-scale=dynamic"));
  EXPECT_TRUE(has(flags, "--init-scale=65536"));
  EXPECT_TRUE(has(flags, "--growth-factor=2"));
}

// The trainer refuses flags of a dynamic loss scale beside one that stays.
TEST(DefaultFlags, SayOfALossScaleThatStaysNoMore) {
  TrainingSettings settings;
  settings.is_dynamic = false;
  settings.init_scale = 8;
  std::vector<std::string> flags = flagsOf(settings);
  EXPECT_TRUE(has(flags, "--loss-scale=8"));
  for (const char *other :
       {"--init-scale", "--growth-", "--backoff-factor", "--min-loss-scale"})
    EXPECT_FALSE(has(flags, other)) << other;
}

} // namespace
