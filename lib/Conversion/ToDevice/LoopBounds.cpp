//===- LoopBounds.cpp - Bounds and indices of a kernel's loops ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBounds.h"

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace gpuopt;

std::pair<Value, Value> gpuopt::spanOf(ImplicitLocOpBuilder &b, Value i,
                                       int64_t span, int64_t size,
                                       int64_t count) {
  auto constant = [&](int64_t number) {
    return b.create<arith::ConstantIndexOp>(number);
  };
  if (count == 1)
    return {constant(0), constant(size)};
  Value width = constant(span);
  Value lower = b.create<arith::MulIOp>(i, width);
  Value upper = b.create<arith::AddIOp>(lower, width);
  if (size % span != 0)
    upper = b.create<arith::MinSIOp>(upper, constant(size));
  return {lower, upper};
}

SmallVector<Value> gpuopt::delinearize(ImplicitLocOpBuilder &b, Value linear,
                                       ArrayRef<int64_t> sizes) {
  SmallVector<Type> types(sizes.size(), b.getIndexType());
  auto digits = b.create<device::DelinearizeOp>(types, linear, sizes);
  return llvm::to_vector(ValueRange(digits.getDigits()));
}
