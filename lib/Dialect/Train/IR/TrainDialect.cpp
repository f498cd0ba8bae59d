//===- TrainDialect.cpp - The train dialect -------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "gpuopt/Support/NameExpression.h"
#include "gpuopt/Support/RowPitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

#include "gpuopt/Dialect/Train/IR/TrainDialect.cpp.inc"
#include "gpuopt/Dialect/Train/IR/TrainEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "gpuopt/Dialect/Train/IR/TrainTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/Train/IR/TrainAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "gpuopt/Dialect/Train/IR/TrainOps.cpp.inc"

void TrainDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "gpuopt/Dialect/Train/IR/TrainTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "gpuopt/Dialect/Train/IR/TrainAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuopt/Dialect/Train/IR/TrainOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

bool VariableOp::isTrained() { return getKind() == VariableKind::Parameter; }

bool VariableOp::isWeight() {
  switch (getKind()) {
  case VariableKind::Parameter:
  case VariableKind::Frozen:
  case VariableKind::Buffer:
    return true;
  default:
    return false;
  }
}

bool VariableOp::isOfWeight() {
  switch (getKind()) {
  case VariableKind::Gradient:
  case VariableKind::OptimizerState:
  case VariableKind::Snapshot:
  case VariableKind::HalfCopy:
    return true;
  default:
    return false;
  }
}

bool VariableOp::canHaveSpareRows() {
  Type element = getElementTypeOrSelf(getType());
  return getKind() == VariableKind::HalfCopy ||
         (getKind() == VariableKind::Frozen &&
          isa<Float16Type, BFloat16Type>(element));
}

bool VariableOp::isNamed(StringRef expression) {
  NameExpression names(expression);
  return names.match(getSymName()) ||
         llvm::any_of(getSavedAs().getAsRange<StringAttr>(),
                      [&](StringAttr name) { return names.match(name); });
}

LogicalResult VariableOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return emitOpError("expects a statically shaped tensor type, but got ")
           << getType();
  if (type.getRank() > kMaxDims) // (C5)
    return emitOpError("expects at most ")
           << kMaxDims << " dimensions, which is what programs hold, but got "
           << type.getRank();
  if (getValue() && getFile()) // (C1)
    return emitOpError("expects at most one of 'value' and 'file'");
  if (getValue() && getValue()->getType() != type) // (C2)
    return emitOpError("expects a value of type ")
           << type << ", but got " << getValue()->getType();
  if (getFile()) { // (C3)
    Type stored = getStoredElementType().value_or(type.getElementType());
    if (!stored.isIntOrFloat())
      return emitOpError("expects numbers in 'file', but got ") << stored;
    int64_t bits = type.getNumElements() * stored.getIntOrFloatBitWidth();
    int64_t expected = stored.isInteger(1) ? type.getNumElements() : bits / 8;
    if (!getOffset() || !getSizeInBytes() || (int64_t)*getOffset() < 0)
      return emitOpError("expects 'offset' and 'sizeInBytes' beside 'file'");
    if ((int64_t)*getSizeInBytes() != expected)
      return emitOpError("expects ") << expected << " bytes for " << type
                                     << ", but got " << *getSizeInBytes();
  }
  if (isOfWeight() && !getOf()) // (C4)
    return emitOpError("expects 'of', the parameter that it belongs to");
  if (getMemoryOffset() && (int64_t)*getMemoryOffset() < 0) // (C6)
    return emitOpError("expects a 'memoryOffset' of at least 0, but got ")
           << (int64_t)*getMemoryOffset();
  Pads pads = padsOf(type);
  bool isPlain = !type.getEncoding(),
       hasSpareRows = canHaveSpareRows() && hasValidPads(type) &&
                      !pads.rowPitch && pads.areZeros;
  if (!isPlain && !hasSpareRows) // (C7)
    return emitOpError("expects no pads but spare rows of zeros behind a half "
                       "copy or a frozen weight in half precision, but got ")
           << type;
  return success();
}

/// Checks (C1) of all users of variables.
static LogicalResult verifyVariable(Operation *op,
                                    SymbolTableCollection &symbols,
                                    FlatSymbolRefAttr name, Type type) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError("expects a variable named ") << name;
  if (variable.getType() == type)
    return success();
  InFlightDiagnostic error = op->emitOpError("expects type ")
                             << variable.getType() << ", but got " << type;
  error.attachNote(variable.getLoc()) << "the variable is here";
  return error;
}

