//===- RecomputeProblem.cpp - Recomputation under a memory budget ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

static MaybeError checkInputs(const RecomputeProblem &problem, size_t index) {
  const RecomputeOp &op = problem.ops[index];
  std::vector<int> inputs = op.inputs;
  std::sort(inputs.begin(), inputs.end());
  if (!inputs.empty() && (inputs.front() < 0 || size_t(inputs.back()) >= index))
    return Error{
        "expects inputs before it, but reads op " +
        std::to_string(inputs.front() < 0 ? inputs.front() : inputs.back())};
  auto twin = std::adjacent_find(inputs.begin(), inputs.end());
  if (twin != inputs.end())
    return Error{"lists input " + std::to_string(*twin) + " twice"};
  if (op.storage == -1)
    return std::nullopt;
  if (!std::binary_search(inputs.begin(), inputs.end(), op.storage))
    return Error{"shares the storage of op " + std::to_string(op.storage) +
                 ", which is not an input"};
  if (problem.ops[op.storage].sizeInBytes < op.sizeInBytes)
    return Error{"is larger than the storage that it shares"};
  return std::nullopt;
}

static MaybeError checkNumbers(const RecomputeOp &op) {
  if (!std::isfinite(op.cost) || op.cost < 0)
    return Error{"expects a finite cost of at least 0, but got " +
                 std::to_string(op.cost)};
  double offload = op.offloadCost.value_or(0);
  if (!std::isfinite(offload) || offload < 0)
    return Error{"expects a finite offload cost of at least 0, but got " +
                 std::to_string(offload)};
  int64_t least =
      std::min({op.sizeInBytes, op.workspaceInBytes, op.repeatWorkspace()});
  if (least < 0)
    return Error{"expects sizes of at least 0, but got " +
                 std::to_string(least)};
  return std::nullopt;
}

/// Checks what is overwritten. Expects ops that have passed the other checks.
static MaybeError checkOverwritten(const RecomputeProblem &problem) {
  std::vector<int> readers(problem.ops.size(), 0);
  for (const RecomputeOp &op : problem.ops)
    for (int input : op.inputs)
      ++readers[input];
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    const RecomputeOp &op = problem.ops[i];
    if (!op.overwrites)
      continue;
    std::string at = "op " + std::to_string(i) + " ";
    if (op.storage < 0)
      return Error{at + "overwrites, but shares no storage"};
    at += "overwrites op " + std::to_string(op.storage) + ", which ";
    const RecomputeOp &gone = problem.ops[op.storage];
    if (gone.pinned || readers[op.storage] != 1)
      return Error{at + (gone.pinned ? "is pinned" : "has other readers")};
    if (gone.storage >= 0 && !gone.overwrites)
      return Error{at + "is a view of op " + std::to_string(gone.storage)};
  }
  return std::nullopt;
}

/// Checks what may be offloaded. A copy on the host is a whole storage, as it
/// is until its output is dropped. Expects ops that have passed the other
/// checks.
static MaybeError checkOffloaded(const RecomputeProblem &problem) {
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    const RecomputeOp &op = problem.ops[i];
    std::string at = "op " + std::to_string(i) + " ";
    if (op.overwrites && problem.ops[op.storage].offloadCost)
      return Error{at + "overwrites op " + std::to_string(op.storage) +
                   ", which may be offloaded"};
    if (op.offloadCost && op.storage >= 0 && !op.overwrites)
      return Error{at + "may be offloaded, but is a view of op " +
                   std::to_string(op.storage)};
  }
  return std::nullopt;
}

int RecomputeProblem::storageOf(int op) const {
  while (ops[op].storage >= 0)
    op = ops[op].storage;
  return op;
}

MaybeError RecomputeProblem::check() const {
  // A quarter of 64 bits, so that sums with their rounding still fit.
  int64_t room = INT64_MAX / 4;
  for (size_t i = 0; i < ops.size(); ++i) {
    MaybeError error = checkNumbers(ops[i]);
    if (!error)
      error = checkInputs(*this, i);
    int64_t workspace =
        std::max(ops[i].workspaceInBytes, ops[i].repeatWorkspace());
    if (!error &&
        (ops[i].sizeInBytes > room || workspace > room - ops[i].sizeInBytes))
      error = Error{"makes the sum of all sizes overflow"};
    if (error)
      return Error{"op " + std::to_string(i) + " " + error->message};
    room -= ops[i].sizeInBytes + workspace;
    // After a reload, a result that was written over another one lies in a
    // storage of its own.
    int64_t reloaded = ops[i].offloadCost && ops[i].storage >= 0
                           ? ops[storageOf(i)].sizeInBytes
                           : 0;
    if (reloaded > room)
      return Error{"op " + std::to_string(i) +
                   " makes the sum of all sizes overflow"};
    room -= reloaded;
  }
  if (MaybeError error = checkOverwritten(*this))
    return error;
  if (MaybeError error = checkOffloaded(*this))
    return error;
  double costs = totalCost();
  for (const RecomputeOp &op : ops)
    costs += op.offloadCost.value_or(0);
  // The cost of 2^31 executions, in percent, must also be a finite number.
  if (!(costs < 0x1p980))
    return Error{"the sum of all costs overflows"};
  return std::nullopt;
}

double RecomputeProblem::totalCost() const {
  double total = 0;
  for (const RecomputeOp &op : ops)
    total += op.cost;
  return total;
}
