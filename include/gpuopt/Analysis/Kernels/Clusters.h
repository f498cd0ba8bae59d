//===- Clusters.h - What will be one kernel each ----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Memory-bound work (elementwise ops, broadcasts, reductions, generators) is
// grouped into clusters, each of which becomes one kernel. A cluster is the
// set of values that its kernel writes to memory; everything else that they
// need is computed again inside the kernel, from values in memory. So there
// are two decisions:
//
// 1. Which values exist in memory. What a product, a convolution, a view other
//    than a broadcast, or state reads must. Beyond these, a value that K
//    kernels would compute from L tensors of its size each costs K * L reads
//    when recomputed and K + L accesses when stored, so it is stored where
//    (K - 1) * (L - 1) > 1. What is a function of one tensor alone (the
//    derivative of an activation, the normalised input of a layer norm) is
//    never stored.
// 2. Which of them one kernel writes. In program order, a value joins the
//    latest cluster that it reads from, or that reads what it reads, if their
//    iteration spaces agree and no cycle arises.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_CLUSTERS_H
#define GPUOPT_ANALYSIS_KERNELS_CLUSTERS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include <string>
#include <vector>

namespace gpuopt {

/// Whether an op can be a part of a kernel: elementwise ops, reductions,
/// generators and gathers on tensors, and splat constants. Broadcasts are views
/// and never clusters of their own.
bool isFusible(mlir::Operation *op);

/// The indices that a kernel covers: all of `shape`, with reductions over
/// `reducedDims`.
struct IterationSpace {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> reducedDims;

  /// Whether the kernel reduces, but not over the innermost dimension that is
  /// not 1. Partial results then differ by lane, so that no value of the full
  /// shape can depend on them.
  bool isColumnReduction() const;
  /// Returns `shape` with size 1 in each reduced dimension.
  llvm::SmallVector<int64_t> keptShape() const;
};

/// One kernel, by the values that it writes to memory, in program order.
struct Cluster {
  IterationSpace space;
  llvm::SmallVector<mlir::Value> outputs;
};

/// A step of the program after clustering: an op that stays as it is, or a
/// cluster (`op` null).
struct ProgramUnit {
  mlir::Operation *op = nullptr;
  unsigned cluster = 0;
};

struct Clustering {
  std::vector<Cluster> clusters;
  /// The ops that are neither fusible nor views, and the clusters, in an order
  /// that respects all dependences. A view op belongs to each op that reads it.
  std::vector<ProgramUnit> order;
  /// The cluster that writes each stored value.
  llvm::DenseMap<mlir::Value, unsigned> clusterOf;
};

Clustering findClusters(mlir::Block &block);

/// Returns what a kernel does, in a few words, after the most important ops of
/// its body: "add_layer_norm_mul".
std::string kernelLabel(mlir::Block &body);
std::string kernelLabel(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_CLUSTERS_H
