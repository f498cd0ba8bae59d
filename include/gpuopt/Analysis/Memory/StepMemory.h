//===- StepMemory.h - Where the tensors of a step lie -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_STEPMEMORY_H
#define GPUOPT_ANALYSIS_MEMORY_STEPMEMORY_H

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Planning/Arena/PackArena.h"
#include "gpuopt/Support/TensorSize.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace gpuopt {

/// The step's scalars and the hyperparameters come first, this many bytes each.
constexpr int64_t kScalarBytes = 1024;

/// A buffer of the program, whether or not it has an offset in the arena yet.
struct PlannedBuffer {
  std::string name;
  std::string origin;
  mlir::RankedTensorType type;
  int64_t from = 0, to = 0; ///< Half-open, in ops of the step.
  int64_t offset = 0;       ///< In bytes, from the arena's start.
  int result = -1;          ///< See TensorName.
};

/// Finds the values that are written to the memory of an output: those of which
/// the output is all elements in their order, and which nothing changes behind
/// it. The outputs of other steps than those of a forward alone are small, or
/// counted in an arena that is scheduled within a budget.
llvm::DenseMap<mlir::Value, train::OutputOp> outputsInPlace(train::StepOp step);

/// Memory of one step: each value that owns memory has a buffer, in the arena
/// or, for copies of offloaded tensors, on the host. What kernels and calls
/// make for an output alone is written to the output's memory, which outlives
/// the step, and has no buffer.
class StepMemory {
public:
  /// Finds the lifetimes of all buffers. Views and parts of concatenations
  /// belong to the buffer in which they lie.
  StepMemory(train::StepOp step, llvm::StringMap<unsigned> &usedNames);

  /// Packs the buffers with `effort` steps of search, and stops when they fit
  /// into an arena of `capacityInBytes`. Fails, with an error, only if an op
  /// reads what another one has overwritten, or if the packing does not pass
  /// its independent check.
  mlir::LogicalResult
  pack(std::optional<int64_t> capacityInBytes = std::nullopt,
       int64_t effort = planning::PackOptions().effort);

  /// Sets the offsets as attributes of the ops that own the buffers.
  void writeOffsets() const;
  /// Reads the offsets from these attributes. Fails, with an error, if one is
  /// missing, if an op reads what another one has overwritten, or if two
  /// buffers overlap.
  mlir::LogicalResult readOffsets();

  int64_t getHeight() const { return height; }
  /// Returns the proven lower limit for the height of an arena with the buffers
  /// that `pack` has packed.
  int64_t getLowerLimit() const { return lowerLimit; }
  int64_t getHostHeight() const { return hostHeight; }
  llvm::ArrayRef<PlannedBuffer> getBuffers() const { return buffers; }
  llvm::ArrayRef<PlannedBuffer> getHostBuffers() const { return hostBuffers; }
  const PlannedBuffer *lookupHost(mlir::Value copy) const;
  /// Returns the buffer that a value owns; null for state, inputs and
  /// constants.
  const PlannedBuffer *lookup(mlir::Value owner) const;
  /// Returns the output in whose memory a value that owns its memory lies; null
  /// if it lies elsewhere.
  train::OutputOp lookupOutput(mlir::Value owner) const {
    return outputOf.lookup(owner);
  }
  /// Returns the scratch memory of an op.
  const PlannedBuffer *lookupScratch(mlir::Operation *op) const;

private:
  void addBuffer(mlir::Value owner, llvm::StringMap<unsigned> &usedNames);
  void extendLifetimes(mlir::Operation *op, int64_t index);
  void addHostBuffer(train::OffloadOp op, int64_t index,
                     llvm::StringMap<unsigned> &usedNames);
  mlir::LogicalResult checkContents() const;
  mlir::LogicalResult checkTransfers() const;
  mlir::LogicalResult checkPacking() const;

  mutable train::StepOp step;
  std::vector<PlannedBuffer> buffers, hostBuffers;
  /// Indices into `buffers` and `hostBuffers`, by the values that own the
  /// buffers.
  llvm::DenseMap<mlir::Value, unsigned> indexOf, hostIndexOf;
  llvm::DenseMap<mlir::Operation *, unsigned> scratchOf;
  llvm::DenseMap<mlir::Value, train::OutputOp> outputOf; ///< By the owner.
  int64_t height = 0, hostHeight = 0;
  int64_t lowerLimit = 0;
};

/// Returns the type of the scratch memory that an op needs: the partial sums of
/// a gradient norm, or what an optimizer asks for. Returns null if it needs
/// none.
mlir::RankedTensorType scratchTypeOf(mlir::Operation *op);

/// Returns a symbol that is not in `used`, made from a name: "h_0_ln_1" from
/// "/h.0/ln_1/Add_output_0".
std::string uniqueSymbol(llvm::StringRef origin,
                         llvm::StringMap<unsigned> &used);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_STEPMEMORY_H
