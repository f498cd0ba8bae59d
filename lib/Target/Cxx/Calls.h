//===- Calls.h - What the calls of a step are -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// calls.h of a program: for each function whose calls can be timed, what they
// are, in their order.
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
};

/// Whether the calls of a step can be timed: those that a trainer makes again
/// and again.
bool isTimed(device::StepOp step);

/// What `op` is, by its cost key; by its name where it has none. In a
/// device.repeat, what it is in a turn.
OpCalls callsOf(mlir::Operation *op, unsigned turn = 0);

/// "kMicroStepCalls"
std::string callTableName(llvm::StringRef function);

/// A table of the file.
void printCallTable(llvm::StringRef function, llvm::ArrayRef<OpCalls> calls,
                    llvm::raw_ostream &stream);

/// The file around its tables.
std::string callsFile(llvm::StringRef tables);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_CALLS_H
