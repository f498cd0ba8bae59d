//===- Calls.h - What the calls of a step are -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes calls.h of a program: the calls of each function whose calls can be
// timed, in their order, and what each asks of the device.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_CALLS_H
#define GPUOPT_LIB_TARGET_CXX_CALLS_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Target/Cxx/EmitProgram.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt::cxx {

/// The calls of one op of a step: a row of the runtime's CallInfo.
struct OpCalls {
  std::string origin, work; ///< Its CostKey.
  int count = 0;
  /// The elements that this op works on, if several ops share a call. The first
  /// of them has the call's `count`, and the others have 0.
  int64_t elements = 0;
  std::string name;    ///< What is run: device::nameOfWork.
  std::string section; ///< device::sectionOf.
  unsigned mark = 0;   ///< That of its first line (LineMarks); 0 without one.
  /// On the first row of a loop whose iterations are alike: how often its rows
  /// run, and how many rows it has.
  unsigned iterations = 1, rows = 0;
};

/// The lines on which calls stand. Functions are put together in another order
/// than they are printed in, so a call's line is known once the file is whole:
/// until then, a mark stands before the call.
class LineMarks {
public:
  /// Prints a mark, and returns it.
  unsigned add(llvm::raw_ostream &stream);
  /// Removes all marks from a file, and notes their lines.
  void resolve(std::string &file);
  /// Returns the line of a mark, counted from 1; 0 of a mark that is in no
  /// file.
  unsigned lineOf(unsigned mark) const;

private:
  std::vector<unsigned> lines; ///< By mark, from 1 on.
};

/// Whether the calls of a step can be timed: those that a trainer makes again
/// and again.
bool isTimed(device::StepOp step);

/// Returns what `op` is: its cost key, or its name if it has none. Within a
/// device.repeat, that of one iteration.
OpCalls callsOf(mlir::Operation *op, unsigned iteration = 0);

/// Returns a call that the runtime itself needs, of no op.
OpCalls runtimeCall(llvm::StringRef function, llvm::StringRef section);

/// Does the same as callsOf for each call of a multi-tensor call, which makes
/// `count` calls.
std::vector<OpCalls> callsOf(device::MultiTensorOp merged, int count);

/// Appends the calls of all further iterations of a loop to those of the first
/// iteration, which are `calls` from `begin` on. Where all iterations are
/// alike, notes how many there are instead.
void addIterations(device::RepeatOp repeat, size_t begin,
                   std::vector<OpCalls> &calls);

/// Returns "kMicroStepCalls".
std::string callTableName(llvm::StringRef function);

/// Returns "kMicroStepWork".
std::string workTableName(llvm::StringRef function);

/// Prints one table of calls.h.
void printCallTable(llvm::StringRef function, llvm::ArrayRef<OpCalls> calls,
                    llvm::raw_ostream &stream);

/// Prints the table of what these calls ask of the device.
void printWorkTable(llvm::StringRef function, llvm::ArrayRef<OpCalls> calls,
                    const LineMarks &marks, const EmissionOptions &options,
                    llvm::raw_ostream &stream);

/// Returns calls.h with these tables.
std::string callsFile(llvm::StringRef tables);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_CALLS_H
