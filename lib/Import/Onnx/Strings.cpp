//===- Strings.cpp - What a model's strings must be -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt::onnx;

/// Returns the text with each character that is not printable ASCII as \xx.
static std::string escaped(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::printEscapedString(text, stream);
  return result;
}

namespace {

/// Goes through the messages of a model, down to the strings.
class StringCheck {
public:
  explicit StringCheck(const Reporter &reporter) : reporter(reporter) {}

  LogicalResult check(const proto::ModelProto &model) {
    for (const proto::OperatorSetIdProto &opset : model.opset_import())
      if (failed(check(opset.domain(), "the domain of an opset")))
        return failure();
    for (const proto::FunctionProto &function : model.functions())
      if (failed(check(function)))
        return failure();
    return check(model.graph());
  }

private:
  LogicalResult check(StringRef text, const Twine &what) {
    size_t offset = 0;
    if (llvm::json::isUTF8(text, &offset))
      return success();
    return reporter.error()
           << "expects strings in UTF-8, but " << what << " is '"
           << escaped(text) << "', where byte " << offset
           << " begins no character: rename it in the file";
  }

  /// Checks a list of strings of the same kind.
  template <class Strings>
  LogicalResult checkAll(const Strings &strings, const Twine &what) {
    for (const std::string &text : strings)
      if (failed(check(text, what)))
        return failure();
    return success();
  }

  LogicalResult check(const proto::FunctionProto &function) {
    if (failed(check(function.name(), "the name of a function")))
      return failure();
    std::string of = " of function '" + function.name() + "'";
    if (failed(check(function.domain(), "the domain" + of)) ||
        failed(check(function.overload(), "the overload" + of)) ||
        failed(checkAll(function.input(), "an input" + of)) ||
        failed(checkAll(function.output(), "an output" + of)) ||
        failed(checkAll(function.attribute(), "an attribute" + of)))
      return failure();
    for (const proto::OperatorSetIdProto &opset : function.opset_import())
      if (failed(check(opset.domain(), "the domain of an opset" + of)))
        return failure();
    for (const proto::AttributeProto &attribute : function.attribute_proto())
      if (failed(check(attribute, of)))
        return failure();
    for (const proto::NodeProto &node : function.node())
      if (failed(check(node)))
        return failure();
    return success();
  }

  LogicalResult check(const proto::GraphProto &graph) {
    if (failed(check(graph.name(), "the name of a graph")))
      return failure();
    for (const proto::NodeProto &node : graph.node())
      if (failed(check(node)))
        return failure();
    for (const proto::TensorProto &tensor : graph.initializer())
      if (failed(check(tensor)))
        return failure();
    for (const proto::SparseTensorProto &tensor : graph.sparse_initializer())
      if (failed(check(tensor.values())))
        return failure();
    for (const auto *values :
         {&graph.input(), &graph.output(), &graph.value_info()})
      for (const proto::ValueInfoProto &value : *values)
        if (failed(check(value)))
          return failure();
    return success();
  }

  LogicalResult check(const proto::ValueInfoProto &value) {
    if (failed(check(value.name(), "the name of a value")))
      return failure();
    std::string of = " of value '" + value.name() + "'";
    for (const auto &dim : value.type().tensor_type().shape().dim())
      if (failed(check(dim.dim_param(), "a dimension" + of)))
        return failure();
    return checkEntries(value.metadata_props(), "metadata" + of);
  }

  template <class Entries>
  LogicalResult checkEntries(const Entries &entries, const Twine &what) {
    for (const proto::StringStringEntryProto &entry : entries)
      if (failed(check(entry.key(), "a key in " + what)) ||
          failed(check(entry.value(), "a value in " + what)))
        return failure();
    return success();
  }

  LogicalResult check(const proto::NodeProto &node) {
    if (failed(check(node.op_type(), "the operator of a node")) ||
        failed(check(node.name(), "the name of a node")))
      return failure();
    std::string of = " of node '" + node.name() + "' (" + node.op_type() + ")";
    if (failed(check(node.domain(), "the domain" + of)) ||
        failed(check(node.overload(), "the overload" + of)) ||
        failed(checkAll(node.input(), "an input" + of)) ||
        failed(checkAll(node.output(), "an output" + of)))
      return failure();
    for (const proto::AttributeProto &attribute : node.attribute())
      if (failed(check(attribute, of)))
        return failure();
    return success();
  }

  LogicalResult check(const proto::AttributeProto &attribute,
                      const std::string &ofOwner) {
    if (failed(check(attribute.name(), "the name of an attribute" + ofOwner)))
      return failure();
    std::string what = "attribute '" + attribute.name() + "'" + ofOwner;
    if (failed(check(attribute.ref_attr_name(), what)) ||
        failed(check(attribute.s(), what)) ||
        failed(checkAll(attribute.strings(), what)))
      return failure();
    if (attribute.has_t() && failed(check(attribute.t())))
      return failure();
    for (const proto::TensorProto &tensor : attribute.tensors())
      if (failed(check(tensor)))
        return failure();
    if (attribute.has_g() && failed(check(attribute.g())))
      return failure();
    for (const proto::GraphProto &graph : attribute.graphs())
      if (failed(check(graph)))
        return failure();
    return success();
  }

  LogicalResult check(const proto::TensorProto &tensor) {
    if (failed(check(tensor.name(), "the name of a tensor")))
      return failure();
    return checkEntries(tensor.external_data(),
                        "the external data of tensor '" + tensor.name() + "'");
  }

  const Reporter &reporter;
};

} // namespace

LogicalResult gpuopt::onnx::checkStrings(const proto::ModelProto &model,
                                         const Reporter &reporter) {
  return StringCheck(reporter).check(model);
}
