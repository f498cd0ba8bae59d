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

/// What a value is named after: the op's `nn.origins`, which clusters have for
/// their outputs; else what its location says, or the op's name where that says
/// nothing.
nn::OriginAttr originAttrOf(mlir::Value value);
/// The same as text: "fc1", or "d fc1" for a gradient.
std::string originOf(mlir::Value value);
/// Says what the results of an op are named after, one origin for each.
void setOrigins(mlir::Operation *op, llvm::ArrayRef<nn::OriginAttr> origins);

/// A tensor by a name of its own: several results of a kernel come from one
/// ONNX node.
struct TensorName {
  std::string origin; ///< The ONNX node.
  /// The number of the kernel's result; -1 where it has one. For a slice of a
  /// kernel it is the result that the slice makes again, by its attribute
  /// `nn.result`.
  int result = -1;
  std::string type; ///< "f32[8,128]"
  /// Tells it from others in a list that are alike in all of that, if any are.
  std::string which = "";

  /// "/norm/LayerNormalization#1", "node_add (2)"
  std::string text() const;
};

TensorName tensorNameOf(mlir::Value value);

/// Lets names of one list that are alike be told apart by `mark`, of a name's
/// index and its number among those, from 1 on.
void tellApart(llvm::ArrayRef<TensorName *> names,
               llvm::function_ref<std::string(size_t, int)> mark);

/// "f32[8,128]"
std::string typeText(mlir::Type type);

/// The first name in a location, empty where there is none.
std::string nameOf(mlir::Location loc);
/// The origin that the first name in a location is the text of.
Origin originIn(mlir::Location loc);

/// The type of the ONNX node that a location names, "Softmax"; null where it
/// names none.
mlir::StringAttr onnxOpOf(mlir::Location loc);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_ORIGINS_H
