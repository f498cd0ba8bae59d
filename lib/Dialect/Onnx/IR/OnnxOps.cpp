//===- OnnxOps.cpp - The operations of the onnx dialect -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#include <algorithm>

using namespace mlir;
using namespace gpuopt::onnx;

// These are declared here because the assembly format names them.
static ParseResult parseInitializerElements(OpAsmParser &parser,
                                            ElementsAttr &value,
                                            FileAttr &source, Type &type);
static void printInitializerElements(OpAsmPrinter &printer, Operation *op,
                                     ElementsAttr value, FileAttr source,
                                     Type type);

#define GET_OP_CLASSES
#include "gpuopt/Dialect/Onnx/IR/OnnxOps.cpp.inc"

/// Gives a value a name in the text that resembles its name in the file. SSA
/// names have no slashes, but names from TorchScript, such as
/// "/layer1/Conv_output_0", have many.
static void setValueName(Value value, StringRef name,
                         OpAsmSetValueNameFn setName) {
  std::string readable = name.ltrim('/').str();
  std::replace(readable.begin(), readable.end(), '/', '.');
  if (!readable.empty())
    setName(value, readable);
}

//===----------------------------------------------------------------------===//
// GraphOp
//===----------------------------------------------------------------------===//

void GraphOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    FunctionType type, ArrayRef<StringRef> inputNames,
                    ArrayRef<StringRef> outputNames, DictionaryAttr opsets) {
  OpBuilder::InsertionGuard guard(builder);
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttribute(getInputNamesAttrName(state.name),
                     builder.getStrArrayAttr(inputNames));
  state.addAttribute(getOutputNamesAttrName(state.name),
                     builder.getStrArrayAttr(outputNames));
  state.addAttribute(getOpsetsAttrName(state.name), opsets);
  SmallVector<Location> locations(type.getNumInputs(), state.location);
  builder.createBlock(state.addRegion(), {}, type.getInputs(), locations);
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto getFunctionType =
      [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag,
         std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), getFunctionType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void GraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult GraphOp::verify() {
  if (getInputNames().size() != getArgumentTypes().size()) // (C1)
    return emitOpError("expects a name for each of its ")
           << getArgumentTypes().size() << " inputs, but got "
           << getInputNames().size();
  if (getOutputNames().size() != getResultTypes().size()) // (C2)
    return emitOpError("expects a name for each of its ")
           << getResultTypes().size() << " outputs, but got "
           << getOutputNames().size();
  for (auto [type, name] : llvm::zip(getArgumentTypes(), getInputNames())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape()) // (C3)
      return emitOpError("expects input ")
             << name << " to be a tensor of static shape, but got " << type;
  }
  for (NamedAttribute opset : getOpsets()) {
    auto version = dyn_cast<IntegerAttr>(opset.getValue());
    if (!version || !version.getType().isSignlessInteger(64) ||
        version.getInt() < 1) // (C4)
      return emitOpError("expects opset ")
             << opset.getName() << " to be a positive i64, but got "
             << opset.getValue();
  }
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  WalkResult walk = getBody().walk([&](NodeOp node) {
    if (getOpset(node.getDomain())) // (C5)
      return WalkResult::advance();
    node.emitOpError("expects the graph to import its domain '")
        << (node.getDomain().empty() ? StringRef(kDefaultDomain)
                                     : node.getDomain())
        << "', but 'opsets' is " << getOpsets();
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  auto end = dyn_cast<ReturnOp>(getBody().front().back());
  if (!end) // (C6)
    return emitOpError("expects to end in 'onnx.return'");
  if (end.getOperandTypes() != getResultTypes())
    return end.emitOpError("expects operands of types (")
           << getResultTypes() << "), but got (" << end.getOperandTypes()
           << ")";
  return success();
}

std::optional<int64_t> GraphOp::getOpset(StringRef domain) {
  auto version = getOpsets().getAs<IntegerAttr>(
      domain.empty() ? StringRef(kDefaultDomain) : domain);
  return version ? std::optional(version.getInt()) : std::nullopt;
}

void GraphOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getInputNames()))
    setValueName(argument, cast<StringAttr>(name).getValue(), setName);
}

