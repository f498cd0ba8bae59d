//===- EpilogueProducts.h - Products that take an epilogue ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TRANSFORMS_KERNELS_EPILOGUEPRODUCTS_H
#define GPUOPT_LIB_TRANSFORMS_KERNELS_EPILOGUEPRODUCTS_H

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"

#include <string>

namespace gpuopt {

/// Returns why the library cannot make `result`, which `kernel` makes of a
/// product, in the product's epilogue, or would be slow; empty if it can.
std::string reasonAgainstEpilogue(nn::ContractOp product, nn::FusedOp kernel,
                                  mlir::Value result);

/// Says in a remark why a kernel makes a result that an epilogue might make.
void reportKernel(mlir::Value result, const std::string &reason);

/// Whether a product that makes `result` in its epilogue is faster, at once,
/// than a product and a kernel apart. Times are in nanoseconds; a remark says
/// which it is.
bool isFasterAtOnce(mlir::Value result, double atOnce, double apart);

/// Whether a result lies in dense memory of its own.
bool liesByItself(mlir::Value result);

/// Whether a result, or a view of it, is an output of the model.
bool isOutput(mlir::Value result);

/// Reads f16 or bf16 into a type, or nothing into a null one. Reports an error
/// at `op` for anything else.
mlir::LogicalResult readHalfType(mlir::Operation *op, llvm::StringRef text,
                                 mlir::FloatType &type);

/// Returns what an op will do on a device. Its operands and results are f32
/// now, and of type `half` later unless that is null.
OpWork workInPrecision(mlir::Operation *op, mlir::FloatType half,
                       const DeviceModel &device);

/// Returns the time that an op will take on a device, in nanoseconds, likewise.
double timeInPrecision(mlir::Operation *op, mlir::FloatType half,
                       const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_LIB_TRANSFORMS_KERNELS_EPILOGUEPRODUCTS_H
