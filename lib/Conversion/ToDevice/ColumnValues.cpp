//===- ColumnValues.cpp - What the rows of a column share -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ColumnValues.h"

#include "gpuopt/Analysis/Kernels/ShiftedExp.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpuopt;

static bool isSum(nn::ReduceOp reduce) {
  Type type = getElementTypeOrSelf(reduce.getType());
  return reduce.getKind() == nn::ReductionKind::Sum &&
         (type.isF32() || type.isF64());
}

namespace {

/// Walks over what is computed in every row.
class RowValues {
public:
  RowValues(const KernelShape &shape) : shape(shape) {}

  void visit(Value value) {
    value = skipBroadcasts(value);
    Operation *producer = value.getDefiningOp();
    if (!producer || !seen.insert(value).second)
      return;
    if (!variesAlongReduced(shape, value)) {
      areRowsAlike &= !isa<nn::ReduceOp>(producer);
      if (variesAlongLanes(value) &&
          isa<FloatType>(getElementTypeOrSelf(value.getType())))
        columns.insert(value);
      return;
    }
    areRowsAlike &= !isDear(producer) || variesAlongAllReduced(value);
    if (!isa<nn::TakeOp>(producer))
      for (Value operand : producer->getOperands())
        visit(operand);
  }

  llvm::SmallSetVector<Value, 4> columns;
  /// No row waits for a sum, or shares what is dear with some others.
  bool areRowsAlike = true;

private:
  static bool isDear(Operation *op) {
    return isa<math::MathDialect>(op->getDialect()) || isa<arith::DivFOp>(op);
  }
  bool variesAlongLanes(Value value) const {
    return shape.varies.find(value)->second.back();
  }
  bool variesAlongAllReduced(Value value) const {
    for (auto [loop, varies] :
         llvm::zip(shape.loops, shape.varies.find(value)->second))
      if (loop.isReduced && !varies)
        return false;
    return true;
  }

  const KernelShape &shape;
  llvm::SmallPtrSet<Value, 16> seen;
};

} // namespace

std::optional<SmallVector<Value>>
gpuopt::columnValuesOf(Block &body, const KernelShape &shape) {
  RowValues values(shape);
  for (nn::ReduceOp reduce : body.getOps<nn::ReduceOp>()) {
    if (!isSum(reduce))
      return std::nullopt;
    values.visit(reduce.getInput());
  }
  for (Value result : cast<nn::YieldOp>(body.getTerminator()).getValues())
    if (variesAlongReduced(shape, result))
      values.visit(result);
  if (!values.areRowsAlike)
    return std::nullopt;
  return values.columns.takeVector();
}
