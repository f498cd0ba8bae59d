//===- BatchSize.cpp - The batch of a program -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/BatchSize.h"

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

using namespace mlir;
using namespace gpuopt::device;

int64_t gpuopt::device::batchSizeOf(ModuleOp module) {
  for (BufferOp buffer : module.getOps<BufferOp>())
    if (auto type = cast<RankedTensorType>(buffer.getType());
        buffer.getKind() == BufferKind::Input && type.getRank() > 0)
      return type.getDimSize(0);
  return 0;
}
