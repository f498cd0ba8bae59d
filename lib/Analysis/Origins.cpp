//===- Origins.cpp - Which ONNX node a value comes from -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Origins.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace gpuopt;

std::string gpuopt::nameOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string name = nameOf(part); !name.empty())
        return name;
  return "";
}

StringAttr gpuopt::onnxOpOf(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    auto type = dyn_cast<NameLoc>(name.getChildLoc());
    return type ? type.getName() : StringAttr();
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringAttr type = onnxOpOf(part))
        return type;
  return {};
}

Origin gpuopt::originIn(Location loc) { return Origin::parse(nameOf(loc)); }

nn::OriginAttr gpuopt::originAttrOf(Value value) {
  MLIRContext *context = value.getContext();
  if (auto result = dyn_cast<OpResult>(value))
    if (auto origins = nn::NNDialect::OriginsAttrHelper(context).getAttr(
            result.getOwner()))
      return origins.getOrigins()[result.getResultNumber()];
  Origin origin = originIn(value.getLoc());
  if (origin.name.empty() && value.getDefiningOp())
    origin.name = value.getDefiningOp()->getName().stripDialect().str();
  return nn::OriginAttr::get(context, origin);
}

std::string gpuopt::originOf(Value value) {
  return originAttrOf(value).getOrigin().text();
}

void gpuopt::setOrigins(Operation *op, ArrayRef<nn::OriginAttr> origins) {
  MLIRContext *context = op->getContext();
  nn::NNDialect::OriginsAttrHelper(context).setAttr(
      op, nn::OriginsAttr::get(context, origins));
}

std::string gpuopt::typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    stream << type;
    return text;
  }
  stream << tensor.getElementType() << "[";
  llvm::interleave(tensor.getShape(), stream, ",");
  stream << "]";
  return text;
}

std::string TensorName::text() const {
  std::string text =
      result < 0 ? origin : origin + "#" + std::to_string(result);
  return which.empty() ? text : text + " (" + which + ")";
}

void gpuopt::tellApart(ArrayRef<TensorName *> names,
                       function_ref<std::string(size_t, int)> mark) {
  auto keyOf = [](const TensorName &name) {
    return name.text() + " " + name.type;
  };
  llvm::StringMap<int> counts, seen;
  for (TensorName *name : names)
    ++counts[keyOf(*name)];
  for (auto [index, name] : llvm::enumerate(names))
    if (std::string key = keyOf(*name); counts[key] > 1)
      name->which = mark(index, ++seen[key]);
}

TensorName gpuopt::tensorNameOf(Value value) {
  TensorName name{originOf(value), -1, typeText(value.getType())};
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return name;
  Operation *op = result.getOwner();
  if (auto number =
          nn::NNDialect::ResultAttrHelper(op->getContext()).getAttr(op))
    name.result = number.getInt();
  else if (op->getNumResults() > 1)
    name.result = result.getResultNumber();
  return name;
}