//===----------------------------------------------------------------------===//
// NodeOp
//===----------------------------------------------------------------------===//

void NodeOp::build(OpBuilder &builder, OperationState &state,
                   TypeRange resultTypes, StringRef opType, ValueRange inputs,
                   ArrayRef<NamedAttribute> attributes,
                   ArrayRef<StringRef> resultNames, StringRef domain,
                   unsigned graphs) {
  build(builder, state, resultTypes, builder.getStringAttr(opType),
        builder.getStringAttr(domain), inputs,
        builder.getDictionaryAttr(attributes),
        resultNames.empty() ? ArrayAttr()
                            : builder.getStrArrayAttr(resultNames),
        graphs);
}

/// Returns whether ONNX has attributes of this kind (types and sparse tensors
/// aside).
static bool isOnnxAttribute(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getType().isSignlessInteger(64);
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getType().isF32();
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return llvm::all_of(array, llvm::IsaPred<StringAttr>) ||
           llvm::all_of(array, llvm::IsaPred<ElementsAttr>);
  return isa<StringAttr, DenseI64ArrayAttr, DenseF32ArrayAttr, ElementsAttr,
             UnitAttr>(attribute);
}

LogicalResult NodeOp::verify() {
  if (getOpType().empty()) // (C1)
    return emitOpError("expects an op type");
  if (auto names = getResultNames();
      names && names->size() != getNumResults()) // (C2)
    return emitOpError("expects a name for each of its ")
           << getNumResults() << " results, but got " << names->size();
  for (NamedAttribute attribute : getOnnxAttributes())
    if (!isOnnxAttribute(attribute.getValue())) // (C3)
      return emitOpError("expects attribute ")
             << attribute.getName()
             << " to be an i64, an f32, a string, an array of these or a "
                "tensor, but got "
             << attribute.getValue();
  if (getDomain() == GraphOp::kDefaultDomain) // (C4)
    return emitOpError("expects the default domain to be left out, but got '")
           << getDomain() << "'";
  size_t graphs =
      llvm::count_if(getOnnxAttributes(), [](NamedAttribute attribute) {
        return isa<UnitAttr>(attribute.getValue());
      });
  if (graphs != getGraphs().size()) // (C5)
    return emitOpError("expects a region for each attribute that is a graph, ")
           << graphs << ", but got " << getGraphs().size();
  for (Region &graph : getGraphs())
    if (graph.front().empty() || !isa<ReturnOp>(graph.front().back()))
      return emitOpError("expects graphs to end in 'onnx.return'");
  return success();
}

Region *NodeOp::getSubgraph(StringRef name) {
  size_t index = 0;
  for (NamedAttribute attribute : getOnnxAttributes()) {
    if (!isa<UnitAttr>(attribute.getValue()))
      continue;
    if (attribute.getName() == name)
      return index < getGraphs().size() ? &getGraphs()[index] : nullptr;
    ++index;
  }
  return nullptr;
}

int64_t NodeOp::getOpset() {
  auto graph = (*this)->getParentOfType<GraphOp>();
  return graph ? graph.getOpset(getDomain()).value_or(0) : 0;
}

StringRef NodeOp::getNodeName() {
  auto name = getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : getOpType();
}

Value NodeOp::getInput(unsigned index) {
  if (index >= getInputs().size() ||
      isa<NoneType>(getInputs()[index].getType()))
    return {};
  return getInputs()[index];
}

Value NodeOp::getOutput(unsigned index) {
  if (index >= getNumResults() || isa<NoneType>(getResult(index).getType()))
    return {};
  return getResult(index);
}

std::optional<int64_t> NodeOp::getInt(StringRef name) {
  if (auto value = getOnnxAttributes().getAs<IntegerAttr>(name))
    return value.getInt();
  return std::nullopt;
}

std::optional<double> NodeOp::getFloat(StringRef name) {
  if (auto value = getOnnxAttributes().getAs<FloatAttr>(name))
    return value.getValueAsDouble();
  return std::nullopt;
}

