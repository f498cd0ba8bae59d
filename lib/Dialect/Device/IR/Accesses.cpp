//===- Accesses.cpp - What calls read and write ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/Accesses.h"

using namespace mlir;
using namespace gpuopt::device;

bool gpuopt::device::anyOverlaps(ArrayRef<BufferOp> buffers, BufferOp buffer) {
  auto end = [](BufferOp op) {
    return int64_t(op.getOffset()) + op.getSizeInBytes();
  };
  return llvm::any_of(buffers, [&](BufferOp other) {
    return (other.getKind() == BufferKind::Host) ==
               (buffer.getKind() == BufferKind::Host) &&
           int64_t(other.getOffset()) < end(buffer) &&
           int64_t(buffer.getOffset()) < end(other);
  });
}

bool gpuopt::device::isWritten(KernelOp kernel, unsigned argument) {
  return !llvm::all_of(kernel.getBody().getArgument(argument).getUsers(),
                       llvm::IsaPred<LoadOp, RandomOp>);
}
