//===- DeviceDialect.cpp - The device dialect -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

#include "CallArguments.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt::device;

#include "gpuopt/Dialect/Device/IR/DeviceDialect.cpp.inc"
#include "gpuopt/Dialect/Device/IR/DeviceEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "gpuopt/Dialect/Device/IR/DeviceTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "gpuopt/Dialect/Device/IR/DeviceAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "gpuopt/Dialect/Device/IR/DeviceOps.cpp.inc"

void DeviceDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "gpuopt/Dialect/Device/IR/DeviceTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "gpuopt/Dialect/Device/IR/DeviceAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuopt/Dialect/Device/IR/DeviceOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes on ops
//===----------------------------------------------------------------------===//

/// Returns whether a value has the form of a cost key: an origin and a work.
static bool isCostKey(Attribute value) {
  auto key = dyn_cast<ArrayAttr>(value);
  return key && key.size() == 2 && llvm::all_of(key, llvm::IsaPred<StringAttr>);
}

/// Returns whether a value is an array of dictionaries.
static bool areIterations(Attribute value) {
  auto iterations = dyn_cast_or_null<ArrayAttr>(value);
  return iterations && llvm::all_of(iterations, llvm::IsaPred<DictionaryAttr>);
}

LogicalResult
DeviceDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  auto check = [&](bool isRight, StringRef what, bool isInPlace,
                   StringRef place) -> LogicalResult {
    if (!isRight)
      return op->emitOpError("expects '")
             << name << "' to be " << what << ", but got " << value;
    if (!isInPlace)
      return op->emitOpError("has '")
             << name << "', which only " << place << " has";
    return success();
  };
  if (name == kLanesAttribute) {
    auto lanes = dyn_cast<IntegerAttr>(value);
    return check(lanes && lanes.getType().isInteger(64) &&
                     (lanes.getInt() == 4 || lanes.getInt() == 8),
                 "4 or 8, of type i64", isa<ModuleOp>(op), "a module");
  }
  if (name == kCostKeyAttribute)
    return check(isCostKey(value), "two strings, an origin and its work",
                 op->getParentOfType<StepOp>() != nullptr,
                 "an op of a 'device.step'");
  if (name == kIterationsAttribute)
    return check(areIterations(value), "dictionaries, one for each iteration",
                 isa_and_nonnull<RepeatOp>(op->getParentOp()),
                 "a call of a 'device.repeat'");
  if (name == kRecomputedAttribute)
    return check(isa<UnitAttr>(value), "a unit attribute",
                 op->getParentOfType<StepOp>() != nullptr,
                 "an op of a 'device.step'");
  return op->emitOpError("has an attribute '")
         << name << "', which 'device' does not know";
}

Attribute gpuopt::device::attributeInIteration(Operation *call,
                                               unsigned iteration,
                                               StringRef name) {
  auto iterations = call->getAttrOfType<ArrayAttr>(kIterationsAttribute);
  return iterations ? cast<DictionaryAttr>(iterations[iteration]).get(name)
                    : Attribute();
}

bool gpuopt::device::differsByIteration(Operation *call, StringRef name) {
  auto iterations = call->getAttrOfType<ArrayAttr>(kIterationsAttribute);
  return iterations && llvm::any_of(iterations.getAsRange<DictionaryAttr>(),
                                    [&](DictionaryAttr iteration) {
                                      return iteration.contains(name);
                                    });
}

StringRef gpuopt::device::conditionOf(Operation *call) {
  for (StringRef name : {kMakes, kSkips})
    if (auto condition =
            dyn_cast_or_null<StringAttr>(attributeInIteration(call, 0, name)))
      return condition;
  return "";
}

bool gpuopt::device::isMade(Operation *call, unsigned iteration) {
  return !attributeInIteration(call, iteration, kSkips);
}

bool gpuopt::device::namesOrigin(StringRef attribute) {
  return attribute == "comment" || attribute == kCostKeyAttribute;
}

//===----------------------------------------------------------------------===//
// Memory, kernels and steps
//===----------------------------------------------------------------------===//

llvm::StringRef gpuopt::device::sectionOf(Operation *op) {
  auto section = op->getAttrOfType<SectionAttr>(kSectionAttribute);
  return section ? stringifySection(section.getValue()) : "";
}

