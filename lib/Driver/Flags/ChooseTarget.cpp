//===- ChooseTarget.cpp - What --target=auto stands for -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Driver/Driver.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace gpuopt;

static bool hasGpu() {
  auto query = sys::findProgramByName("nvidia-smi");
  return query &&
         sys::ExecuteAndWait(*query, {*query, "-L"}, std::nullopt,
                             {StringRef(), StringRef(), StringRef()}) == 0;
}

TargetChoice gpuopt::chooseTarget() {
  if (!hasGpu())
    return {"host", "no GPU is found"};
  if (!sys::findProgramByName("nvcc"))
    return {"host", "a GPU is found, but nvcc is not on the PATH"};
  return {"cuda", "a GPU and nvcc are found"};
}
