//===- IterationPlaces.h - Where an iteration reads and writes --*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_ITERATIONPLACES_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_ITERATIONPLACES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Interfaces/StridedView.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace gpuopt {

/// The entries of tensors in an iteration of a loop. Each tensor that has an
/// entry for each iteration is a column of the loop's table, in which an
/// iteration's entry begins as many elements behind, or before, the last one's
/// as it has.
class IterationPlaces {
public:
  /// `symbolOf` returns the name of the buffer that a value owns.
  IterationPlaces(nn::ScanOp op,
                  llvm::function_ref<llvm::StringRef(mlir::Value)> symbolOf);

  /// Creates the loop, with an empty region.
  device::RepeatOp createLoop(mlir::ImplicitLocOpBuilder &b,
                              llvm::StringRef name) const;

  /// Whether a value of an iteration is the entry of a tensor: a slice, a state
  /// before the iteration, or what the iteration yields.
  bool hasEntry(mlir::Value value) const { return entries.contains(value); }
  /// Returns the address of a view of an entry.
  mlir::Value addressIn(mlir::ImplicitLocOpBuilder &b,
                        const StridedView &view) const;
  llvm::StringRef bufferOfColumn(llvm::StringRef column) const;

  bool isInvariant(mlir::Value value) const;
  /// Returns how an invariant lies in memory outside of the loop.
  StridedView viewOfInvariant(mlir::Value argument) const;

  /// Turns the offset of a view into one that says as much of the alignment as
  /// holds in all iterations.
  void noteAlignment(StridedView &view) const;

private:
  /// Where an iteration's entry lies: iteration i's begins `elements + i *
  /// stride` behind the beginning of the buffer.
  struct Entry {
    std::string column, buffer;
    int64_t elements, stride;
  };

  void addEntry(mlir::Value value, mlir::Value tensor, int64_t firstEntry,
                llvm::function_ref<llvm::StringRef(mlir::Value)> symbolOf);

  mutable nn::ScanOp op;
  llvm::MapVector<mlir::Value, Entry> entries;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_ITERATIONPLACES_H
