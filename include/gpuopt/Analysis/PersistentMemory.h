//===- PersistentMemory.h - What lies before the arena ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_PERSISTENTMEMORY_H
#define GPUOPT_ANALYSIS_PERSISTENTMEMORY_H

#include "gpuopt/Analysis/StepMemory.h"

namespace gpuopt {

/// [lowest, limit), or anything where `limit` is -1.
struct IndexRange {
  int64_t lowest = 0, limit = -1;
};

/// State, inputs, outputs and constants: what lies before the arena.
class PersistentMemory {
public:
  PersistentMemory(mlir::ModuleOp module, llvm::StringMap<unsigned> &usedNames);

  /// Inputs, outputs and constants of a step. Steps share inputs of one name
  /// and equal constants.
  void addStep(train::StepOp step);
  int64_t getSizeInBytes() const { return end; }

  llvm::StringRef symbolOfVariable(mlir::FlatSymbolRefAttr variable) const;
  mlir::RankedTensorType typeOfVariable(mlir::FlatSymbolRefAttr variable) const;
  llvm::StringRef symbolOfInput(llvm::StringRef name) const;
  llvm::StringRef symbolOfOutput(llvm::StringRef name) const;
  llvm::StringRef symbolOfConstant(mlir::Attribute value) const;

  struct Entry {
    device::BufferKind kind;
    std::string symbol, origin;
    mlir::RankedTensorType type;
    int64_t offset;
    mlir::FlatSymbolRefAttr variable;
    mlir::ElementsAttr value;
    std::string externalName;
    IndexRange indices;
    mlir::IntegerAttr ignoreIndex;
  };
  llvm::ArrayRef<Entry> getEntries() const { return entries; }

private:
  Entry &add(device::BufferKind kind, llvm::StringRef origin, mlir::Type type);

  std::vector<Entry> entries;
  llvm::StringMap<unsigned> &usedNames;
  llvm::StringMap<unsigned> inputs, outputs, variables;
  llvm::DenseMap<mlir::Attribute, unsigned> constants;
  int64_t end = 2 * kScalarBytes;
};

/// What a buffer is for, in words for people: "parameters", "optimizer state".
/// `variable` is that of a buffer of state, else null.
llvm::StringRef nameOfPart(device::BufferKind kind, train::VariableOp variable);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_PERSISTENTMEMORY_H
