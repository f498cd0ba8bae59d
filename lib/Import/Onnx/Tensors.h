//===- Tensors.h - The tensors of an ONNX file ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_TENSORS_H
#define GPUOPT_LIB_IMPORT_ONNX_TENSORS_H

#include "ElementTypes.h"
#include "ExternalData.h"
#include "ModelFile.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace gpuopt::onnx {

/// A tensor's elements, or where they are: exactly one is not null.
struct TensorContent {
  mlir::RankedTensorType type;
  mlir::ElementsAttr value;
  FileAttr source;
};

/// Returns elements from the bytes of a file; a boolean takes one byte.
mlir::ElementsAttr makeElements(mlir::RankedTensorType type,
                                llvm::StringRef bytes);

class TensorImporter {
public:
  TensorImporter(const ModelFile &file, const Reporter &reporter)
      : file(file), reporter(reporter), externalFiles(reporter) {}

  /// Initializer `index` of the graph. Its elements are imported as well if
  /// they are few (any of up to 64 elements; integers, booleans and what the
  /// file says is constant up to 64 MiB: those may be shapes, indices and masks
  /// that fold) or if they are not plain bytes in a file.
  mlir::FailureOr<TensorContent> importInitializer(int index, bool isConstant);

  /// Imports the tensor of an attribute, with its elements. Here and below,
  /// `where` names the tensor in diagnostics.
  mlir::FailureOr<mlir::ElementsAttr>
  importAttribute(const proto::TensorProto &tensor, llvm::StringRef where);

  mlir::MLIRContext *getContext() const { return &reporter.getContext(); }

private:
  struct Type {
    ElementType element;
    mlir::RankedTensorType tensor;
    int64_t numElements;
    int64_t sizeInBytes;
  };
  mlir::FailureOr<Type> getType(const proto::TensorProto &tensor,
                                llvm::StringRef where) const;
  /// Checks that the size of raw data is the one that its type and shape need.
  mlir::LogicalResult checkSize(const Type &type, int64_t sizeInBytes,
                                llvm::StringRef where) const;
  /// Returns the elements in the typed fields.
  mlir::FailureOr<mlir::ElementsAttr>
  readTypedData(const proto::TensorProto &tensor, const Type &type,
                llvm::StringRef where) const;

  const ModelFile &file;
  const Reporter &reporter;
  ExternalFiles externalFiles;
};

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_TENSORS_H
