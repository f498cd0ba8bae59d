//===- DeclaredTypes.h - Types that a file gives its values -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The types of converted tensors follow from what the operators mean. A file
// may declare types, too, of its outputs and of values inside. Where the two
// differ, the file is out of date or an operator is converted wrongly.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_DECLAREDTYPES_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_DECLAREDTYPES_H

#include "Converters.h"
#include "llvm/ADT/MapVector.h"

namespace gpuopt {

class DeclaredTypes {
public:
  /// Compares the type of a converted tensor with the one that the file
  /// declares for an output of a node, if it declares one. Dimensions that the
  /// file leaves open may have any size, and a type that programs hold in a
  /// wider one may be either.
  void compare(mlir::Value output, const Converted &converted);

  /// Warns of the first output that differed, and says how many others did.
  void warn(onnx::GraphOp graph) const;

private:
  llvm::MapVector<mlir::Value, mlir::Type> computed; ///< Where they differ.
};

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_DECLAREDTYPES_H
