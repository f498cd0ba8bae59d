//===- LoopWriter.h - Writes calls as loops over tables ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_LOOPWRITER_H
#define GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_LOOPWRITER_H

#include "CallSequence.h"
#include "llvm/ADT/StringSet.h"

namespace gpuopt::device {

/// The calls of one iteration in the places of the loop's body; null where the
/// iteration makes no call.
using Iteration = llvm::SmallVector<const Call *>;

/// A loop to write, under a name.
struct Loop {
  std::string name;
  std::vector<Iteration> iterations; ///< All have as many places.
};

/// Writes loops of equal calls, which get the same columns and conditions and
/// so can share a function.
class LoopWriter {
public:
  LoopWriter(std::vector<Loop> loops, const mlir::SymbolTable &symbols);

  void write();

private:
  /// The buffers of a column in the iterations of all loops; null where an
  /// iteration needs none.
  using Cells = llvm::SmallVector<mlir::Attribute>;
  /// Where an operand points to: the cell of each iteration, and the elements
  /// that are added to it in all iterations. The iteration that begins first in
  /// its buffer has a cell without elements of its own.
  struct Operand {
    Cells cells;
    int64_t elements = 0;
    std::optional<unsigned> column; ///< None if it is the same in all.
  };
  struct Column {
    Cells cells;
    std::string stem, name; ///< The stem is not yet unique.
  };

  size_t placeCount() const { return iterations.front()->size(); }
  /// Returns the call at a place of the first iteration from `from` on that
  /// makes it, or else of the first of all.
  const Call &callAt(unsigned place, unsigned from = 0) const;

  Operand operandOf(unsigned place, unsigned number) const;
  void collectOperands();
  void collectColumns(bool ofAllIterations);
  unsigned columnOf(const Cells &cells, bool ofAllIterations);
  void nameConditions();

  BufferOp bufferOf(mlir::Attribute cell) const;
  std::optional<llvm::StringRef> roleOf(const Cells &cells) const;
  mlir::Type elementOf(const Cells &cells) const;
  std::string stemOf(const Cells &cells) const;
  std::string uniqueName(const std::string &stem);

  void write(const Loop &loop, unsigned first);
  mlir::Attribute rowOf(const Loop &loop, unsigned first, unsigned index,
                        mlir::OpBuilder &builder) const;
  void writeCall(unsigned place, const Loop &loop, unsigned first,
                 mlir::OpBuilder &builder);
  void noteIterations(mlir::Operation *call, unsigned place, const Loop &loop,
                      mlir::OpBuilder &builder) const;
  void eraseCalls();

  std::vector<Loop> loops;
  std::vector<const Iteration *> iterations; ///< Those of all loops.
  const mlir::SymbolTable &symbols;
  std::vector<std::vector<Operand>> operands; ///< By place and address.
  std::vector<Column> columns;
  std::vector<std::string> conditions; ///< By place; empty for none.
  llvm::StringSet<> names;
};

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_LOOPWRITER_H
