//===- DeclaredTypes.cpp - Types that a file gives its values -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeclaredTypes.h"

#include "NarrowTypes.h"

using namespace mlir;
using namespace gpuopt;

/// Returns whether tensors of a declared type may have a computed type. What is
/// quantized to a narrow type is held in floating-point numbers, since its
/// gradient passes.
static bool agree(RankedTensorType declared, RankedTensorType computed) {
  Type element = computed.getElementType();
  bool isQuantized = isa<FloatType>(element) &&
                     narrowDataTypeOf(declared.getElementType()) != 0;
  if (element != declared.getElementType() &&
      element != heldTypeOf(declared).getElementType() && !isQuantized)
    return false;
  return succeeded(
      verifyCompatibleShape(declared.getShape(), computed.getShape()));
}

void DeclaredTypes::compare(Value output, const Converted &converted) {
  auto declared = dyn_cast<RankedTensorType>(output.getType());
  if (!declared || converted.isSequence || converted.tensors.size() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(converted.tensors.front().getType());
  if (type && !agree(declared, type))
    computed.insert({output, type});
}

void DeclaredTypes::warn(onnx::GraphOp graph) const {
  if (computed.empty())
    return;
  auto [output, type] = computed.front();
  auto node = output.getDefiningOp<onnx::NodeOp>();
  unsigned index = cast<OpResult>(output).getResultNumber();
  InFlightDiagnostic warning = graph.emitWarning("output ");
  warning << index << " of " << node.getOpType() << " at '"
          << node.getNodeName() << "' is " << type << ", but the file declares "
          << output.getType();
  if (size_t others = computed.size() - 1)
    warning << ", and " << others << " more differ";
  warning << ": either the file's declarations are out of date, and "
             "onnx.shape_inference.infer_shapes makes new ones once they are "
             "deleted, or gpuopt computes something else than the node means";
}
