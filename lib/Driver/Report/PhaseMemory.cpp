//===- PhaseMemory.cpp - What is alive in each part of a step -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/PhaseMemory.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/StepParts.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

using namespace mlir;
using namespace gpuopt;

static StepParts partsOf(train::StepOp step) {
  StepParts parts;
  parts.isUpdate = step.getKind() == train::StepKind::Update;
  parts.isEvaluation = step.getKind() == train::StepKind::Evaluate;
  int64_t point = 0;
  parts.backward = parts.update = std::numeric_limits<int64_t>::max();
  StepPartFinder ops;
  for (Operation &op : step.getBody().front()) {
    if (!doesWork(&op))
      continue;
    StepPart part = ops.next(&op);
    if (part != StepPart::Forward)
      parts.backward = std::min(parts.backward, point);
    if (part == StepPart::Update)
      parts.update = std::min(parts.update, point);
    ++point;
  }
  return parts;
}

std::map<std::string, StepParts> gpuopt::partsOfSteps(ModuleOp module) {
  std::map<std::string, StepParts> steps;
  for (train::StepOp step : module.getOps<train::StepOp>())
    steps[step.getSymName().str()] = partsOf(step);
  return steps;
}

/// Returns the part of a step that a time point is in; null if it is of none
/// that is told.
static int64_t *partAt(int64_t point, const StepParts &parts,
                       AliveBytes &bytes) {
  if (parts.isUpdate)
    return &bytes.update;
  if (parts.isEvaluation)
    return &bytes.evaluation;
  if (point < parts.backward)
    return &bytes.forward;
  return point < parts.update ? &bytes.backward : &bytes.update;
}

AliveBytes gpuopt::aliveInParts(ModuleOp module,
                                const std::map<std::string, StepParts> &steps) {
  // By step, how many bytes more are alive at a time point than before it.
  std::map<std::string, std::map<int64_t, int64_t>> changes;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    if (buffer.getKind() == device::BufferKind::Arena) {
      auto &change = changes[buffer.getStep()->str()];
      change[*buffer.getLiveFrom()] += buffer.getSizeInBytes();
      change[*buffer.getLiveTo()] -= buffer.getSizeInBytes();
    }
  AliveBytes bytes;
  for (auto &[step, change] : changes) {
    auto parts = steps.find(step);
    if (parts == steps.end())
      continue;
    // What is alive where a part begins is so from a point before it.
    for (int64_t begin : {parts->second.backward, parts->second.update})
      if (begin < change.rbegin()->first)
        change[begin];
    int64_t alive = 0;
    for (auto [point, added] : change) {
      alive += added;
      int64_t *part = partAt(point, parts->second, bytes);
      *part = std::max(*part, alive);
    }
  }
  return bytes;
}
