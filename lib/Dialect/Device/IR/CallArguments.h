//===- CallArguments.h - What calls of the runtime pass ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_DEVICE_IR_CALLARGUMENTS_H
#define GPUOPT_LIB_DIALECT_DEVICE_IR_CALLARGUMENTS_H

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::device {

/// Parse and print the arguments of the template that device.call calls:
/// <f32>, <64, "AttentionScores::Products">
mlir::ParseResult parseTemplateArguments(mlir::OpAsmParser &parser,
                                         mlir::ArrayAttr &arguments);
void printTemplateArguments(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                            mlir::ArrayAttr arguments);

/// Parse and print the arguments of device.call, in which operands stand where
/// they are passed: (GemmShape kGemm4x8x4 {m = 4}, %a, beta = 0, {bias = %b})
mlir::ParseResult parseCallArguments(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands,
    mlir::ArrayAttr &arguments);
void printCallArguments(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        mlir::OperandRange operands, mlir::ArrayAttr arguments);

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_IR_CALLARGUMENTS_H
