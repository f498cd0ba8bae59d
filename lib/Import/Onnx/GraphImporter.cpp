//===- GraphImporter.cpp - Builds the onnx.graph --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphImporter.h"

#include "Attributes.h"
#include "Subgraphs.h"
#include "TiedNames.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpuopt::onnx;
using proto::GraphProto;
using proto::NodeProto;
using proto::TensorProto;
using proto::ValueInfoProto;

GraphInputs gpuopt::onnx::collectInputs(const GraphProto &graph) {
  llvm::StringSet<> initializers;
  for (const TensorProto &initializer : graph.initializer())
    initializers.insert(initializer.name());
  GraphInputs inputs;
  for (const ValueInfoProto &input : graph.input())
    if (!initializers.contains(input.name()))
      inputs.push_back(&input);
  return inputs;
}

/// Returns the location "node_softmax_1" with the type of the op inside;
/// Analysis/Origins.h finds both.
static Location getNodeLoc(const NodeProto &node, MLIRContext *context) {
  Location type = NameLoc::get(StringAttr::get(context, node.op_type()));
  return NameLoc::get(StringAttr::get(context, getNodeLabel(node)), type);
}

static Location getNameLoc(StringRef name, MLIRContext *context) {
  return NameLoc::get(StringAttr::get(context, name));
}

/// Returns what the exporter says of an initializer: gpuopt's own says whether
/// it is trained, PyTorch's whether it was a PARAMETER, a BUFFER or something
/// else of the module.
static std::optional<bool> isTrained(const ValueInfoProto &info) {
  for (const auto &entry : info.metadata_props()) {
    if (entry.key() == "gpuopt.trained")
      return entry.value() == "true";
    if (entry.key() == "pkg.torch.export.graph_signature.InputSpec.kind")
      return entry.value() == "PARAMETER";
  }
  return std::nullopt;
}

/// Returns what gpuopt.export has noted of an initializer: whether it is a
/// constant of the program, as one is that no state_dict() of the module has,
/// or a weight.
static std::optional<bool> isConstant(const ValueInfoProto &info) {
  for (const auto &entry : info.metadata_props())
    if (entry.key() == "gpuopt.constant" &&
        (entry.value() == "true" || entry.value() == "false"))
      return entry.value() == "true";
  return std::nullopt;
}

/// Whether gpuopt.export has noted that no gradient passes a value.
static bool stopsGradient(const ValueInfoProto &info) {
  return llvm::any_of(info.metadata_props(), [](const auto &entry) {
    return entry.key() == "gpuopt.stops_gradient" && entry.value() == "true";
  });
}

/// Returns the row of an embedding that gets no gradient, if gpuopt.export has
/// noted one of what is taken from it.
static std::optional<int64_t> paddingRow(const ValueInfoProto &info) {
  int64_t row;
  for (const auto &entry : info.metadata_props())
    if (entry.key() == "gpuopt.padding_row" &&
        !StringRef(entry.value()).getAsInteger(10, row))
      return row;
  return std::nullopt;
}

void GraphImporter::collectNotes(const ValueInfoProto &info) {
  if (stopsGradient(info))
    stopping.insert(info.name());
  if (std::optional<int64_t> row = paddingRow(info))
    paddingRows[info.name()] = *row;
}

void GraphImporter::collectValueInfo() {
  for (const ValueInfoProto &info : graph.value_info()) {
    collectNotes(info);
    if (std::string names = tiedNamesIn(info); !names.empty())
      tied[info.name()] = names;
    types.try_emplace(info.name(), &info.type());
    if (std::optional<bool> is = isTrained(info))
      trained[info.name()] = *is;
    if (std::optional<bool> is = isConstant(info);
        is && !(*is && trained.lookup(info.name())))
      constantInitializers[info.name()] = *is;
  }
  for (const ValueInfoProto &info : graph.output()) {
    types.try_emplace(info.name(), &info.type());
    collectNotes(info);
  }
}

