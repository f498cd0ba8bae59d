//===- RunFolderFlags.cpp - The flags of gpuopt profile and advise --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/FlagGroups.h"

using namespace llvm;
using namespace gpuopt;

namespace {
cl::opt<std::string> profiled(cl::Positional, cl::desc("<RUN|PROGRAM>"),
                              cl::Required, cl::sub(profileCommand()));
cl::list<std::string> arguments(cl::ConsumeAfter,
                                cl::desc("[flags of the trainer ...]"),
                                cl::sub(profileCommand()));
cl::opt<std::string> advised(cl::Positional, cl::desc("<RUN>"), cl::Required,
                             cl::sub(adviseCommand()));
} // namespace

ProfileOptions gpuopt::collectProfile() {
  return {profiled, {arguments.begin(), arguments.end()}};
}

std::string gpuopt::collectAdvise() { return advised; }
