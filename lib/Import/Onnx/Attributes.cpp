//===- Attributes.cpp - The attributes of ONNX nodes ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpuopt::onnx;
using proto::AttributeProto;
using proto::NodeProto;

std::string gpuopt::onnx::getNodeLabel(const NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return node.op_type() + "_" + output;
  return node.op_type();
}

std::string gpuopt::onnx::describe(const NodeProto &node) {
  return "node '" + getNodeLabel(node) + "' (" + node.op_type() + ")";
}

static FailureOr<Attribute> importTensors(const AttributeProto &attribute,
                                          TensorImporter &tensors,
                                          StringRef where) {
  SmallVector<Attribute> values;
  for (const proto::TensorProto &tensor : attribute.tensors()) {
    FailureOr<ElementsAttr> value = tensors.importAttribute(tensor, where);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  return Attribute(ArrayAttr::get(tensors.getContext(), values));
}

static FailureOr<Attribute> importAttribute(const AttributeProto &attribute,
                                            TensorImporter &tensors,
                                            const Reporter &reporter,
                                            StringRef where) {
  Builder b(&reporter.getContext());
  switch (attribute.type()) {
  case AttributeProto::FLOAT:
    return Attribute(b.getF32FloatAttr(attribute.f()));
  case AttributeProto::INT:
    return Attribute(b.getI64IntegerAttr(attribute.i()));
  case AttributeProto::STRING:
    return Attribute(b.getStringAttr(attribute.s()));
  case AttributeProto::FLOATS:
    return Attribute(b.getDenseF32ArrayAttr(
        {attribute.floats().data(), size_t(attribute.floats_size())}));
  case AttributeProto::INTS:
    return Attribute(b.getDenseI64ArrayAttr(
        {attribute.ints().data(), size_t(attribute.ints_size())}));
  case AttributeProto::STRINGS:
    return Attribute(b.getStrArrayAttr(SmallVector<StringRef>(
        attribute.strings().begin(), attribute.strings().end())));
  case AttributeProto::TENSOR: {
    FailureOr<ElementsAttr> value =
        tensors.importAttribute(attribute.t(), where);
    return failed(value) ? FailureOr<Attribute>(failure()) : Attribute(*value);
  }
  case AttributeProto::TENSORS:
    return importTensors(attribute, tensors, where);
  case AttributeProto::GRAPH:
    return Attribute(b.getUnitAttr()); // the graph is a region of the node
  case AttributeProto::UNDEFINED:
    return reporter.error() << where << " has no type";
  default:
    return reporter.error()
           << where << " is of type "
           << AttributeProto::AttributeType_Name(attribute.type())
           << ", which is not supported";
  }
}

LogicalResult
gpuopt::onnx::importAttributes(const NodeProto &node, TensorImporter &tensors,
                               const Reporter &reporter,
                               SmallVectorImpl<NamedAttribute> &attributes) {
  llvm::StringSet<> names;
  LogicalResult result = success();
  for (const AttributeProto &attribute : node.attribute()) {
    std::string where =
        describe(node) + ": attribute '" + attribute.name() + "'";
    if (attribute.name().empty() || !names.insert(attribute.name()).second) {
      result = reporter.error()
               << where
               << (attribute.name().empty() ? " has no name"
                                            : " is given twice");
      continue;
    }
    if (!attribute.ref_attr_name().empty()) {
      result = reporter.error()
               << where << " refers to attribute '" << attribute.ref_attr_name()
               << "' of a function, but the node is in none";
      continue;
    }
    // The type of an Optional without a value: no converter needs it.
    if (attribute.type() == AttributeProto::TYPE_PROTO)
      continue;
    FailureOr<Attribute> value =
        importAttribute(attribute, tensors, reporter, where);
    if (failed(value))
      result = failure();
    else
      attributes.emplace_back(
          StringAttr::get(&reporter.getContext(), attribute.name()), *value);
  }
  return result;
}