Type GraphImporter::getType(const std::string &name) const {
  if (name.empty())
    return NoneType::get(&reporter.getContext());
  auto found = types.find(name);
  return found == types.end() ? UnknownType::get(&reporter.getContext())
                              : dimensions.getValueType(*found->second);
}

Value GraphImporter::getValue(const std::string &name) {
  if (!name.empty())
    return values.at(name);
  if (!none) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&graphOp.getBody().front());
    none = NoneOp::create(builder, graphOp.getLoc());
  }
  return none;
}

LogicalResult GraphImporter::createGraph(const Opsets &opsets) {
  SmallVector<Type> inputTypes;
  SmallVector<StringRef> inputNames, outputNames;
  LogicalResult result = success();
  for (const ValueInfoProto *input : inputs) {
    FailureOr<RankedTensorType> type = dimensions.getInputType(*input);
    if (failed(type)) {
      result = failure();
      continue;
    }
    inputTypes.push_back(*type);
    inputNames.push_back(input->name());
  }
  if (failed(result))
    return failure();
  for (const ValueInfoProto &output : graph.output())
    outputNames.push_back(output.name());

  SmallVector<NamedAttribute> versions;
  for (const auto &[domain, version] : opsets)
    versions.push_back(
        builder.getNamedAttr(domain, builder.getI64IntegerAttr(version)));
  std::string name = graph.name().empty() ? "graph" : graph.name();
  // The types of the results are known only at the end.
  graphOp =
      GraphOp::create(builder, getNameLoc(name, builder.getContext()), name,
                      builder.getFunctionType(inputTypes, {}), inputNames,
                      outputNames, builder.getDictionaryAttr(versions));
  Block &body = graphOp.getBody().front();
  for (auto [argument, inputName] :
       llvm::zip(body.getArguments(), inputNames)) {
    argument.setLoc(getNameLoc(inputName, builder.getContext()));
    values[inputName] = argument;
  }
  builder.setInsertionPointToEnd(&body);
  for (const auto &[input, constant] : constants)
    values[input->name()] =
        createConstant(builder, getNameLoc(input->name(), builder.getContext()),
                       input->name(), *constant)
            .getResult(0);
  return success();
}

LogicalResult GraphImporter::setTied(InitializerOp op, StringRef json) {
  FailureOr<std::vector<std::string>> names =
      parseTiedNames(json, op.getName(), reporter);
  if (failed(names))
    return failure();
  op.setTiedAttr(builder.getStrArrayAttr(
      SmallVector<StringRef>(names->begin(), names->end())));
  return success();
}

/// Fails if an input and the initializer of its name, which is its default
/// value, are certainly two tensors: importers would drop one of them.
static LogicalResult checkDefault(const ValueInfoProto &input,
                                  const TensorProto &initializer,
                                  const Reporter &reporter) {
  const auto &tensor = input.type().tensor_type();
  if (!input.type().has_tensor_type())
    return success();
  constexpr StringRef kRemedy = "; give the input another name";
  if (tensor.elem_type() && tensor.elem_type() != initializer.data_type())
    return reporter.error()
           << "input '" << input.name() << "' has type "
           << getDataTypeName(tensor.elem_type())
           << ", but the initializer of the same name has type "
           << getDataTypeName(initializer.data_type()) << kRemedy;
  bool differs = tensor.has_shape() &&
                 tensor.shape().dim_size() != initializer.dims_size();
  for (int i = 0; tensor.has_shape() && !differs && i < initializer.dims_size();
       ++i)
    differs = tensor.shape().dim(i).has_dim_value() &&
              tensor.shape().dim(i).dim_value() != initializer.dims(i);
  if (!differs)
    return success();
  InFlightDiagnostic error = reporter.error();
  error << "input '" << input.name() << "' has shape [";
  llvm::interleaveComma(tensor.shape().dim(), error, [&](const auto &dim) {
    if (dim.has_dim_value())
      error << dim.dim_value();
    else
      error << (dim.dim_param().empty() ? "?" : dim.dim_param());
  });
  error << "], but the initializer of the same name has shape [";
  llvm::interleaveComma(initializer.dims(), error);
  return error << "]" << kRemedy;
}

