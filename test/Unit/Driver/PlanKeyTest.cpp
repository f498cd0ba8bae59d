//===- PlanKeyTest.cpp - What tells plans apart ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/PlanKey.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

using namespace gpuopt;

namespace {

/// A model with tensors in weights.bin, in a folder that goes with the test.
struct PlanKeyTest : testing::Test {
  PlanKeyTest() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "gpuopt-XXXXXX";
    root = mkdtemp(pattern.data());
    setenv("XDG_CACHE_HOME", (root / "cache").c_str(), /*overwrite=*/1);
    write("model.onnx", "graph \x0a\x08location\x12\x0bweights.bin rest");
    write("weights.bin", "1234");
    write("mine.json", "{}");
  }
  ~PlanKeyTest() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(root);
  }
  void write(const std::string &name, const std::string &content) {
    std::filesystem::path file = root / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  std::string key(const std::vector<std::string> &words = {
                      "model.onnx", "--device=mine.json",
                      "--constant-input=a=b=c.npy"}) {
    return planKey(root.string(), words);
  }
  /// Whether a function changes the key.
  template <class Function>
  bool changes(Function function) {
    std::string before = key();
    function();
    return key() != before;
  }
  std::filesystem::path root;
};

TEST_F(PlanKeyTest, DependsOnAllThatAPlanReads) {
  EXPECT_FALSE(changes([] {}));
  EXPECT_TRUE(changes([&] { write("mine.json", "[]"); }));
  EXPECT_FALSE(changes([&] { write("mine.json", "[]"); })); // as it was
  EXPECT_TRUE(changes([&] { write("c.npy", "1"); }));
  EXPECT_TRUE(changes([&] { write("weights.bin", "12345"); }));
  auto time = std::filesystem::last_write_time(root / "weights.bin");
  EXPECT_TRUE(changes([&] {
    std::filesystem::last_write_time(root / "weights.bin",
                                     time + std::chrono::seconds(1));
  }));
  EXPECT_TRUE(changes([&] { write("cache/gpuopt/mine.json", "{}"); }));
  EXPECT_FALSE(changes([&] { write("other.json", "{}"); }));
  EXPECT_TRUE(changes([&] {
    write("model.onnx", "Graph \x0a\x08location\x12\x0bweights.bin rest");
  }));
  // A length that is none, and a file that is not there.
  EXPECT_TRUE(
      changes([&] { write("model.onnx", "\x0a\x08location\x12\xff"); }));
  EXPECT_TRUE(changes([&] { std::filesystem::remove(root / "model.onnx"); }));
}

TEST_F(PlanKeyTest, DependsOnTheFlags) {
  EXPECT_NE(key({"model.onnx"}), key({"model.onnx", "--batch-size=2"}));
  EXPECT_NE(key({"model.onnx", "--a=1", "--b=2"}),
            key({"model.onnx", "--a=1--b=2"}));
  EXPECT_EQ(key({"model.onnx"}), key({(root / "model.onnx").string()}));
}

} // namespace
