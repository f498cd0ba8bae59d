//===- RowTotals.h - Sums over the rows of a block --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The partial sums of a kernel that reduces rows. Each group of threads adds up
// the rows that it takes, in registers: a thread has the columns there that it
// has of every row. When the rows are done, the groups' sums are combined.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_ROWTOTALS_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_ROWTOTALS_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gpuopt {

class RowTotals {
public:
  RowTotals(mlir::ImplicitLocOpBuilder &b, mlir::Block &body);

  bool empty() const { return sums.empty(); }
  llvm::ArrayRef<nn::PartialSumOp> all() const { return sums; }

  /// Makes a row in registers for each sum, of `columns` elements.
  void declare(int64_t columns);
  /// Sets what all of them have at `index` to zero; inside a loop over lanes,
  /// as the next two.
  void clear(mlir::Value index);
  void add(nn::PartialSumOp sum, mlir::Value element, mlir::Value index);
  /// Returns what all groups have added up at `index`.
  mlir::Value ofGroups(nn::PartialSumOp sum, mlir::Value index);

private:
  mlir::Value load(nn::PartialSumOp sum, mlir::Value index);
  void store(nn::PartialSumOp sum, mlir::Value element, mlir::Value index);

  mlir::ImplicitLocOpBuilder &b;
  llvm::SmallVector<nn::PartialSumOp> sums;
  llvm::DenseMap<mlir::Operation *, mlir::Value> rows;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_ROWTOTALS_H
