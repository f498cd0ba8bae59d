//===- RowTotals.cpp - Sums over the rows of a block ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowTotals.h"

#include "KnownMultiples.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace gpuopt;

static Type elementTypeOf(nn::PartialSumOp sum) {
  return cast<RankedTensorType>(sum.getType()).getElementType();
}

RowTotals::RowTotals(ImplicitLocOpBuilder &b, Block &body)
    : b(b), sums(body.getOps<nn::PartialSumOp>()) {}

void RowTotals::declare(int64_t columns) {
  for (nn::PartialSumOp sum : sums)
    rows[sum] =
        b.create<device::RowOp>(device::PtrType::get(elementTypeOf(sum)),
                                columns, /*inRegisters=*/true);
}

void RowTotals::clear(Value index) {
  for (nn::PartialSumOp sum : sums)
    store(sum,
          b.create<arith::ConstantOp>(b.getFloatAttr(elementTypeOf(sum), 0)),
          index);
}

void RowTotals::add(nn::PartialSumOp sum, Value element, Value index) {
  store(sum, b.create<arith::AddFOp>(load(sum, index), element), index);
}

Value RowTotals::ofGroups(nn::PartialSumOp sum, Value index) {
  return b.create<device::CombineGroupsOp>(device::Combiner::Sum,
                                           load(sum, index));
}

Value RowTotals::load(nn::PartialSumOp sum, Value index) {
  return b.create<device::LoadOp>(
      elementTypeOf(sum), rows.lookup(sum), index, ArrayRef<int64_t>{1}, 0,
      device::AccessPattern::Contiguous, kMostLanes);
}

void RowTotals::store(nn::PartialSumOp sum, Value element, Value index) {
  b.create<device::StoreOp>(element, rows.lookup(sum), index,
                            ArrayRef<int64_t>{1}, 0,
                            device::AccessPattern::Contiguous, kMostLanes);
}