std::string gpuopt::train::freeSymbol(ModuleOp module, StringRef name) {
  std::string free = name.str();
  for (int number = 1; module.lookupSymbol(free); ++number)
    free = (name + "_" + llvm::Twine(number)).str();
  return free;
}

SmallVector<FlatSymbolRefAttr> gpuopt::train::variablesWritten(Operation *op) {
  SmallVector<FlatSymbolRefAttr> written;
  if (isa<ReadOp>(op))
    return written;
  // The norm makes the next step's loss scale of this one's.
  for (StringRef name :
       {"variable", "parameter", "copy", "target", "lossScale"})
    if (auto variable = op->getAttrOfType<FlatSymbolRefAttr>(name))
      written.push_back(variable);
  return written;
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getVariableAttr(), getType());
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, symbols, getVariableAttr(),
                        getValue().getType());
}

static FailureOr<RankedTensorType>
typeOfVariable(Operation *op, SymbolTableCollection &symbols,
               FlatSymbolRefAttr name) {
  if (auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name))
    if (auto type = dyn_cast<RankedTensorType>(variable.getType()))
      return type;
  return op->emitOpError("expects a variable named ") << name;
}

static FlatSymbolRefAttr stateOf(std::optional<DictionaryAttr> states,
                                 StringRef name) {
  return states ? states->getAs<FlatSymbolRefAttr>(name) : FlatSymbolRefAttr();
}

FlatSymbolRefAttr UpdateOp::getState(StringRef name) {
  return stateOf(getStates(), name);
}
FlatSymbolRefAttr DirectionOp::getState(StringRef name) {
  return stateOf(getStates(), name);
}

/// Checks (C2) and (C3) of updates and directions: what is there is declared,
/// and what is declared is there.
template <typename OpT>
static LogicalResult verifyStates(OpT op, const OptimizerInfo &optimizer,
                                  SymbolTableCollection &symbols,
                                  RankedTensorType parameter) {
  if (std::optional<DictionaryAttr> states = op.getStates())
    for (NamedAttribute state : *states)
      if (!optimizer.find_state(state.getName().strref()) ||
          !isa<FlatSymbolRefAttr>(state.getValue()))
        return op.emitOpError("expects variables of states of '")
               << op.getOptimizer() << "', but got '"
               << state.getName().strref() << "'";
  for (const OptimizerState &state : optimizer.states) {
    RankedTensorType type = optimizerStateType(state, parameter);
    FlatSymbolRefAttr name = op.getState(state.name);
    if (name && !type)
      return op.emitOpError("expects no state '")
             << state.name << "' of a parameter of type " << parameter;
    if (name && failed(verifyVariable(op, symbols, name, type)))
      return failure();
    if (!name && type && state.needs.empty())
      return op.emitOpError("expects a variable for the state '")
             << state.name << "' of '" << op.getOptimizer() << "'";
  }
  return success();
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<RankedTensorType> type =
      typeOfVariable(*this, symbols, getParameterAttr());
  if (failed(type))
    return failure();
  auto gradient = cast<RankedTensorType>(getGradient().getType());
  if (gradient.getShape() != type->getShape()) // (C1)
    return emitOpError("expects a gradient of the parameter's shape, ")
           << *type << ", but got " << gradient;
  const OptimizerInfo *optimizer = find_optimizer(getOptimizer());
  if (!optimizer) // (C2)
    return emitOpError("expects an optimizer of ")
           << optimizerNames() << ", but got '" << getOptimizer() << "'";
  auto parameter =
      symbols.lookupNearestSymbolFrom<VariableOp>(*this, getParameterAttr());
  if (&optimizerOf(*optimizer, parameter) != optimizer) // (C4)
    return emitOpError("expects a parameter that '")
           << getOptimizer() << "' can update, but got " << *type
           << (parameter.getIsTable() ? ", a table" : "");
  if (getGroup() && int64_t(*getGroup()) < 1) // (C5)
    return emitOpError("expects the number of a parameter group, which is at "
                       "least 1, but got ")
           << int64_t(*getGroup());
  if (optimizer->has_direction && getStates()) // (C3)
    return emitOpError("expects no states, which 'train.direction' has");
  if (!optimizer->has_direction &&
      failed(verifyStates(*this, *optimizer, symbols, *type)))
    return failure();
  if (!getCopyAttr())
    return success();
  FailureOr<RankedTensorType> copied =
      typeOfVariable(*this, symbols, getCopyAttr());
  if (failed(copied))
    return failure();
  if (copied->getShape() != type->getShape()) // (C1)
    return emitOpError("expects a copy of the parameter's shape, ")
           << *type << ", but got " << *copied;
  return success();
}

