//===- StepMemory.h - Where the tensors of a step lie -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_STEPMEMORY_H
#define GPUOPT_ANALYSIS_STEPMEMORY_H

#include "gpuopt/Analysis/Buffers.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Planning/Arena/PackArena.h"
#include "gpuopt/Support/TensorSize.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace gpuopt {

/// The step's scalars and the hyperparameters come first, this many bytes each.
constexpr int64_t kScalarBytes = 1024;

/// A buffer of the program before it has an offset in the arena.
struct PlannedBuffer {
  std::string name;
  std::string origin;
  mlir::RankedTensorType type;
  int64_t from = 0, to = 0; ///< Half-open, in ops of the step.
  int64_t offset = 0;       ///< In bytes, from the arena's start.
  int result = -1;          ///< As of TensorName.
};

/// True for the ops that count as time points of lifetimes: not views, nor
/// reads and constants.
bool ownsMemory(mlir::Operation *op);

/// Memory of one step: each value that owns memory has a buffer, in the arena
/// or, for copies of offloaded tensors, on the host.
class StepMemory {
public:
  /// Finds what lives when. Views and parts of concatenations share the memory
  /// of what they belong to.
  StepMemory(train::StepOp step, llvm::StringMap<unsigned> &usedNames);

  /// Packs the buffers, by `effort` steps of search, if it can into an arena of
  /// `capacityInBytes`; fails, with an error, only if an op reads what another
  /// has overwritten, or if the packing does not pass its independent check.
  mlir::LogicalResult
  pack(std::optional<int64_t> capacityInBytes = std::nullopt,
       int64_t effort = planning::PackOptions().effort);

  /// Notes the offsets on the ops that own the buffers.
  void writeOffsets() const;
  /// Takes the offsets from there; fails, with an error, if one is missing, an
  /// op reads what another has overwritten, or two buffers meet.
  mlir::LogicalResult readOffsets();

  int64_t getHeight() const { return height; }
  /// Returns the height below which no arena holds what `pack` has packed.
  int64_t getLowerLimit() const { return lowerLimit; }
  int64_t getHostHeight() const { return hostHeight; }
  llvm::ArrayRef<PlannedBuffer> getBuffers() const { return buffers; }
  llvm::ArrayRef<PlannedBuffer> getHostBuffers() const { return hostBuffers; }
  const PlannedBuffer *lookupHost(mlir::Value copy) const;
  /// The buffer that a value owns, null for state, inputs and constants.
  const PlannedBuffer *lookup(mlir::Value owner) const;
  /// Scratch memory of an op.
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
  /// Places in `buffers` and `hostBuffers`, by the values that own the buffers.
  llvm::DenseMap<mlir::Value, unsigned> indexOf, hostIndexOf;
  llvm::DenseMap<mlir::Operation *, unsigned> scratchOf;
  int64_t height = 0, hostHeight = 0;
  int64_t lowerLimit = 0;
};

/// The memory that an op needs for itself: the partial sums of a gradient norm,
/// or what an optimizer asks for; null where it needs none.
mlir::RankedTensorType scratchTypeOf(mlir::Operation *op);

/// "h_0_ln_1", unique among `used`, from a name like "/h.0/ln_1/Add_output_0".
std::string uniqueSymbol(llvm::StringRef origin,
                         llvm::StringMap<unsigned> &used);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_STEPMEMORY_H
