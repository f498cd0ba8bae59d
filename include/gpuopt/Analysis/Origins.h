//===- Origins.h - Which ONNX node a value comes from -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_ORIGINS_H
#define GPUOPT_ANALYSIS_ORIGINS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/IR/Value.h"
#include <string>

namespace gpuopt {

/// Returns what a value is named after: the op's `nn.origins`, which clusters
/// have for their outputs; otherwise what its location says; otherwise the op's
/// name.
nn::OriginAttr originAttrOf(mlir::Value value);
/// Returns the same as text: "fc1", or "d fc1" for a gradient.
std::string originOf(mlir::Value value);
/// Sets what the results of an op are named after, one origin for each.
void setOrigins(mlir::Operation *op, llvm::ArrayRef<nn::OriginAttr> origins);

/// A name for a tensor that no other one has: several results of a kernel may
/// come from one ONNX node.
struct TensorName {
  std::string origin; ///< The ONNX node.
  /// The number of the kernel's result; -1 if the kernel has only one. For a
  /// slice of a kernel it is the number of the result that the slice computes,
  /// from its attribute `nn.result`.
  int result = -1;
  std::string type; ///< Such as "f32[8,128]".
  /// Tells the tensor from others in a list that are equal in all of the above.
  std::string which = "";

  /// Returns "/norm/LayerNormalization#1" or "node_add (2)".
  std::string text() const;
};

TensorName tensorNameOf(mlir::Value value);

/// Makes equal names of a list different: `mark` returns what to add, given a
/// name's index and its number among the equal ones, which counts from 1.
void tellApart(llvm::ArrayRef<TensorName *> names,
               llvm::function_ref<std::string(size_t, int)> mark);

/// Returns "f32[8,128]".
std::string typeText(mlir::Type type);

/// Returns the first name in a location, or nothing.
std::string nameOf(mlir::Location loc);
/// Returns the origin whose text is the first name in a location.
Origin originIn(mlir::Location loc);

/// Returns the type of the ONNX node that a location names, such as "Softmax";
/// null if it names none.
mlir::StringAttr onnxOpOf(mlir::Location loc);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_ORIGINS_H