LogicalResult DirectionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<RankedTensorType> type =
      typeOfVariable(*this, symbols, getOfAttr());
  if (failed(type))
    return failure();
  for (Value value : {Value(getGradient()), Value(getResult())})
    if (auto own = cast<RankedTensorType>(value.getType());
        own.getShape() != type->getShape()) // (C1)
      return emitOpError("expects tensors of the parameter's shape, ")
             << *type << ", but got " << own;
  const OptimizerInfo *optimizer = find_optimizer(getOptimizer());
  if (!optimizer || !optimizer->has_direction) // (C2)
    return emitOpError("expects an optimizer that has a direction, but got '")
           << getOptimizer() << "'";
  return verifyStates(*this, *optimizer, symbols, *type);
}

LogicalResult AccumulateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<RankedTensorType> type =
      typeOfVariable(*this, symbols, getVariableAttr());
  auto value = cast<RankedTensorType>(getValue().getType());
  if (failed(type) || type->getShape() == value.getShape()) // (C1)
    return success(succeeded(type));
  return emitOpError("expects a value of the variable's shape, ")
         << *type << ", but got " << value;
}

LogicalResult GradNormOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getParameters().size() != getGradients().size()) // (C2)
    return emitOpError("expects one parameter per gradient, but got ")
           << getParameters().size() << " for " << getGradients().size();
  for (auto [name, value] : llvm::zip(
           getParameters().getAsRange<FlatSymbolRefAttr>(), getGradients())) {
    FailureOr<RankedTensorType> type = typeOfVariable(*this, symbols, name);
    if (failed(type))
      return failure();
    auto gradient = cast<RankedTensorType>(value.getType());
    if (gradient.getShape() != type->getShape()) // (C3)
      return emitOpError("expects the gradient of ")
             << name << " to have its shape, " << *type << ", but got "
             << gradient;
  }
  auto f32 = RankedTensorType::get({}, Float32Type::get(getContext()));
  return getLossScaleAttr()
             ? verifyVariable(*this, symbols, getLossScaleAttr(), f32)
             : success();
}

/// Checks (C1) of ops between two variables.
static LogicalResult verifyPair(Operation *op, SymbolTableCollection &symbols,
                                FlatSymbolRefAttr one, FlatSymbolRefAttr other,
                                bool ofOneType) {
  FailureOr<RankedTensorType> type = typeOfVariable(op, symbols, one),
                              second = typeOfVariable(op, symbols, other);
  if (failed(type) || failed(second))
    return failure();
  if (ofOneType ? *type == *second : type->getShape() == second->getShape())
    return success();
  return op->emitOpError("expects variables of one ")
         << (ofOneType ? "type" : "shape") << ", but got " << *type << " and "
         << *second;
}

LogicalResult SnapshotOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyPair(*this, symbols, getSourceAttr(), getSnapshotAttr(),
                    /*ofOneType=*/true);
}
LogicalResult RestoreOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyPair(*this, symbols, getTargetAttr(), getSnapshotAttr(),
                    /*ofOneType=*/true);
}
LogicalResult RefreshOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyPair(*this, symbols, getParameterAttr(), getCopyAttr(),
                    /*ofOneType=*/false);
}

LogicalResult ReportLossOp::verify() {
  for (Value value : getOperands()) // (C1)
    if (cast<RankedTensorType>(value.getType()).getNumElements() != 1)
      return emitOpError("expects operands of one element, but got ")
             << value.getType();
  return success();
}

LogicalResult RecomputeOp::verify() {
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError("expects a body that ends with 'train.yield'");
  if (body.getArgumentTypes() != getInputs().getTypes()) // (C1)
    return emitOpError(
        "expects one argument of the same type for each operand");
  if (yield.getValues().getTypes() != getResultTypes()) // (C1)
    return emitOpError("expects the yielded values to have the results' types");
  return success();
}

//===----------------------------------------------------------------------===//
// Offloading
//===----------------------------------------------------------------------===//

LogicalResult OffloadOp::verify() {
  if (getValue().getDefiningOp<ReadOp>()) // (C1)
    return emitOpError("expects a value of the step, but got a variable's, "
                       "which updates change");
  return success();
}

LogicalResult AwaitOffloadOp::verify() {
  auto offload = getCopy().getDefiningOp<OffloadOp>();
  if (!offload || offload.getValue() != getValue()) // (C1)
    return emitOpError("expects a copy of the value that it waits for");
  return success();
}

