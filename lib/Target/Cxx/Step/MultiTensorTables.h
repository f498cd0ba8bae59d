//===- MultiTensorTables.h - The tensors of one call for many ---*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device.multi_tensor is printed as a table, which has a row for each of its
// calls, and as one call that gets the table:
//
// clang-format off
//   DEVICE_TABLE UpdateRow<float, float, 2> kAdamwUpdates[] = {
//       {17408, {21504, 25600}, 102400, kNowhere, 128, 0, true}, // "fc.weight"
//       {82944, {83456, 83968}, 108953, kNowhere, 12, 2, false}, // "fc.bias"
//   };
// clang-format on
//   adamw(ctx, state, m, kAdamwUpdates, 3);
//
// The gradients of a norm have a table of the same form.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_MULTITENSORTABLES_H
#define GPUOPT_LIB_TARGET_CXX_MULTITENSORTABLES_H

#include "Names.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::cxx {

/// A call that gets a table.
struct TableCall {
  std::string function;
  llvm::SmallVector<std::string> arguments;
};

class MultiTensorTables {
public:
  /// Tables are printed to `stream`.
  MultiTensorTables(ProgramNames &names, const mlir::SymbolTable &symbols,
                    llvm::raw_ostream &stream)
      : names(names), symbols(symbols), stream(stream) {}

  /// Prints the table of a multi-tensor call; returns the call.
  TableCall print(device::MultiTensorOp merged);

  /// Whether the gradients of a norm can be a table: two or more, of one type
  /// or of one more in half precision.
  static bool areTabular(device::GradNormOp op);
  /// Prints their table; returns its name.
  std::string print(device::GradNormOp op);

private:
  ProgramNames &names;
  const mlir::SymbolTable &symbols;
  llvm::raw_ostream &stream;
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_MULTITENSORTABLES_H
