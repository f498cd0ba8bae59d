//===- PrecisionGraph.h - A step's precisions as a problem ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels compute in f32 whatever they read and write, so there are two things
// to choose: for each product, the type of its operands; for each tensor of the
// arena, the type in which it lies there. Their costs are estimated times:
//
// - a product's, by the rate of its operands' type and the bytes that it moves;
// - a kernel's, of which each tensor in half precision saves its share of what
//   the kernel would save if all of them were;
// - a copy in the other precision, once for all that read it: written by the
//   kernel that makes the tensor, by the optimizer for a parameter, so once for
//   all micro steps of a step, before the first step for a frozen one, by a
//   kernel of its own for the rest, running statistics among them;
// - bytes kept from the forward to the backward, at the price of memory.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_PRECISION_PRECISIONGRAPH_H
#define GPUOPT_ANALYSIS_PRECISION_PRECISIONGRAPH_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Analysis/Precision/PrecisionPolicy.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Planning/Precision/PrecisionProblem.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace gpuopt {

struct PrecisionOptions {
  mlir::FloatType halfType;
  /// The cost of each byte that lives from the forward to the backward.
  double picosecondsPerSavedByte = 0;
  /// Micro steps for each step of the optimizer.
  int64_t accumulationSteps = 1;
  /// If it is not null, the step may read copies in half precision of no other
  /// variables than these, unless an override asks for them.
  const llvm::SetVector<mlir::StringAttr> *onlyKeptCopies = nullptr;
};

struct PrecisionGraph {
  planning::PrecisionProblem problem;
  /// Indices of the choices for tensors, by the value that owns the memory, and
  /// for products.
  llvm::MapVector<mlir::Value, int> tensorOf;
  llvm::MapVector<mlir::Operation *, int> productOf;

  /// The nodes of a tensor that products read, or of a parameter, input or
  /// constant. `down` is in half precision if the tensor is, or if it has a
  /// copy in half precision. `up` is in half precision if no product reads the
  /// tensor in f32; it is -1 for what is not a tensor of the arena.
  struct Copies {
    int down = -1, up = -1;
  };
  llvm::MapVector<mlir::Value, Copies> copiesOf;
};

/// `step` has passed kernels-materialize-views. An error says which override
/// asks for half precision where it must not be, and why.
llvm::Expected<PrecisionGraph>
buildPrecisionGraph(train::StepOp step, const DeviceModel &device,
                    PrecisionPolicy &policy, const PrecisionOptions &options);

/// Returns the choices of PyTorch's autocast: products are in half precision,
/// and everything else follows its lists, as far as the problem allows.
std::vector<char> paintLikeAutocast(const PrecisionGraph &graph,
                                    const PrecisionPolicy &policy);

/// Who maintains the copies in half precision of the variable that `read`
/// reads. The forward changes running statistics, so their copies last for one
/// step.
enum class CopyKeeper { Optimizer, Preparation, Step };
CopyKeeper copyKeeperOf(train::ReadOp read);

/// The largest finite number of f16 or bf16.
double largestOf(mlir::FloatType type);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_PRECISION_PRECISIONGRAPH_H
