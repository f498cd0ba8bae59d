//===- ArenaVerify.cpp - Checks a packing, pair by pair -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Arena/ArenaProblem.h"

using namespace gpuopt::planning;

static Error wrong(size_t buffer, const std::string &what) {
  return {"buffer " + std::to_string(buffer) + " " + what};
}

MaybeError gpuopt::planning::verify(const ArenaProblem &problem,
                                    const ArenaSolution &solution) {
  if (MaybeError error = problem.check())
    return error;
  const std::vector<Buffer> &buffers = problem.buffers;
  const std::vector<int64_t> &offsets = solution.offsets;
  if (offsets.size() != buffers.size())
    return Error{"expects " + std::to_string(buffers.size()) +
                 " offsets, but got " + std::to_string(offsets.size())};
  int64_t height = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (offsets[i] < 0)
      return wrong(i, "has the negative offset " + std::to_string(offsets[i]));
    if (offsets[i] % buffers[i].alignment != 0)
      return wrong(i, "is not aligned to " +
                          std::to_string(buffers[i].alignment) + " at offset " +
                          std::to_string(offsets[i]));
    if (offsets[i] > INT64_MAX - buffers[i].sizeInBytes)
      return wrong(i, "ends beyond 64 bits");
    int64_t end = offsets[i] + buffers[i].sizeInBytes;
    if (end > height)
      height = end;
    for (size_t j = 0; j < i; ++j) {
      bool apartInTime = buffers[i].upper <= buffers[j].lower ||
                         buffers[j].upper <= buffers[i].lower;
      bool apartInSpace = end <= offsets[j] ||
                          offsets[j] + buffers[j].sizeInBytes <= offsets[i];
      bool empty = buffers[i].sizeInBytes == 0 || buffers[j].sizeInBytes == 0;
      if (!apartInTime && !apartInSpace && !empty)
        return wrong(i, "overlaps buffer " + std::to_string(j));
    }
  }
  if (solution.height != height)
    return Error{"expects a height of " + std::to_string(height) +
                 ", but got " + std::to_string(solution.height)};
  return std::nullopt;
}
