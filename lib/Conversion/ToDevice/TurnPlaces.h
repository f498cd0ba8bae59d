//===- TurnPlaces.h - Where a turn of a loop reads and writes ---*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_TURNPLACES_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_TURNPLACES_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Interfaces/StridedView.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace gpuopt {

/// The entries of tensors in a turn of a loop. Each tensor that has an entry
/// for each turn is a column of the loop's table, in which a turn's entry
/// begins as many elements behind, or before, the last one's as it has.
class TurnPlaces {
public:
  /// `symbolOf` returns the name of the buffer that a value owns.
  TurnPlaces(nn::ScanOp op,
             llvm::function_ref<llvm::StringRef(mlir::Value)> symbolOf);

  /// Creates the loop, with an empty region.
  device::RepeatOp createLoop(mlir::ImplicitLocOpBuilder &b,
                              llvm::StringRef name) const;

  /// Whether a value of a turn is the entry of a tensor: a slice, a state
  /// before the turn, or what the turn yields.
  bool hasEntry(mlir::Value value) const { return entries.contains(value); }
  /// Returns the address of a view of an entry.
  mlir::Value addressIn(mlir::ImplicitLocOpBuilder &b,
                        const StridedView &view) const;
  llvm::StringRef bufferOfColumn(llvm::StringRef column) const;

  bool isInvariant(mlir::Value value) const;
  /// Returns how an invariant lies in memory outside of the loop.
  StridedView viewOfInvariant(mlir::Value argument) const;

  /// Turns the offset of a view into one that says as much of the alignment as
  /// holds in all turns.
  void noteAlignment(StridedView &view) const;

private:
  /// Where a turn's entry lies: turn i's begins `elements + i * stride` behind
  /// the beginning of the buffer.
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

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_TURNPLACES_H