LogicalResult KernelOp::verify() {
  if (getArgumentNames().size() != getBody().getNumArguments()) // (C1)
    return emitOpError("expects one name per argument, but got ")
           << getArgumentNames().size() << " for "
           << getBody().getNumArguments();
  int64_t groups = getGroups(), threads = getThreads();
  auto areWarps = [&] {
    return groups > 1 && threads % 32 == 0 && threads % groups == 0 &&
           threads / groups <= 32 && llvm::isPowerOf2_64(threads / groups);
  };
  if (groups != 1 && !areWarps()) // (C2)
    return emitOpError("expects groups of 1, 2, 4, 8, 16 or 32 threads that "
                       "are whole warps together, but got ")
           << threads << " threads in " << groups << " groups";
  for (int64_t position : getAliased()) // (C3)
    if (position < 0 || position >= getBody().getNumArguments() ||
        !isa<PtrType>(getBody().getArgument(position).getType()))
      return emitOpError("expects pointers where arguments are aliased, but "
                         "got position ")
             << position;
  return success();
}

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     int64_t blocks, int64_t threads, ArrayAttr argumentNames,
                     StringRef comment) {
  build(builder, state, name, blocks, threads, /*groups=*/1,
        /*residentBlocks=*/0, argumentNames, /*aliased=*/ArrayRef<int64_t>{},
        comment);
}

LogicalResult LaunchOp::verify() {
  if (ArrayAttr numbers = getNumbersAttr())
    for (Attribute number : numbers) {
      auto typed = dyn_cast<TypedAttr>(number);
      if (!typed || !isa<IndexType, FloatType>(typed.getType())) // (C1)
        return emitOpError("expects numbers of type index or floating-point, "
                           "but got ")
               << number;
    }
  return success();
}

SliceAttr gpuopt::device::sliceOf(Attribute cell) {
  if (auto buffer = dyn_cast<FlatSymbolRefAttr>(cell))
    return SliceAttr::get(cell.getContext(), buffer, 0);
  return cast<SliceAttr>(cell);
}

Attribute gpuopt::device::cellOf(SliceAttr slice) {
  return slice.getElements() == 0 ? Attribute(slice.getBuffer()) : slice;
}

SliceAttr RepeatOp::sliceOf(StringRef column, unsigned iteration) {
  auto row = cast<ArrayAttr>(getRows()[iteration]);
  for (auto [name, cell] : llvm::zip(getColumns(), row))
    if (cast<StringAttr>(name).getValue() == column)
      return device::sliceOf(cell);
  return {};
}

std::optional<int64_t> RepeatOp::strideOf(StringRef column) {
  auto beginning = [&](unsigned iteration) {
    return sliceOf(column, iteration).getElements();
  };
  int64_t stride = beginning(1) - beginning(0);
  for (unsigned iteration = 1; iteration < getNumIterations(); ++iteration)
    if (sliceOf(column, iteration).getBuffer() !=
            sliceOf(column, 0).getBuffer() ||
        beginning(iteration) - beginning(iteration - 1) != stride)
      return std::nullopt;
  return stride;
}

/// Returns the attributes of a call but those that say where it comes from.
static DictionaryAttr attributesOf(Operation *call) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : call->getAttrDictionary())
    if (!namesOrigin(attribute.getName()) &&
        attribute.getName() != kIterationsAttribute)
      kept.push_back(attribute);
  return DictionaryAttr::get(call->getContext(), kept);
}

static bool haveSameOps(Block &body, Block &other) {
  if (body.getOperations().size() != other.getOperations().size())
    return false;
  llvm::DenseMap<Value, Value> resultOf;
  for (auto [one, two] : llvm::zip(body, other)) {
    auto isSame = [&](auto operands) {
      return resultOf.lookup(std::get<0>(operands)) == std::get<1>(operands);
    };
    if (one.getName() != two.getName() ||
        conditionOf(&one) != conditionOf(&two) ||
        attributesOf(&one) != attributesOf(&two) ||
        one.getResultTypes() != two.getResultTypes() ||
        one.getNumOperands() != two.getNumOperands() ||
        !llvm::all_of(llvm::zip(one.getOperands(), two.getOperands()), isSame))
      return false;
    for (auto [first, second] : llvm::zip(one.getResults(), two.getResults()))
      resultOf[first] = second;
  }
  return true;
}

bool RepeatOp::canShareFunction(RepeatOp other) {
  for (RepeatOp loop : {*this, other})
    for (auto column : loop.getColumns().getAsRange<StringAttr>())
      if (loop.strideOf(column).value_or(0) != 0)
        return false;
  return getColumns() == other.getColumns() &&
         haveSameOps(getBody().front(), other.getBody().front());
}

