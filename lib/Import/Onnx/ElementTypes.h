//===- ElementTypes.h - The element types of ONNX tensors -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_ELEMENTTYPES_H
#define GPUOPT_LIB_IMPORT_ONNX_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

#include <optional>

namespace gpuopt::onnx {

/// The field of a TensorProto that holds the elements of a type if they are not
/// raw bytes.
enum class TypedField { Float, Int32, Int64, Double, Uint64 };

struct ElementType {
  /// The name in the ONNX specification.
  llvm::StringRef name;
  mlir::Type type;
  int64_t sizeInBytes;
  TypedField field;
  /// How many elements share a byte: 1 but for integers of 2 and 4 bits and
  /// floating-point of 4. The first lies in the lowest bits.
  int64_t perByte = 1;

  /// Returns how many numbers an element has in its typed field: 2 for complex
  /// types.
  int64_t getNumComponents() const;
  /// Returns the size of the raw data of so many elements.
  int64_t getSizeInBytes(int64_t numElements) const;
};

/// Returns the type of a TensorProto.DataType, or nothing for those that gpuopt
/// does not read.
std::optional<ElementType> getElementType(int32_t dataType,
                                          mlir::MLIRContext *context);

/// Returns the name of any TensorProto.DataType, for messages.
std::string getDataTypeName(int32_t dataType);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_ELEMENTTYPES_H
