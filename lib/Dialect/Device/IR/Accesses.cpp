//===- Accesses.cpp - What calls read and write ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/Accesses.h"

using namespace mlir;
using namespace gpuopt::device;

static int64_t endOf(BufferOp buffer) {
  return int64_t(buffer.getOffset()) + buffer.getSizeInBytes();
}

static bool isOnHost(BufferOp buffer) {
  return buffer.getKind() == BufferKind::Host;
}

void ByteRanges::insert(BufferOp buffer) {
  Ranges &ordered = ranges[isOnHost(buffer)];
  int64_t begin = int64_t(buffer.getOffset()), end = endOf(buffer);
  if (begin == end)
    return;
  // The ranges that touch the new one become part of it.
  auto next = ordered.upper_bound(begin);
  if (next != ordered.begin() && std::prev(next)->second >= begin)
    begin = (--next)->first;
  while (next != ordered.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ordered.erase(next);
  }
  ordered.emplace(begin, end);
}

bool ByteRanges::overlaps(BufferOp buffer) const {
  const Ranges &ordered = ranges[isOnHost(buffer)];
  int64_t begin = int64_t(buffer.getOffset()), end = endOf(buffer);
  auto next = ordered.lower_bound(end); // the first that begins behind it
  return begin < end && next != ordered.begin() &&
         std::prev(next)->second > begin;
}

bool gpuopt::device::anyOverlaps(ArrayRef<BufferOp> buffers, BufferOp buffer) {
  return llvm::any_of(buffers, [&](BufferOp other) {
    return isOnHost(other) == isOnHost(buffer) &&
           int64_t(other.getOffset()) < endOf(buffer) &&
           int64_t(buffer.getOffset()) < endOf(other);
  });
}

bool gpuopt::device::isWritten(KernelOp kernel, unsigned argument) {
  return !llvm::all_of(kernel.getBody().getArgument(argument).getUsers(),
                       llvm::IsaPred<LoadOp, RandomOp>);
}