LogicalResult GraphImporter::importInitializers() {
  LogicalResult result = success();
  llvm::StringMap<const ValueInfoProto *> inputsByName;
  for (const ValueInfoProto &input : graph.input())
    inputsByName[input.name()] = &input;
  for (const auto &sparse : graph.sparse_initializer())
    result = reporter.error() << "initializer '" << sparse.values().name()
                              << "' is sparse, which is not supported";
  for (int i = 0; i < graph.initializer_size(); ++i) {
    const std::string &name = graph.initializer(i).name();
    if (const ValueInfoProto *input = inputsByName.lookup(name))
      if (failed(checkDefault(*input, graph.initializer(i), reporter)))
        result = failure();
    auto mark = constantInitializers.find(name);
    bool isMarked = mark != constantInitializers.end();
    FailureOr<TensorContent> content =
        tensors.importInitializer(i, /*isConstant=*/isMarked && mark->second);
    if (failed(content)) {
      result = failure();
      continue;
    }
    Location location = getNameLoc(name, builder.getContext());
    auto op =
        content->value
            ? InitializerOp::create(builder, location, name, content->value)
            : InitializerOp::create(builder, location, name, content->source,
                                    content->type);
    if (auto is = trained.find(name); is != trained.end())
      op.setTrained(is->second);
    // A constant that is too large to be inline is a weight.
    if (isMarked && (content->value || !mark->second))
      op.setIsConstant(mark->second);
    if (auto names = tied.find(name);
        names != tied.end() && failed(setTied(op, names->second)))
      result = failure();
    values[name] = op;
  }
  return result;
}

LogicalResult GraphImporter::importNode(const NodeProto &node) {
  SmallVector<NamedAttribute> attributes;
  LogicalResult result = importAttributes(node, tensors, reporter, attributes);
  if (node.op_type().empty())
    result = reporter.error() << describe(node) << " has no op type";
  if (!graphOp.getOpset(node.domain()))
    result = reporter.error() << describe(node) << " is of domain '"
                              << getDomainName(node.domain())
                              << "', of which the model imports no version";

  SmallVector<Value> operands;
  for (const std::string &input : node.input())
    operands.push_back(getValue(input));
  ArrayRef<const std::string *> outputs(node.output().data(),
                                        node.output_size());
  while (!outputs.empty() && outputs.back()->empty())
    outputs = outputs.drop_back();
  SmallVector<Type> types;
  SmallVector<StringRef> names;
  for (const std::string *output : outputs) {
    types.push_back(getType(*output));
    names.push_back(*output);
  }
  // Notes of the exporter are attributes that ONNX does not have. A file that
  // has them as attributes of its own is not obeyed.
  auto note = [&](StringRef name, std::optional<int64_t> value) {
    llvm::erase_if(attributes, [&](NamedAttribute attribute) {
      return attribute.getName() == name;
    });
    if (value)
      attributes.push_back(
          builder.getNamedAttr(name, builder.getI64IntegerAttr(*value)));
  };
  StringRef result0 = names.empty() ? StringRef() : names.front();
  if (node.op_type() == "Identity")
    note("stops_gradient",
         stopping.contains(result0) ? std::optional(int64_t(1)) : std::nullopt);
  if (node.op_type() == "Gather") {
    auto row = paddingRows.find(result0);
    note("padding_row", row == paddingRows.end()
                            ? std::nullopt
                            : std::optional(int64_t(row->second)));
  }
  std::vector<const GraphProto *> graphs = getSubgraphs(node);
  StringRef domain = node.domain();
  auto op = NodeOp::create(
      builder, getNodeLoc(node, builder.getContext()), types, node.op_type(),
      operands, attributes, names,
      domain == GraphOp::kDefaultDomain ? StringRef() : domain, graphs.size());
  for (auto [value, name] : llvm::zip(op.getResults(), names))
    if (!name.empty())
      values[name] = value;
  for (auto [graph, region] : llvm::zip(graphs, op.getGraphs()))
    if (failed(importSubgraph(*graph, describe(node), region)))
      result = failure();
  return result;
}