/// Checks (C9).
static LogicalResult verifyCondition(Operation *call, ArrayAttr iterations) {
  StringRef condition = conditionOf(call);
  for (auto iteration : iterations.getAsRange<DictionaryAttr>()) {
    auto makes = iteration.getAs<StringAttr>(kMakes),
         skips = iteration.getAs<StringAttr>(kSkips);
    bool isRight = condition.empty() ? !makes && !skips
                                     : bool(makes) != bool(skips) &&
                                           (makes ? makes : skips) == condition;
    if (!isRight)
      return call->emitOpError("expects each iteration to have either '")
             << kMakes << "' or '" << kSkips << "' with the name '" << condition
             << "' of the first one, or none to have any, but got "
             << iteration;
  }
  return success();
}

static LogicalResult verifyIterations(Operation *call, ArrayAttr iterations) {
  for (auto iteration : iterations.getAsRange<DictionaryAttr>())
    for (NamedAttribute attribute : iteration) {
      StringRef name = attribute.getName();
      Attribute value = attribute.getValue();
      bool isText = name == "comment" || name == kMakes || name == kSkips;
      bool isRight = (isText && isa<StringAttr>(value)) ||
                     (name == kCostKeyAttribute && isCostKey(value));
      if (!isRight) // (C6)
        return call->emitOpError("expects '")
               << kIterationsAttribute
               << "' to have only comments, cost keys and conditions, but got '"
               << name << "' = " << value;
    }
  return verifyCondition(call, iterations);
}

LogicalResult RepeatOp::verify() {
  if (getRows().size() < 2) // (C1)
    return emitOpError("expects at least two rows, but got ")
           << getRows().size();
  llvm::SmallDenseSet<Attribute> names(getColumns().begin(),
                                       getColumns().end());
  if (names.size() != getColumns().size()) // (C2)
    return emitOpError("expects columns of different names");
  for (Attribute attribute : getRows()) {
    auto row = dyn_cast<ArrayAttr>(attribute);
    if (!row || row.size() != getColumns().size() ||
        !llvm::all_of(row, llvm::IsaPred<FlatSymbolRefAttr, SliceAttr>)) // (C2)
      return emitOpError("expects rows of ")
             << getColumns().size() << " buffers, but got " << attribute;
    for (Attribute cell : row)
      if (auto slice = dyn_cast<SliceAttr>(cell);
          slice && slice.getElements() < 1) // (C7)
        return emitOpError("expects slices that begin behind the first element "
                           "of their buffer, but got ")
               << slice;
  }
  for (Operation &op : getBody().front()) {
    if (!isa<AddressOp, ColumnOp>(op) &&
        (op.getNumResults() > 0 || op.getNumRegions() > 0)) // (C3)
      return op.emitOpError("expects to be outside of 'device.repeat', which "
                            "has only calls and addresses");
    auto iterations = op.getAttrOfType<ArrayAttr>(kIterationsAttribute);
    if (!areIterations(iterations)) // the dialect's own verifier says so
      continue;
    if (iterations.size() != getRows().size()) // (C4)
      return op.emitOpError("expects '")
             << kIterationsAttribute << "' to have " << getRows().size()
             << " dictionaries, one per iteration, but got "
             << iterations.size();
    if (failed(verifyIterations(&op, iterations)))
      return failure();
  }
  return success();
}

/// Checks (C8) with the first loop that has the function.
static LogicalResult verifyFunction(RepeatOp repeat) {
  auto step = repeat->getParentOfType<StepOp>();
  for (RepeatOp first : step.getBody().getOps<RepeatOp>()) {
    if (first.getFunctionAttr() != repeat.getFunctionAttr())
      continue;
    if (repeat.canShareFunction(first))
      return success();
    InFlightDiagnostic error = repeat.emitOpError("expects the calls of the "
                                                  "loop with which it shares ")
                               << repeat.getFunctionAttr();
    error.attachNote(first.getLoc()) << "which is here";
    return error;
  }
  return success();
}

