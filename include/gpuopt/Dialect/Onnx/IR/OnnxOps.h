//===- OnnxOps.h - The operations of the onnx dialect ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_ONNX_IR_ONNXOPS_H
#define GPUOPT_DIALECT_ONNX_IR_ONNXOPS_H

#include "gpuopt/Dialect/Onnx/IR/OnnxDialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h.inc"

#endif // GPUOPT_DIALECT_ONNX_IR_ONNXOPS_H