LogicalResult AwaitReloadOp::verify() {
  if (!getValue().getDefiningOp<ReloadOp>()) // (C1)
    return emitOpError("expects the result of a 'train.reload'");
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Checks (C6) for a value of a step, or of a region in it.
static LogicalResult verifyValue(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || (isa<RankedTensorType>(type) && shaped.hasStaticShape() &&
                  shaped.getElementType().isIntOrFloat()))
    return success();
  return op->emitOpError("expects a static shape, and integers or floats as "
                         "elements, in a step, but got ")
         << type;
}

/// Checks (C6) for an op of a step and for all that its regions hold.
static LogicalResult verifyValues(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!isa<ShapedType, HostType>(type))
      return op->emitOpError("expects tensors as the values of a step, but "
                             "got ")
             << type;
  bool isValid = true;
  op->walk([&](Operation *inner) {
    for (Type type : inner->getResultTypes())
      isValid = isValid && succeeded(verifyValue(inner, type));
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          isValid = isValid && succeeded(verifyValue(inner, type));
  });
  return success(isValid);
}

LogicalResult StepOp::verify() {
  size_t arguments = getBody().front().getNumArguments();
  if (getInputNames().size() != arguments) // (C1)
    return emitOpError("expects one input name per argument, but got ")
           << getInputNames().size() << " for " << arguments;
  ArrayAttr labels = getLabelsNamesAttr(), ranges = getLabelsRangesAttr();
  size_t count = labels ? labels.size() : 0;
  if (count > arguments ||
      (labels && labels.getValue() != // (C2)
                     getInputNames().getValue().take_back(count)))
    return emitOpError("expects the last inputs to be the labels, but got ")
           << labels << " for inputs " << getInputNames();
  if (size_t given = ranges ? ranges.size() : 0; given != count) // (C3)
    return emitOpError("expects one range for each name of labels, but got ")
           << given << " for " << count;
  llvm::StringSet<> names;
  for (auto [name, input] :
       llvm::zip(getInputNames().getAsValueRange<StringAttr>(),
                 getBody().getArguments())) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type || !type.hasStaticShape() ||
        !type.getElementType().isIntOrFloat()) // (C4)
      return emitOpError("expects inputs that are ranked tensors of static "
                         "shape, of integers or floats, but got ")
             << input.getType() << " for '" << name << "'";
    if (!names.insert(name).second) // (C5)
      return emitOpError("expects inputs of different names, but got '")
             << name << "' twice";
  }
  for (Operation &op : getBody().front())
    if (failed(verifyValues(&op))) // (C6)
      return failure();
  return success();
}

bool StepOp::isLabels(StringRef name) {
  return getLabelsNames() &&
         llvm::is_contained(getLabelsNamesAttr().getAsValueRange<StringAttr>(),
                            name);
}

IndexRangeAttr StepOp::getRangeOfLabels(StringRef name) {
  if (!getLabelsNames())
    return nullptr;
  for (auto [known, range] :
       llvm::zip(getLabelsNamesAttr(), getLabelsRangesAttr()))
    if (cast<StringAttr>(known).getValue() == name)
      return dyn_cast<IndexRangeAttr>(range);
  return nullptr;
}

ReportLossOp StepOp::getWholeLoss() {
  for (auto loss : getBody().getOps<ReportLossOp>())
    if (!loss.getPart())
      return loss;
  return nullptr;
}

// Prints train.step @micro_step micro ("ids" %ids: tensor<4x8xi64>) {...}
void StepOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << ' ' << stringifyStepKind(getKind()) << " (";
  llvm::interleaveComma(llvm::zip(getInputNames(), getBody().getArguments()),
                        printer, [&](auto pair) {
                          printer << std::get<0>(pair) << ' ';
                          printer.printRegionArgument(std::get<1>(pair));
                        });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"sym_name", "kind", "inputNames"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

ParseResult StepOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  StringRef kindName;
  SMLoc kindLoc;
  if (parser.parseSymbolName(name, "sym_name", result.attributes))
    return failure();
  kindLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&kindName))
    return failure();
  std::optional<StepKind> kind = symbolizeStepKind(kindName);
  if (!kind)
    return parser.emitError(kindLoc, "expects a kind of step, but got '")
           << kindName << "'";
  result.addAttribute("kind", StepKindAttr::get(parser.getContext(), *kind));
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> names;
  auto parseInput = [&]() -> ParseResult {
    StringAttr input;
    if (parser.parseAttribute(input) ||
        parser.parseArgument(arguments.emplace_back(), /*allowType=*/true))
      return failure();
    names.push_back(input);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseInput) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute("inputNames", parser.getBuilder().getArrayAttr(names));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}
