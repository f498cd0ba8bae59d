//===- StepGraph.h - A step as a recomputation problem ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of the problem are the results of the step's kernels and library
// calls. The results of one kernel come one after the other. At first they are
// computed together; to compute one again, its slice of the kernel runs, or
// else the whole kernel (KernelSlice.h).
//
// A concatenation is written part by part into memory of its own: the first
// part allocates the whole, the others and the concatenation share it.
//
// A result that is written over an operand shares its storage and overwrites
// it. Small results of the same kernel that would need that operand (the mean
// and deviation beside a sum) are not made again.
//
// State, inputs and constants lie outside of the arena and are not in the
// problem.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_STEPGRAPH_H
#define GPUOPT_ANALYSIS_MEMORY_STEPGRAPH_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

namespace gpuopt {

struct StepGraph {
  struct Node {
    mlir::Operation *op = nullptr;
    mlir::Value value; ///< The op's result; null if it has none.
  };
  std::vector<Node> nodes;
  /// Op i is nodes[i]; costs are nanoseconds.
  planning::RecomputeProblem problem;
  llvm::DenseMap<mlir::Value, int> nodeOf;

  /// Returns the node of the value that `value` is a view of, or -1 if that
  /// lies outside of the arena.
  int lookup(mlir::Value value) const;
};

/// Builds the graph of a step that has passed kernels-materialize-views.
StepGraph buildStepGraph(train::StepOp step, const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_STEPGRAPH_H
