//===- OnnxDialect.cpp - The onnx dialect, its types and attributes -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt::onnx;

#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "gpuopt/Dialect/Onnx/IR/OnnxTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/Onnx/IR/OnnxAttributes.cpp.inc"

void OnnxDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "gpuopt/Dialect/Onnx/IR/OnnxTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "gpuopt/Dialect/Onnx/IR/OnnxAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuopt/Dialect/Onnx/IR/OnnxOps.cpp.inc"
      >();
}

LogicalResult FileAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef file, int64_t offset,
                               int64_t sizeInBytes) {
  if (file.empty())
    return emitError() << "expects a path";
  int64_t end;
  if (offset < 0 || sizeInBytes < 0 ||
      llvm::AddOverflow(offset, sizeInBytes, end))
    return emitError()
           << "expects a range of bytes within 63 bits, but got offset "
           << offset << " and size " << sizeInBytes;
  return success();
}
