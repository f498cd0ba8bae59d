//===- ConstantInputs.h - Inputs that become constants --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_CONSTANTINPUTS_H
#define GPUOPT_LIB_IMPORT_ONNX_CONSTANTINPUTS_H

#include "Dimensions.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "mlir/IR/Builders.h"

namespace gpuopt::onnx {

/// An input of the graph with the numbers that it always has.
using ConstantInputs = std::vector<
    std::pair<const proto::ValueInfoProto *, const ConstantInput *>>;

/// Moves the inputs that `options` makes constant out of `inputs`. Fails after
/// a diagnostic if one is no input, or if its numbers are of another type.
mlir::FailureOr<ConstantInputs>
takeConstantInputs(GraphInputs &inputs, const OnnxImportOptions &options,
                   const Reporter &reporter);

/// Creates the node `Constant` that takes the place of an input. The numbers
/// are of the input's type, which takeConstantInputs checks.
NodeOp createConstant(mlir::OpBuilder &builder, mlir::Location location,
                      llvm::StringRef name, const ConstantInput &constant);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_CONSTANTINPUTS_H
