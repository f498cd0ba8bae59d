//===- OldOpsets.cpp - Operands that once were attributes -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Opsets 7 to 12 have as attributes what later ones have as operands. These
// attributes become constant operands, so that converters know one form. (The
// axes of reductions, Squeeze and Unsqueeze are an exception: converters read
// both, as these had them as attributes for longer.)
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// An attribute that became operand `operand` after opset `lastOpset`.
struct OldAttribute {
  StringLiteral op;
  int64_t lastOpset;
  StringLiteral name;
  unsigned operand;
};

} // namespace

static constexpr OldAttribute kOldAttributes[] = {
    {"Clip", 10, "min", 1},      {"Clip", 10, "max", 2},
    {"Dropout", 11, "ratio", 1}, {"Pad", 10, "pads", 1},
    {"Pad", 10, "value", 2},     {"Slice", 9, "starts", 1},
    {"Slice", 9, "ends", 2},     {"Slice", 9, "axes", 3},
    {"Split", 12, "split", 1},   {"TopK", 9, "k", 1},
    {"Upsample", 8, "scales", 2}};

static Value makeConstant(nn::TensorBuilder &b, Attribute attribute,
                          Type floatType) {
  auto constant = [&](int64_t rank, Type element, auto numbers) -> Value {
    SmallVector<int64_t> shape;
    if (rank)
      shape.push_back(numbers.size());
    return b.create<arith::ConstantOp>(DenseElementsAttr::get(
        RankedTensorType::get(shape, element), ArrayRef(numbers)));
  };
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return constant(1, b.getI64Type(), SmallVector<int64_t>{number.getInt()});
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute))
    return constant(1, b.getI64Type(),
                    SmallVector<int64_t>(numbers.asArrayRef()));
  if (auto numbers = dyn_cast<DenseF32ArrayAttr>(attribute))
    return constant(1, b.getF32Type(),
                    SmallVector<float>(numbers.asArrayRef()));
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return b.splat(number.getValueAsDouble(),
                   RankedTensorType::get({}, floatType));
  return {};
}

void gpuopt::addOldOperands(onnx::NodeOp node, nn::TensorBuilder &b,
                            SmallVectorImpl<Converted> &inputs) {
  if (!node.getDomain().empty() || node.getOpset() >= 13)
    return;
  int64_t opset = node.getOpset();
  // Scales came before regions were an operand.
  bool hasScales = (node.is("Resize") && opset < 11) || node.is("Upsample");
  if (hasScales && inputs.size() == 2)
    inputs.insert(inputs.begin() + 1, Converted());
  for (const OldAttribute &old : kOldAttributes) {
    Attribute attribute = node.getOnnxAttribute(old.name);
    if (!node.is(old.op) || opset > old.lastOpset || !attribute)
      continue;
    Type floatType = b.getF32Type();
    if (!node.is("Dropout") && !inputs.empty() && !inputs[0].tensors.empty())
      if (Type element = b.type(inputs[0].tensors.front()).getElementType();
          isa<FloatType>(element))
        floatType = element;
    if (Value operand = makeConstant(b, attribute, floatType)) {
      inputs.resize(std::max<size_t>(inputs.size(), old.operand + 1));
      inputs[old.operand] = {{operand}, false};
    }
  }
}
