//===- OnnxDialect.h - The onnx dialect, its types and attributes ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_ONNX_IR_ONNXDIALECT_H
#define GPUOPT_DIALECT_ONNX_IR_ONNXDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "gpuopt/Dialect/Onnx/IR/OnnxTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/Onnx/IR/OnnxAttributes.h.inc"

#endif // GPUOPT_DIALECT_ONNX_IR_ONNXDIALECT_H
