//===- Attributes.h - The attributes of ONNX nodes ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_ATTRIBUTES_H
#define GPUOPT_LIB_IMPORT_ONNX_ATTRIBUTES_H

#include "Tensors.h"

namespace gpuopt::onnx {

/// Returns how diagnostics and locations name a node: by its name or, if it has
/// none, by its op type and first output.
std::string getNodeLabel(const proto::NodeProto &node);

/// Returns such as "node 'conv1' (Conv)".
std::string describe(const proto::NodeProto &node);

/// Appends the attributes of a node. Attributes that the dialect cannot hold
/// are errors: subgraphs, sparse tensors and types.
mlir::LogicalResult
importAttributes(const proto::NodeProto &node, TensorImporter &tensors,
                 const Reporter &reporter,
                 llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_ATTRIBUTES_H