std::optional<StringRef> NodeOp::getString(StringRef name) {
  if (auto value = getOnnxAttributes().getAs<StringAttr>(name))
    return value.getValue();
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeOp::getInts(StringRef name) {
  if (auto values = getOnnxAttributes().getAs<DenseI64ArrayAttr>(name))
    return SmallVector<int64_t>(values.asArrayRef());
  return std::nullopt;
}

SmallVector<int64_t> NodeOp::getInts(StringRef name,
                                     ArrayRef<int64_t> otherwise) {
  return getInts(name).value_or(SmallVector<int64_t>(otherwise));
}

std::optional<SmallVector<double>> NodeOp::getFloats(StringRef name) {
  if (auto values = getOnnxAttributes().getAs<DenseF32ArrayAttr>(name))
    return SmallVector<double>(llvm::map_range(
        values.asArrayRef(), [](float value) { return double(value); }));
  return std::nullopt;
}

std::optional<SmallVector<StringRef>> NodeOp::getStrings(StringRef name) {
  auto values = getOnnxAttributes().getAs<ArrayAttr>(name);
  if (!values || !llvm::all_of(values, llvm::IsaPred<StringAttr>))
    return std::nullopt;
  return SmallVector<StringRef>(values.getAsValueRange<StringAttr>());
}

ElementsAttr NodeOp::getTensor(StringRef name) {
  return getOnnxAttributes().getAs<ElementsAttr>(name);
}

void NodeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (std::optional<ArrayAttr> names = getResultNames();
      names && names->size() == getNumResults())
    for (auto [result, name] :
         llvm::zip(getResults(), names->getAsValueRange<StringAttr>()))
      setValueName(result, name, setName);
}

//===----------------------------------------------------------------------===//
// InitializerOp
//===----------------------------------------------------------------------===//

/// Parses `= dense<...> : type` or `at <...> : type`.
static ParseResult parseInitializerElements(OpAsmParser &parser,
                                            ElementsAttr &value,
                                            FileAttr &source, Type &type) {
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseAttribute(value))
      return failure();
    type = value.getType();
    return success();
  }
  return failure(parser.parseKeyword("at", " or '='") ||
                 parser.parseCustomAttributeWithFallback(source) ||
                 parser.parseColonType(type));
}

static void printInitializerElements(OpAsmPrinter &printer, Operation *op,
                                     ElementsAttr value, FileAttr source,
                                     Type type) {
  if (value) {
    printer << "= " << value;
    return;
  }
  printer << "at ";
  printer.printStrippedAttrOrType(source);
  printer << " : " << type;
}

int64_t InitializerOp::getSizeInBytes(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t components = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    components = 2;
  }
  int64_t sizeOfElement = (element.getIntOrFloatBitWidth() + 7) / 8;
  return type.getNumElements() * components * sizeOfElement;
}

LogicalResult InitializerOp::verify() {
  if (getValueAttr() && getSourceAttr()) // (C1)
    return emitOpError("expects either a value or a source, but got both");
  if (!getValueAttr() && !getSourceAttr())
    return emitOpError("expects a value or a source, but got neither");
  auto type = cast<RankedTensorType>(getType());
  if (getValueAttr() && getValueAttr().getType() != type) // (C2)
    return emitOpError("expects a value of type ")
           << type << ", but got " << getValueAttr().getType();
  if (getSourceAttr() &&
      getSourceAttr().getSizeInBytes() != getSizeInBytes(type)) // (C3)
    return emitOpError("expects ")
           << getSizeInBytes(type) << " bytes for " << type << ", but got "
           << getSourceAttr().getSizeInBytes();
  if (getIsConstant() == true && !getValueAttr()) // (C4)
    return emitOpError("expects a constant to have a value, but got a place "
                       "in a file");
  if (getIsConstant() == true && getTrained() == true)
    return emitOpError("expects a constant not to be trained, but got "
                       "'trained true'");
  return success();
}

void InitializerOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setValueName(getResult(), getName(), setName);
}
