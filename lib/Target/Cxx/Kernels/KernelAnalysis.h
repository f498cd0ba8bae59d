//===- KernelAnalysis.h - Decisions before printing -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_KERNELANALYSIS_H
#define GPUOPT_LIB_TARGET_CXX_KERNELANALYSIS_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::cxx {

/// Returns the loop over lanes that an op is in, or null.
device::LoopOp enclosingLanesLoop(mlir::Operation *op);

/// Returns the number of elements of which the place of an access in `loop` and
/// the number of its lanes are known to be multiples: 16 where all lanes of any
/// target are there, 8 or 4 where the runtime decides, else 1.
int64_t knownMultiple(device::LoopOp loop, int64_t alignment = 16);

/// Whether the groups of a kernel share rows inside of a loop over lanes.
bool sharesRows(device::LoopOp lanesLoop);

/// Whether what is stored in a loop over lanes is stored by the first group
/// alone: all groups share its rows, or have been combined.
bool storesInFirstGroup(device::LoopOp lanesLoop);

/// Whether a position serves no other purpose than to draw random numbers. It
/// is then written as the number of the first lane's element.
bool isFirstOfNeighbours(device::PositionOp op);

/// Whether a row is in the registers of the threads that walk over it, which
/// they do in a fixed number of iterations.
bool isInRegisters(mlir::Value pointer);

/// Finds out which values of a kernel have one value per lane, and which are
/// written where they are used and get no name.
class KernelAnalysis {
public:
  explicit KernelAnalysis(device::KernelOp kernel);

  bool isVarying(mlir::Value value) const { return varying.contains(value); }

  /// Whether `value` gets no name: a constant, or a value with one use, which
  /// follows in the same block. If the value holds a load, nothing may write
  /// memory between the load and that use.
  bool isInlined(mlir::Value value) const { return inlined.contains(value); }

  /// Returns how often the body of a loop over lanes asks how many elements are
  /// left.
  unsigned usesOfRest(device::LoopOp loop) const {
    return restUses.lookup(loop);
  }

private:
  void findVarying(mlir::Operation *op);
  void findInlined(mlir::Block &block);
  void countRest(mlir::Operation *op);

  llvm::DenseSet<mlir::Value> varying, inlined;
  llvm::DenseMap<mlir::Operation *, unsigned> restUses;
};

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_KERNELANALYSIS_H
