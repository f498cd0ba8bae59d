//===- BuildKeyTest.cpp - What tells builds of programs apart -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/BuildKey.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace gpuopt;

namespace {

const BuildMachine kMachine{"g++ 14", "znver4 avx512f", "arrow 21"};

/// A program in a folder that goes with the test.
struct BuildKeyTest : testing::Test {
  BuildKeyTest() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "gpuopt-XXXXXX";
    root = mkdtemp(pattern.data());
    write("step.cu", "x");
  }
  ~BuildKeyTest() override { std::filesystem::remove_all(root); }
  void write(const std::string &name, const std::string &content,
             const std::string &folder = "program") {
    std::filesystem::path file = root / folder / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  std::string key(const BuildMachine &machine = kMachine,
                  const std::string &target = "host") {
    return buildKey((root / "program").string(), *find_target(target), machine);
  }
  std::filesystem::path root;
};

TEST_F(BuildKeyTest, FollowsFromTheMachine) {
  EXPECT_EQ(key(), key());
  EXPECT_NE(key(), key(kMachine, "cuda"));
  EXPECT_NE(key(kMachine, "cuda"), key(kMachine, "emulated"));
  EXPECT_NE(key(), key({"g++ 15", kMachine.processor, kMachine.arrow}));
  EXPECT_NE(key(), key({kMachine.compilers, "znver4", kMachine.arrow}));
  EXPECT_NE(key(), key({kMachine.compilers, kMachine.processor, "arrow 22"}));
  EXPECT_NE(key(), key({kMachine.compilers, kMachine.processor, kMachine.arrow,
                        "/opt/pyarrow"}));
}

TEST_F(BuildKeyTest, FollowsFromEverySource) {
  for (const char *name : {"step.cu", "main.cpp", "gpuopt/runtime.h",
                           "CMakeLists.txt", "cuda-libraries.cmake"}) {
    const std::string before = key();
    write(name, "changed");
    EXPECT_NE(key(), before) << name;
  }
  const std::string before = key();
  write("model.safetensors", "weights");
  write("defaults.h", "what the trainer's flags are unless given");
  EXPECT_EQ(key(), before);
}

TEST_F(BuildKeyTest, IsNotOfThePlace) {
  write("step.cu", "x", "other");
  EXPECT_EQ(key(), buildKey((root / "other").string(), *find_target("host"),
                            kMachine));
}

// What -march=native builds for is of programs for the host alone.
TEST(BuildMachine, HasTheProcessor) {
  const std::string processor =
      BuildMachine::find(*find_target("host")).processor;
  EXPECT_EQ(processor.find(llvm::sys::getHostCPUName().str()), 0u);
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      EXPECT_NE((processor + " ").find(" " + feature.first().str() + " "),
                std::string::npos)
          << feature.first().str();
  EXPECT_EQ(BuildMachine::find(*find_target("cuda")).processor, "");
  EXPECT_EQ(BuildMachine::find(*find_target("emulated")).processor, "");
}

// Where CMake looks for oneDNN and other libraries is of each program.
TEST(BuildMachine, HasThePlacesOfLibraries) {
  for (const char *variable :
       {"CMAKE_PREFIX_PATH", "CMAKE_LIBRARY_PATH", "CMAKE_INCLUDE_PATH"}) {
    const char *value = getenv(variable);
    const std::string before = value ? value : "";
    setenv(variable, "/opt/onednn", 1);
    const std::string machine =
        BuildMachine::find(*find_target("host")).compilers;
    EXPECT_NE(machine.find(variable + std::string("=/opt/onednn")),
              std::string::npos)
        << machine;
    value ? setenv(variable, before.c_str(), 1) : unsetenv(variable);
  }
}

// An executable that reads Parquet files loads Arrow from where it was found.
TEST_F(BuildKeyTest, HasThePlaceOfArrow) {
  const TargetInfo &target = *find_target("host");
  EXPECT_EQ(BuildMachine::find(target).arrow, "");
  write("libarrow.so.2100", "", "pyarrow");
  setenv("PYARROW", (root / "pyarrow").c_str(), 1);
  const std::string arrow = BuildMachine::find(target, true).arrow;
  EXPECT_NE(arrow.find((root / "pyarrow" / "libarrow.so.2100").string()),
            std::string::npos)
      << arrow;
  setenv("PYARROW", (root / "other").c_str(), 1);
  EXPECT_NE(BuildMachine::find(target, true).arrow, arrow);
  unsetenv("PYARROW");
  setenv("Parquet_DIR", "/opt/arrow", 1);
  EXPECT_NE(BuildMachine::find(target, true).arrow.find("/opt/arrow"),
            std::string::npos);
  unsetenv("Parquet_DIR");
}

// Python is asked as parquet.cmake asks it, and its complaints are no folder.
TEST_F(BuildKeyTest, AsksPythonForArrow) {
  const TargetInfo &target = *find_target("host");
  const std::string folder = (root / "site" / "pyarrow").string();
  write("libarrow.so.2100", "", "site/pyarrow");
  write("python3",
        "#!/bin/sh\n"
        "echo \"a warning in $PWD\" >&2\n"
        "[ $# = 2 ] && [ \"$1\" = -c ] && case $2 in *pyarrow*)\n"
        "  printf %s \"$ANSWER\"; exit;; esac\n"
        "echo \"$PWD: expected -c and a script with pyarrow, got $*\"\n",
        "bin");
  std::filesystem::permissions(root / "bin" / "python3",
                               std::filesystem::perms::owner_all);
  unsetenv("PYARROW");
  const std::string path = getenv("PATH");
  const auto before = std::filesystem::current_path();
  setenv("PATH", ((root / "bin").string() + ":" + path).c_str(), 1);
  for (const std::string &answer : {folder, std::string("no folder")}) {
    setenv("ANSWER", answer.c_str(), 1);
    std::filesystem::current_path(root / "bin");
    const BuildMachine one = BuildMachine::find(target, true);
    std::filesystem::current_path(root / "site");
    const BuildMachine two = BuildMachine::find(target, true);
    EXPECT_EQ(one.pyarrow, answer == folder ? folder : "");
    EXPECT_EQ(one.arrow.find(folder + "/libarrow.so.2100") != std::string::npos,
              answer == folder)
        << one.arrow;
    EXPECT_EQ(key(one), key(two));
  }
  std::filesystem::current_path(before);
  setenv("PATH", path.c_str(), 1);
  unsetenv("ANSWER");
}

// A folder of this name where gpuopt is called is no package of Python's.
TEST_F(BuildKeyTest, TakesNoArrowOfTheCurrentDirectory) {
  if (system("python3 -c '' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no python3";
  unsetenv("PYARROW");
  write("__init__.py", "", "work/pyarrow");
  const auto before = std::filesystem::current_path();
  const TargetInfo &target = *find_target("host");
  std::filesystem::current_path(root);
  const BuildMachine elsewhere = BuildMachine::find(target, true);
  std::filesystem::current_path(root / "work");
  EXPECT_EQ(key(BuildMachine::find(target, true)), key(elsewhere));
  std::filesystem::current_path(before);
}

} // namespace