LogicalResult RepeatOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  if (getFunction() && failed(verifyFunction(*this))) // (C8)
    return failure();
  auto bufferNamed = [&](FlatSymbolRefAttr name) {
    return symbolTable.lookupNearestSymbolFrom<BufferOp>(getOperation(), name);
  };
  for (auto row : getRows().getAsRange<ArrayAttr>())
    for (Attribute cell : row) {
      FlatSymbolRefAttr name = device::sliceOf(cell).getBuffer();
      BufferOp buffer = bufferNamed(name);
      if (!buffer || buffer.getKind() == BufferKind::Host) // (C5)
        return emitOpError("expects buffers of the device, but '")
               << name << "' is none";
    }
  for (ColumnOp column : getBody().getOps<ColumnOp>())
    for (unsigned iteration = 0; iteration < getNumIterations(); ++iteration) {
      BufferOp buffer =
          bufferNamed(sliceOf(column.getName(), iteration).getBuffer());
      Type held = cast<RankedTensorType>(buffer.getType()).getElementType();
      Type element = cast<PtrType>(column.getType()).getElement();
      if (held != element) // (C5)
        return column.emitOpError("expects elements of type ")
               << element << ", but '" << buffer.getSymName() << "' has "
               << held;
    }
  return success();
}

LogicalResult ColumnOp::verify() {
  auto repeat = (*this)->getParentOfType<RepeatOp>();
  if (!llvm::is_contained(repeat.getColumns(), getNameAttr())) // (C1)
    return emitOpError("expects a column of the enclosing 'device.repeat', but "
                       "got ")
           << getNameAttr();
  return success();
}

LogicalResult DelinearizeOp::verify() {
  if (getNumResults() != getSizes().size()) // (C1)
    return emitOpError("expects one result per size, but got ")
           << getNumResults() << " for " << getSizes().size();
  for (int64_t size : getSizes())
    if (size < 1) // (C2)
      return emitOpError("expects sizes of at least 1, but got ") << size;
  return success();
}

bool KernelOp::hasRowsInRegisters() {
  return getBody()
      .walk([](RowOp row) {
        return row.getInRegisters() ? WalkResult::interrupt()
                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult LoopOp::verify() {
  Block &body = getBody().front();
  auto yield = dyn_cast_or_null<YieldOp>(body.empty() ? nullptr : &body.back());
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex() ||
      !yield)
    return emitOpError(
        "expects a body with one index argument that ends in 'device.yield'");
  if (yield.getValues().size() != getCombiners().size() ||
      getNumResults() != getCombiners().size())
    return emitOpError("expects ")
           << getCombiners().size()
           << " yielded values and results, one per combiner";
  if (yield.getValues().getTypes() != getResultTypes())
    return emitOpError("expects results of the types that the body yields");
  auto outer = (*this)->getParentOfType<LoopOp>();
  bool isInLanes = outer && outer.getKind() == LoopKind::Lanes;
  if (getKind() == LoopKind::RowGroups && getNumResults() != 0 &&
      !isInLanes) // (C1)
    return emitOpError("over row groups expects to lie in a loop over lanes "
                       "where it combines values");
  if (getUnroll() < 1 || getMultiple() < 1) // (C2)
    return emitOpError(
               "expects to unroll 1 iteration or more, and bounds that are "
               "multiples of 1 or more, but got ")
           << getUnroll() << " and " << getMultiple();
  for (unsigned number = 0; number < getNumResults(); ++number)
    if (getCombiner(number) == Combiner::SumExp &&
        (getKind() != LoopKind::Lanes || !getMaximumOf(number) ||
         !isa<FloatType>(getResult(number).getType()))) // (C3)
      return emitOpError("expects a sum of exponentials in a loop over lanes, "
                         "behind the maximum of the same floating-point "
                         "values");
  return success();
}

Combiner LoopOp::getCombiner(unsigned number) {
  return cast<CombinerAttr>(getCombiners()[number]).getValue();
}

std::optional<unsigned> LoopOp::getMaximumOf(unsigned number) {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  for (unsigned other = 0; other < number; ++other)
    if (getCombiner(other) == Combiner::Max &&
        yield.getValues()[other] == yield.getValues()[number])
      return other;
  return std::nullopt;
}

std::optional<unsigned> LoopOp::getSumExpOf(unsigned number) {
  for (unsigned other = number + 1; other < getNumResults(); ++other)
    if (getCombiner(other) == Combiner::SumExp && getMaximumOf(other) == number)
      return other;
  return std::nullopt;
}

template <typename OpT>
static LogicalResult verifyAccess(OpT op, Type element) {
  if (op.getStrides().size() != op.getIndices().size()) // (C1)
    return op.emitOpError("expects one stride per index, but got ")
           << op.getStrides().size() << " for " << op.getIndices().size();
  Type expected = cast<PtrType>(op.getPointer().getType()).getElement();
  if (element != expected) // (C2)
    return op.emitOpError("expects an element of type ")
           << expected << ", but got " << element;
  if (op.getAlignment() < 1) // (C3)
    return op.emitOpError("expects an alignment of at least one element, but "
                          "got ")
           << op.getAlignment();
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getResult().getType());
}
LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValue().getType());
}

