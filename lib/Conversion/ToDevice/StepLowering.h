//===- StepLowering.h - Ops of a step to launches and library calls -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_STEPLOWERING_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_STEPLOWERING_H

#include "MemoryPlan.h"

namespace gpuopt {

/// State, inputs, outputs and constants: what lies before the arena.
class PersistentMemory {
public:
  PersistentMemory(mlir::ModuleOp module, llvm::StringMap<unsigned> &usedNames);

  /// Inputs, outputs and constants of a step. Steps share inputs of one name
  /// and equal constants.
  void addStep(train::StepOp step);
  void emit(mlir::OpBuilder &builder) const;
  int64_t getSizeInBytes() const { return end; }

  llvm::StringRef symbolOfVariable(mlir::FlatSymbolRefAttr variable) const;
  llvm::StringRef symbolOfInput(llvm::StringRef name) const;
  llvm::StringRef symbolOfOutput(llvm::StringRef name) const;
  llvm::StringRef symbolOfConstant(mlir::Attribute value) const;

private:
  struct Entry {
    device::BufferKind kind;
    std::string symbol, origin;
    mlir::RankedTensorType type;
    int64_t offset;
    mlir::FlatSymbolRefAttr variable;
    mlir::ElementsAttr value;
    std::string externalName;
    int64_t indexLimit = -1;
    mlir::IntegerAttr ignoreIndex;
  };
  Entry &add(device::BufferKind kind, llvm::StringRef origin, mlir::Type type);

  std::vector<Entry> entries;
  llvm::StringMap<unsigned> &usedNames;
  llvm::StringMap<unsigned> inputs, outputs, variables;
  llvm::DenseMap<mlir::Attribute, unsigned> constants;
  int64_t end = 2 * kScalarBytes;
};

/// Kernels of the program; equal ones exist once.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module) : module(module) {}

  /// The kernel that does `op`, on operands and results that lie as told.
  device::KernelOp lookup(nn::FusedOp op, llvm::ArrayRef<StridedView> operands, llvm::ArrayRef<StridedView> results);
  size_t size() const { return kernels.size(); }

private:
  mlir::ModuleOp module;
  llvm::StringMap<device::KernelOp> kernels; ///< By their text without the name.
  llvm::StringMap<unsigned> usedNames;
};

/// True for the ops that lowerStep knows.
bool canLower(mlir::Operation *op);

/// Appends the device.step for `step` to the module.
void lowerStep(train::StepOp step, const StepMemory &memory, const PersistentMemory &persistent,
               KernelTable &kernels);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_STEPLOWERING_H
