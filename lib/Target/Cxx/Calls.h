//===- Calls.h - What the calls of a step are -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes calls.h of a program: the calls of each function whose calls can be
// timed, in their order.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_CALLS_H
#define GPUOPT_LIB_TARGET_CXX_CALLS_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt::cxx {

/// The calls of one op of a step: a row of the runtime's CallInfo.
struct OpCalls {
  std::string origin, work; ///< Its CostKey.
  int count = 0;
  /// The elements that this op works on, if several ops share a call. The first
  /// of them has the call's `count`, and the others have 0.
  int64_t elements = 0;
};

/// Whether the calls of a step can be timed: those that a trainer makes again
/// and again.
bool isTimed(device::StepOp step);

/// Returns what `op` is: its cost key, or its name if it has none. Within a
/// device.repeat, that of one turn.
OpCalls callsOf(mlir::Operation *op, unsigned turn = 0);

/// Does the same for each op of a group, which makes `count` calls.
std::vector<OpCalls> callsOf(device::GroupOp group, int count);

/// Returns "kMicroStepCalls".
std::string callTableName(llvm::StringRef function);

/// Prints one table of calls.h.
void printCallTable(llvm::StringRef function, llvm::ArrayRef<OpCalls> calls,
                    llvm::raw_ostream &stream);

/// Returns calls.h with these tables.
std::string callsFile(llvm::StringRef tables);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_CALLS_H
