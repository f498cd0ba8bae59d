//===- RowWalks.h - The walks of a kernel over its row ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_ROWWALKS_H
#define GPUOPT_ANALYSIS_KERNELS_ROWWALKS_H

#include "gpuopt/Analysis/Kernels/LaunchShape.h"

namespace gpuopt {

/// A kernel that reduces rows walks over its row once for each reduction that
/// waits for another one, and once more for the results that need all of them.
/// A softmax has three walks. This class says what happens in which walk, and
/// which values are kept from the walk that computes them for the later ones.
///
/// If a row is kept nowhere, the walk that finds m, the maximum of x, finds the
/// sum of exp(x - m) as well (Milakov and Gimelshein 2018, arXiv 1805.02867).
/// Such a softmax has two walks. The element that a label picks from such a
/// row, which is the sum of select(i == label, x[i], 0), is loaded alone.
class RowWalks {
public:
  /// The element that a sum picks from its row: an element of `row`, which is
  /// what memory has there or a wider type of it, or 0 where `label` is no
  /// place in it.
  struct Pick {
    nn::ReduceOp sum;
    mlir::Value row, label;
  };

  RowWalks(mlir::Block &body, const KernelShape &shape,
           const LaunchShape &launch);

  unsigned count() const { return walks.size(); }

  /// Returns how many walks must be finished before `value` can be computed.
  unsigned earliest(mlir::Value value) const;

  /// Returns the maximum that is found in the same walk as `sum`, a sum of
  /// exponentials relative to it; or null.
  nn::ReduceOp maximumBeside(nn::ReduceOp sum) const {
    return maximumOf.lookup(sum);
  }
  /// Returns of what each element is combined in the walk of `reduce`.
  mlir::Value combinedBy(nn::ReduceOp reduce) const {
    nn::ReduceOp maximum = maximumBeside(reduce);
    return (maximum ? maximum : reduce).getInput();
  }

  llvm::ArrayRef<Pick> picks() const { return picked; }

  /// Whether `value` has an element for every element of the row.
  bool isFull(mlir::Value value) const;

  /// The work of one walk.
  struct Walk {
    llvm::SmallVector<nn::ReduceOp> reductions;
    llvm::SmallVector<nn::PartialSumOp> sums; ///< Which it adds the row to.
    llvm::SmallVector<unsigned>
        outputs; ///< Positions among what the body yields.

    bool isEmpty() const {
      return reductions.empty() && sums.empty() && outputs.empty();
    }
  };
  const Walk &operator[](unsigned number) const { return walks[number]; }

  /// Returns the values that more than one walk needs and that cost more to
  /// compute or to read again than to keep, each with the walk that has it
  /// first.
  const llvm::MapVector<mlir::Value, unsigned> &kept() const {
    return keptSince;
  }

private:
  void findPlainWalks(mlir::Block &body);
  /// Returns what `earliest` would be if no sum shared a walk with its maximum,
  /// and no element were picked.
  unsigned plain(mlir::Value value) const;
  /// Returns the walk that writes a result: the first one behind all
  /// reductions that come before the result in the plain order, in which
  /// InPlaceResults.cpp has found that nothing reads the operand that the
  /// result replaces any more.
  unsigned writtenIn(mlir::Value value, mlir::Block &body) const;
  void pairExponentials(mlir::Block &body);
  void findPicks(mlir::Block &body);
  std::optional<Pick> pickOf(nn::ReduceOp sum) const;
  bool isPicked(mlir::Operation *op) const;
  void findEarliest(mlir::Block &body);
  void assignWork(mlir::Block &body);
  void chooseKept();
  void visit(mlir::Value value, unsigned walk);
  unsigned costOf(mlir::Value value) const;

  bool isWorthKeeping(mlir::Value value) const;

  const KernelShape &shape;
  const RowStorage storage;
  llvm::DenseMap<mlir::Operation *, nn::ReduceOp> maximumOf;
  llvm::DenseMap<mlir::Operation *, unsigned> plainOf, earliestOf;
  llvm::SmallVector<Walk> walks;
  llvm::SmallVector<Pick> picked;
  mlir::ValueRange yielded;
  llvm::DenseMap<mlir::Value, unsigned> computedIn;
  llvm::DenseSet<mlir::Value> visited; ///< By `visit`, for the walk under way.
  llvm::MapVector<mlir::Value, unsigned> keptSince;
  int64_t room = 0; ///< Bytes that are left for kept values.
};

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_ROWWALKS_H
