//===- OutputLosses.h - The losses of a model's outputs ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step minimises the loss of one output or the sum of those of several ones,
// each taken by its weight. Of one output, the loss is a sum over targets, and
// the optimizer divides by their number. Of several ones, it is the sum of the
// means of a batch, because each of them has a number of targets of its own.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_OUTPUTLOSSES_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_OUTPUTLOSSES_H

#include "Backward/Loss.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpuopt::train {

struct OutputLoss {
  LossOptions options;
  unsigned output = 0; ///< Its number among the results of the forward.
  double weight = 1;
};

/// The labels of an output, as an input of a step.
struct Labels {
  mlir::StringAttr name;
  mlir::RankedTensorType type;
  mlir::Attribute range; ///< An IndexRangeAttr; unit for any numbers.
};

class OutputLosses {
public:
  /// Finds the outputs that losses read: those of `texts`, OUTPUT:LOSS:WEIGHT,
  /// or, if there are none, the output `logits`, an empty name being that of
  /// the first. `common` has what is not said of each. With `inference`, only
  /// names are checked. Fails with what is wrong.
  mlir::LogicalResult find(mlir::func::FuncOp forward,
                           const LossOptions &common,
                           llvm::ArrayRef<std::string> texts,
                           llvm::StringRef logits, bool inference);

  /// The loss whose metrics an evaluation measures.
  const OutputLoss &first() const { return losses.front(); }

  /// Returns the labels in the order of the losses, without those of losses
  /// that have none.
  llvm::SmallVector<Labels> labels() const;

  /// Returns the largest number of targets that the loss can have, by which a
  /// scale for the gradient of a mean is divided.
  int64_t targets() const;

  /// The number of losses that are reported beside their sum.
  int64_t parts() const { return isSum ? losses.size() : 0; }

  /// Adds the loss to a step, and reports it. `outputs` has all results of the
  /// forward, and `labels` a value for each of `labels()`.
  Loss build(nn::TensorBuilder &b, mlir::ValueRange outputs,
             mlir::ValueRange labels, const LossChunkOptions &chunks) const;

private:
  mlir::LogicalResult findOutput(llvm::StringRef name, OutputLoss &loss,
                                 llvm::StringRef what);
  mlir::LogicalResult check(const OutputLoss &loss);
  mlir::LogicalResult checkTypes();
  mlir::LogicalResult checkClassWeights(const OutputLoss &loss);
  void warnOfOneClass(const OutputLoss &loss);
  mlir::RankedTensorType typeOf(const OutputLoss &loss) const;
  std::string nameOf(unsigned output) const;

  mlir::func::FuncOp forward;
  llvm::SmallVector<OutputLoss> losses;
  bool isSum = false; ///< Of the means of losses with weights.
};

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_OUTPUTLOSSES_H