LogicalResult GraphImporter::importTensors(const GraphProto &inner,
                                           StringRef where) {
  LogicalResult result = success();
  if (inner.sparse_initializer_size() > 0)
    result = reporter.error() << where
                              << " has a graph with a sparse "
                                 "initializer, which is not supported";
  for (const TensorProto &tensor : inner.initializer()) {
    FailureOr<ElementsAttr> value =
        tensors.importAttribute(tensor, "initializer '" + tensor.name() + "'");
    if (failed(value)) {
      result = failure();
      continue;
    }
    values[tensor.name()] = InitializerOp::create(
        builder, getNameLoc(tensor.name(), builder.getContext()), tensor.name(),
        *value);
  }
  return result;
}

LogicalResult GraphImporter::importSubgraph(const GraphProto &inner,
                                            StringRef where, Region &region) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  // Names of this graph mean nothing behind it.
  llvm::StringMap<Value> outside;
  for (const std::string &name : getDefinedNames(inner))
    outside.try_emplace(name, values.lookup(name));
  std::vector<std::pair<std::string, const proto::TypeProto *>> outsideTypes;
  llvm::scope_exit leave([&] {
    for (const auto &entry : outside)
      if (entry.second)
        values[entry.first()] = entry.second;
      else
        values.erase(entry.first());
    for (const auto &[name, type] : llvm::reverse(outsideTypes))
      if (type)
        types[name] = type;
      else
        types.erase(name);
  });
  for (const auto *infos : {&inner.output(), &inner.value_info()})
    for (const ValueInfoProto &info : *infos)
      if (info.has_type()) {
        outsideTypes.emplace_back(info.name(), types.lookup(info.name()));
        types[info.name()] = &info.type();
      }
  llvm::StringSet<> initializers;
  for (const TensorProto &tensor : inner.initializer())
    initializers.insert(tensor.name());
  for (const ValueInfoProto &input : inner.input())
    if (!initializers.contains(input.name()))
      values[input.name()] =
          block->addArgument(dimensions.getValueType(input.type()),
                             getNameLoc(input.name(), builder.getContext()));
  if (failed(importTensors(inner, where)))
    return failure();
  for (const NodeProto &node : inner.node()) {
    for (const std::string &name : getReadNames(node))
      if (!values.count(name))
        return reporter.error()
               << where << " has a graph in which " << describe(node)
               << " reads '" << name << "', which nothing before it defines";
    if (failed(importNode(node)))
      return failure();
  }
  // What the outputs read was defined where the node stands.
  SmallVector<Value> outputs;
  for (const ValueInfoProto &output : inner.output())
    outputs.push_back(values.at(output.name()));
  ReturnOp::create(builder, graphOp.getLoc(), outputs);
  return success();
}

void GraphImporter::createReturn() {
  SmallVector<Value> outputs;
  for (const ValueInfoProto &output : graph.output())
    outputs.push_back(values.at(output.name()));
  ReturnOp::create(builder, graphOp.getLoc(), outputs);
  graphOp.setFunctionType(builder.getFunctionType(
      graphOp.getArgumentTypes(), TypeRange(ValueRange(outputs))));
}

LogicalResult GraphImporter::run(const std::vector<const NodeProto *> &nodes,
                                 const Opsets &opsets, ModuleOp module) {
  builder.setInsertionPointToEnd(module.getBody());
  collectValueInfo();
  if (failed(createGraph(opsets)) || failed(importInitializers()))
    return failure();
  LogicalResult result = success();
  for (const NodeProto *node : nodes)
    if (failed(importNode(*node)))
      result = failure();
  createReturn();
  return result;
}
