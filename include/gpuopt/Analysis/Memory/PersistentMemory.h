//===- PersistentMemory.h - What lies before the arena ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_PERSISTENTMEMORY_H
#define GPUOPT_ANALYSIS_MEMORY_PERSISTENTMEMORY_H

#include "gpuopt/Analysis/Memory/StepMemory.h"

namespace gpuopt {

/// Where the first variable may lie, in bytes from the start of the memory.
constexpr int64_t kFirstVariableOffset = 2 * kScalarBytes;

/// Returns where the next variable may begin if this one begins at `offset`.
int64_t endOfVariable(train::VariableOp variable, int64_t offset);

/// Fails, with an error, where a variable has no offset, is not aligned, or
/// overlaps another one.
mlir::LogicalResult verifyState(mlir::ModuleOp module);

/// The memory before the arena: state, inputs, outputs and constants. Variables
/// lie where train-plan-state has put them; those that it has not seen yet are
/// counted in their order. Inputs, outputs and constants follow.
class PersistentMemory {
public:
  PersistentMemory(mlir::ModuleOp module, llvm::StringMap<unsigned> &usedNames);

  /// Adds the inputs, outputs and constants of a step. Steps share inputs of
  /// one name and equal constants.
  void addStep(train::StepOp step);
  int64_t getSizeInBytes() const { return end; }

  llvm::StringRef symbolOfVariable(mlir::FlatSymbolRefAttr variable) const;
  mlir::RankedTensorType typeOfVariable(mlir::FlatSymbolRefAttr variable) const;
  llvm::StringRef symbolOfInput(llvm::StringRef name) const;
  llvm::StringRef symbolOfOutput(llvm::StringRef name) const;
  llvm::StringRef symbolOfConstant(mlir::Attribute value) const;

  struct Entry {
    train::BufferKind kind;
    std::string symbol, origin;
    mlir::RankedTensorType type;
    int64_t offset = 0;
    mlir::FlatSymbolRefAttr variable;
    mlir::ElementsAttr value;
    std::string externalName;
    /// The range in which the elements of an input must lie; null if all are
    /// allowed.
    train::IndexRangeAttr indices;
  };
  llvm::ArrayRef<Entry> getEntries() const { return entries; }

private:
  void addConstant(mlir::Operation *op);
  /// Appends a buffer, behind all others unless an offset is given.
  Entry &add(train::BufferKind kind, llvm::StringRef origin, mlir::Type type,
             std::optional<int64_t> offset = std::nullopt);

  std::vector<Entry> entries;
  llvm::StringMap<unsigned> &usedNames;
  llvm::StringMap<unsigned> inputs, outputs, variables;
  llvm::DenseMap<mlir::Attribute, unsigned> constants;
  int64_t end = kFirstVariableOffset;
};

/// Returns what a buffer is for, in words for people: "parameters", "optimizer
/// state". `variable` is the variable of a buffer of state, and null for other
/// buffers.
llvm::StringRef nameOfPart(train::BufferKind kind, train::VariableOp variable);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_PERSISTENTMEMORY_H
