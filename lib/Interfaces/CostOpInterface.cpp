//===- CostOpInterface.cpp - How much arithmetic an op is -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Interfaces/CostOpInterface.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

#include "gpuopt/Interfaces/CostOpInterface.cpp.inc"

using namespace mlir;

double gpuopt::floatingPointOperations(Operation *op) {
  if (auto costly = dyn_cast<CostOpInterface>(op))
    return costly.getFloatingPointOperations();
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      !op->hasTrait<OpTrait::Elementwise>())
    return 0;
  int64_t elements = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      elements = std::max(elements, tensor.getNumElements());
  bool isCheap = !isa<math::MathDialect>(op->getDialect()) ||
                 isa<math::AbsFOp, math::FmaOp, math::CopySignOp>(op);
  return elements * (isCheap ? 1 : kOperationsOfElementaryFunction);
}