LogicalResult RowOp::verify() {
  if ((int64_t)getSize() < 1) // (C1)
    return emitOpError("expects at least one element, but got ")
           << (int64_t)getSize();
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!getInRegisters() && kernel && kernel.getGroups() > 1) // (C2)
    return emitOpError("expects registers for the rows of several groups");
  return success();
}

LogicalResult CombineGroupsOp::verify() {
  auto loop = (*this)->getParentOfType<LoopOp>();
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!loop || loop.getKind() != LoopKind::Lanes ||
      loop->getParentOfType<LoopOp>() ||
      (kernel && kernel.getGroups() == 1)) // (C1)
    return emitOpError("expects to be in a loop over lanes that is in no other "
                       "loop, in a kernel with several groups");
  return success();
}

LogicalResult PositionOp::verify() {
  if (getStrides().size() != getIndices().size()) // (C1)
    return emitOpError("expects one stride per index, but got ")
           << getStrides().size() << " for " << getIndices().size();
  if (getAlignment() < 1) // (C2)
    return emitOpError("expects an alignment of at least one element, but got ")
           << getAlignment();
  return success();
}

/// Checks (C1) and (C2) of updates and directions.
template <typename OpT>
static LogicalResult verifyStates(OpT op,
                                  const gpuopt::OptimizerInfo &optimizer) {
  size_t names = op.getStateNames() ? op.getStateNames()->size() : 0;
  if (names != op.getStates().size()) // (C2)
    return op.emitOpError("expects one name for each state, but got ")
           << names << " for " << op.getStates().size();
  if (op.getStateNames())
    for (auto name : op.getStateNames()->template getAsRange<StringAttr>())
      if (!optimizer.find_state(name.strref())) // (C1)
        return op.emitOpError("expects states of '")
               << op.getOptimizer() << "', but got " << name;
  return success();
}

LogicalResult CheckFiniteOp::verify() {
  std::optional<ArrayRef<int64_t>> rows = getRows();
  if (!rows ||
      (rows->size() == 2 && (*rows)[0] > 0 && (*rows)[0] < (*rows)[1] &&
       getCount() % (*rows)[0] == 0)) // (C1)
    return success();
  return emitOpError("expects 'rows' to be a size that divides ")
         << getCount() << " and a larger pitch, but got [" << *rows << "]";
}

LogicalResult DirectionOp::verify() {
  const OptimizerInfo *optimizer = find_optimizer(getOptimizer());
  if (!optimizer || !optimizer->has_direction) // (C1)
    return emitOpError("expects an optimizer that has a direction, but got '")
           << getOptimizer() << "'";
  return verifyStates(*this, *optimizer);
}

bool UpdateOp::takesWholeShape() {
  const OptimizerInfo *optimizer = find_optimizer(getOptimizer());
  return optimizer && (optimizer->scratch || optimizer->has_direction);
}

LogicalResult UpdateOp::verify() {
  const OptimizerInfo *optimizer = find_optimizer(getOptimizer());
  if (!optimizer) // (C1)
    return emitOpError("expects an optimizer of ")
           << train::optimizerNames() << ", but got '" << getOptimizer() << "'";
  if (failed(verifyStates(*this, *optimizer)))
    return failure();
  bool needsScratch = optimizer->scratch != nullptr;
  if (needsScratch != bool(getScratch())) // (C3)
    return emitOpError("expects ")
           << (needsScratch ? "" : "no ") << "scratch memory for '"
           << getOptimizer() << "'";
  return success();
}

LogicalResult SumPartsOp::verify() {
  for (Value pointer : getOperands())
    if (Type element = cast<PtrType>(pointer.getType()).getElement();
        !element.isF32()) // (C1)
      return emitOpError("expects parts and a sum of f32, but got ") << element;
  if (int64_t count = getCount(); count < 1) // (C1)
    return emitOpError("expects at least one part, but got ") << count;
  return success();
}

LogicalResult GradNormOp::verify() {
  size_t gradients = getGradients().size();
  if (getCounts().size() != gradients ||
      getParameters().size() != gradients) // (C1)
    return emitOpError("expects one count and one parameter per gradient, but "
                       "got ")
           << getCounts().size() << " and " << getParameters().size() << " for "
           << gradients;
  return success();
}
