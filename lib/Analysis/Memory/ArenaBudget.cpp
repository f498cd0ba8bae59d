//===- ArenaBudget.cpp - What a memory budget leaves for arenas -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/ArenaBudget.h"

#include "gpuopt/Analysis/Memory/PersistentMemory.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"

using namespace mlir;
using namespace gpuopt;

int64_t gpuopt::persistentBytesOf(ModuleOp module) {
  llvm::StringMap<unsigned> names;
  PersistentMemory persistent(module, names);
  for (train::StepOp step : module.getOps<train::StepOp>())
    persistent.addStep(step);
  return persistent.getSizeInBytes();
}

int64_t gpuopt::arenaBudgetOf(int64_t memoryBudget, int64_t activationBudget,
                              int64_t persistentBytes) {
  int64_t budget = std::numeric_limits<int64_t>::max();
  if (memoryBudget > 0)
    budget = std::max<int64_t>(0, memoryBudget - persistentBytes);
  if (activationBudget > 0)
    budget = std::min<int64_t>(budget, activationBudget);
  return llvm::alignDown(budget, kBufferAlignment);
}

bool gpuopt::isWithinBudget(ModuleOp module, int64_t memoryBudget,
                            int64_t activationBudget) {
  int64_t persistentBytes = persistentBytesOf(module);
  if (memoryBudget > 0 && persistentBytes > memoryBudget)
    return false;
  int64_t budget =
      arenaBudgetOf(memoryBudget, activationBudget, persistentBytes);
  return llvm::all_of(module.getOps<train::StepOp>(), [&](train::StepOp step) {
    llvm::StringMap<unsigned> names;
    StepMemory memory(step, names);
    return succeeded(memory.pack(budget)) && memory.getHeight() <= budget;
  });
}
