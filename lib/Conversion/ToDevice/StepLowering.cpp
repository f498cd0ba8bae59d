//===- StepLowering.cpp - Ops of a step to launches and library calls -----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepLowering.h"

#include "gpuopt/Analysis/Memory/PlacedInputs.h"

#include "CallLowering.h"
#include "IterationPlaces.h"
#include "KernelBuilder.h"
#include "gpuopt/Analysis/Costs/CostKey.h"
#include "gpuopt/Analysis/Costs/KernelCost.h"
#include "gpuopt/Analysis/Memory/StepParts.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Conversion/ToDevice/Passes.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "gpuopt/Support/RowPitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;

static int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Returns the elements that a transfer copies, with the pads of rows.
static int64_t transferredElements(Value value) {
  return elementsInMemory(cast<RankedTensorType>(value.getType()));
}

/// Calls `lower` with `op` cast to its class if it becomes a launch, a call or
/// a transfer. Returns whether it does.
template <typename Function>
static bool dispatchLowered(Operation *op, Function lower) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<nn::FusedOp, nn::ScanOp, nn::SumPartsOp, RuntimeCallOpInterface,
            train::ReportLossOp, train::GradNormOp, train::DirectionOp,
            train::UpdateOp, train::WriteOp, train::AccumulateOp,
            train::OutputOp, train::SnapshotOp, train::RestoreOp,
            train::RefreshOp, train::OffloadOp, train::AwaitOffloadOp,
            train::ReloadOp, train::AwaitReloadOp>([&](auto typed) {
        lower(typed);
        return true;
      })
      .Default(false);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static bool isHalf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<Float16Type, BFloat16Type>(tensor.getElementType());
}

KernelTable::KernelTable(ModuleOp module, const DeviceModel &device)
    : module(module), device(device) {
  bool hasHalf = module
                     ->walk([](nn::FusedOp op) {
                       return llvm::any_of(op->getOperandTypes(), isHalf) ||
                                      llvm::any_of(op->getResultTypes(), isHalf)
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (!hasHalf)
    return;
  lanes = kHalvesOfVector;
  module->setAttr(device::kLanesAttribute,
                  Builder(module).getI64IntegerAttr(lanes));
}

device::KernelOp KernelTable::lookup(nn::FusedOp op,
                                     ArrayRef<StridedView> operands,
                                     ArrayRef<StridedView> results,
                                     ArrayRef<int64_t> aliased) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  KernelShape shape = kernelShape(op, operands, results);
  LaunchShape launch = launchShapeOf(shape, lanes, device);
  if (device.hasWarps() && launch.residentBlocks == 0) {
    estimateThread(op, shape, lanes, launch);
    launch.residentBlocks = residentBlocksFor(launch, device);
  }
  device::KernelOp kernel =
      buildKernel(builder, op, shape, launch, "kernel", aliased);
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel.print(stream, OpPrintingFlags().useLocalScope());
  auto [known, isNew] = kernels.try_emplace(text, kernel);
  if (!isNew) {
    kernel.erase();
    return known->second;
  }
  kernel.setSymName(uniqueSymbol(("fused_" + op.getLabel()).str(), usedNames));
  return kernel;
}

namespace {

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

static device::Section sectionOf(StepPart part) {
  switch (part) {
  case StepPart::Forward:
    return device::Section::Forward;
  case StepPart::Backward:
    return device::Section::Backward;
  case StepPart::Update:
    return device::Section::Optimizer;
  }
  llvm_unreachable("all parts are handled");
}

class StepLowering {
public:
  StepLowering(train::StepOp step, const StepMemory &memory,
               const PersistentMemory &persistent, KernelTable &kernels,
               ImplicitLocOpBuilder &b)
      : step(step), memory(memory), persistent(persistent), kernels(kernels),
        b(b) {}

  /// Lowers the ops for which `isPart` is true.
  void run(bool checksResults, llvm::function_ref<bool(Operation *)> isPart) {
    for (Operation &op : step.getBody().front()) {
      if (!doesWork(&op) || !isPart(&op))
        continue;
      b.setLoc(op.getLoc());
      section = sectionOf(parts.next(&op));
      Operation *last = lastEmitted();
      lower(&op);
      if (lastEmitted() != last && !isa<nn::ScanOp>(op))
        annotate(&op, lastEmitted());
      if (checksResults && step.getKind() == train::StepKind::Micro)
        check(&op);
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Addresses
  //===--------------------------------------------------------------------===//

  StringRef symbolOfBuffer(Value owner) {
    if (const PlannedBuffer *buffer = memory.lookup(owner))
      return buffer->name;
    if (train::OutputOp output = memory.lookupOutput(owner))
      return persistent.symbolOfOutput(output.getName());
    if (auto argument = dyn_cast<BlockArgument>(owner))
      return persistent.symbolOfInput(
          cast<StringAttr>(step.getInputNames()[argument.getArgNumber()])
              .getValue());
    if (auto read = owner.getDefiningOp<train::ReadOp>())
      return persistent.symbolOfVariable(read.getVariableAttr());
    return persistent.symbolOfConstant(
        owner.getDefiningOp<arith::ConstantOp>().getValue());
  }

  Value address(StringRef buffer, Type element, int64_t offset = 0) {
    return b.create<device::AddressOp>(device::PtrType::get(element), buffer,
                                       offset);
  }
  Value address(const StridedView &view) {
    Type element =
        cast<RankedTensorType>(view.buffer.getType()).getElementType();
    if (iteration && iteration->hasEntry(view.buffer))
      return iteration->addressIn(b, view);
    if (iteration && iteration->isInvariant(view.buffer)) {
      StridedView outer = iteration->viewOfInvariant(view.buffer);
      return address(symbolOfBuffer(outer.buffer), element,
                     outer.offset + view.offset);
    }
    return address(symbolOfBuffer(view.buffer), element, view.offset);
  }
  Value read(Value value) { return address(*viewOf(value)); }
  Value written(Value result) { return address(destinationOf(result)); }
  RankedTensorType typeOf(FlatSymbolRefAttr variable) {
    return cast<RankedTensorType>(persistent.typeOfVariable(variable));
  }
  int64_t elementsOf(FlatSymbolRefAttr variable) {
    return typeOf(variable).getNumElements();
  }
  static int64_t elementsOf(Value value) { return ::elementsOf(value); }
  Value variable(FlatSymbolRefAttr name) {
    return address(persistent.symbolOfVariable(name),
                   typeOf(name).getElementType());
  }
  Value variableOrNull(FlatSymbolRefAttr name) {
    return name ? variable(name) : Value();
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  void lower(Operation *op) {
    dispatchLowered(op, [&](auto typed) { lowerOp(typed); });
  }

  void lowerOp(nn::FusedOp op) {
    SmallVector<StridedView> operands, results;
    SmallVector<Value> addresses;
    auto add = [&](SmallVectorImpl<StridedView> &views, StridedView view) {
      addresses.push_back(address(view));
      if (iteration)
        iteration->noteAlignment(view);
      views.push_back(std::move(view));
    };
    for (Value input : op.getInputs())
      add(operands, *viewOf(input));
    for (Value result : op.getResults())
      add(results, destinationOf(result));
    device::KernelOp kernel = kernels.lookup(
        op, operands, results, findAliased(addresses, operands.size()));
    b.create<device::LaunchOp>(kernel.getSymName(), addresses);
  }

  /// Returns the positions of addresses that lie in one buffer, of which one is
  /// that of a result. Results come behind the operands.
  SmallVector<int64_t> findAliased(ArrayRef<Value> addresses,
                                   size_t operandCount) {
    SmallVector<int64_t> aliased;
    auto bufferAt = [&](size_t i) {
      if (auto column = addresses[i].getDefiningOp<device::ColumnOp>())
        return iteration->bufferOfColumn(column.getName());
      return addresses[i].getDefiningOp<device::AddressOp>().getBuffer();
    };
    for (size_t i = 0; i < addresses.size(); ++i)
      for (size_t j = 0; j < addresses.size(); ++j)
        if (i != j && std::max(i, j) >= operandCount &&
            bufferAt(i) == bufferAt(j)) {
          aliased.push_back(i);
          break;
        }
    return aliased;
  }

  /// Copies the initial states to where the first iteration reads them, and
  /// makes a loop of the calls of an iteration.
  void lowerOp(nn::ScanOp op) {
    for (auto [initial, history] :
         llvm::zip(op.getStates(), op.getHistories())) {
      int64_t elements = elementsOf(initial);
      StridedView place = *viewOf(history);
      place.offset += op.getInitialEntry() * elements;
      emit<device::CopyOp>(read(initial), address(place), elements);
      annotate(op, lastEmitted());
      // The cost of the loop is that of its iterations.
      lastEmitted()->setAttr(
          device::kCostKeyAttribute,
          b.getStrArrayAttr({originOf(history),
                             "initial state " + typeText(initial.getType())}));
    }
    IterationPlaces places(
        op, [&](Value buffer) { return symbolOfBuffer(buffer); });
    std::string name =
        (device::stringifySection(section) + "_iterations").str();
    unsigned count = ++loopCount[name];
    if (count > 1)
      name += "_" + std::to_string(count);
    auto loop = places.createLoop(b, name);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&loop.getBody().emplaceBlock());
    iteration = &places;
    for (Operation &inner : op.getIteration().without_terminator()) {
      if (!doesWork(&inner))
        continue;
      b.setLoc(inner.getLoc());
      lower(&inner);
      annotate(&inner, lastEmitted());
    }
    iteration = nullptr;
  }

  void lowerOp(nn::SumPartsOp op) {
    const int64_t columns = elementsOf(op.getResult());
    emit<device::SumPartsOp>(read(op.getParts()), written(op.getResult()),
                             elementsOf(op.getParts()) / columns, columns);
  }

  void lowerOp(RuntimeCallOpInterface op) {
    CallLayouts layouts = *layoutsOf(op);
    buildCall(b, op.getCall(layouts), [&](Value tensor) {
      bool isResult = tensor.getDefiningOp() == op.getOperation();
      return isResult ? written(tensor) : read(tensor);
    });
  }

  void lowerOp(train::ReportLossOp op) {
    emit<device::ReportLossOp>(read(op.getSum()), read(op.getWeight()),
                               op.getPartAttr());
  }

  void lowerOp(train::GradNormOp op) {
    SmallVector<Value> gradients;
    SmallVector<int64_t> counts;
    auto parameters = llvm::map_to_vector(
        op.getParameters().getAsRange<FlatSymbolRefAttr>(),
        [](FlatSymbolRefAttr name) { return name.getValue(); });
    for (Value gradient : op.getGradients()) {
      gradients.push_back(read(gradient));
      counts.push_back(elementsOf(gradient));
    }
    Value scratch = address(memory.lookupScratch(op)->name, b.getF64Type());
    Value scale =
        op.getLossScaleAttr() ? variable(op.getLossScaleAttr()) : Value();
    emit<device::GradNormOp>(scratch, scale, gradients, counts,
                             b.getStrArrayAttr(parameters), op.getTargets());
  }

  struct States {
    SmallVector<Value> addresses;
    ArrayAttr names; ///< Null where there are none.
  };
  /// Returns the states of an update in the order in which its optimizer
  /// declares them.
  template <typename OpT>
  States statesOf(OpT op) {
    States states;
    SmallVector<StringRef> names;
    for (const OptimizerState &state :
         find_optimizer(op.getOptimizer())->states)
      if (FlatSymbolRefAttr name = op.getState(state.name)) {
        states.addresses.push_back(variable(name));
        names.push_back(state.name);
      }
    if (!names.empty())
      states.names = b.getStrArrayAttr(names);
    return states;
  }

  void lowerOp(train::DirectionOp op) {
    States states = statesOf(op);
    Value gradient = read(op.getGradient());
    emit<device::DirectionOp>(op.getOptimizer(), gradient,
                              written(op.getResult()), states.addresses,
                              states.names, elementsOf(op.getResult()));
  }
  void lowerOp(train::UpdateOp op) {
    States states = statesOf(op);
    const PlannedBuffer *scratch = memory.lookupScratch(op);
    emit<device::UpdateOp>(
        op.getOptimizer(), variable(op.getParameterAttr()),
        read(op.getGradient()), states.addresses,
        variableOrNull(op.getCopyAttr()),
        scratch ? address(scratch->name, b.getF64Type()) : Value(),
        states.names, typeOf(op.getParameterAttr()).getShape(), op.getDecay(),
        op.getGroupAttr());
  }
  void lowerOp(train::SnapshotOp op) {
    emit<device::SnapshotOp>(variable(op.getSourceAttr()),
                             variable(op.getSnapshotAttr()),
                             elementsOf(op.getSourceAttr()));
  }
  void lowerOp(train::RestoreOp op) {
    emit<device::RestoreOp>(variable(op.getTargetAttr()),
                            variable(op.getSnapshotAttr()),
                            elementsOf(op.getTargetAttr()));
  }
  void lowerOp(train::RefreshOp op) {
    emit<device::RefreshOp>(variable(op.getCopyAttr()),
                            variable(op.getParameterAttr()),
                            elementsOf(op.getParameterAttr()));
  }
  void lowerOp(train::WriteOp op) {
    Value target = variable(op.getVariableAttr());
    // What many layers write can be one launch, which a copy cannot.
    if (isa<FloatType>(getElementTypeOrSelf(op.getValue().getType())))
      emit<device::RefreshOp>(target, read(op.getValue()),
                              elementsOf(op.getValue()));
    else
      emit<device::CopyOp>(read(op.getValue()), target,
                           elementsOf(op.getValue()));
  }
  void lowerOp(train::AccumulateOp op) {
    Value target = variable(op.getVariableAttr());
    emit<device::AccumulateOp>(read(op.getValue()), target,
                               elementsOf(op.getValue()));
  }
  void lowerOp(train::OutputOp op) {
    if (memory.lookupOutput(bufferOf(op.getValue())) == op)
      return; // has been written there
    Type element =
        cast<RankedTensorType>(op.getValue().getType()).getElementType();
    Value target = address(persistent.symbolOfOutput(op.getName()), element);
    emit<device::CopyOp>(read(op.getValue()), target,
                         elementsOf(op.getValue()));
  }

  Value onHost(Value copy) {
    return address(
        memory.lookupHost(copy)->name,
        cast<train::HostType>(copy.getType()).getTensor().getElementType());
  }
  /// Each transfer of a step has an event of its own.
  int64_t newEvent(Value awaited) {
    return eventOf.try_emplace(awaited, eventOf.size()).first->second;
  }
  void lowerOp(train::OffloadOp op) {
    emit<device::OffloadOp>(read(op.getValue()), onHost(op.getCopy()),
                            transferredElements(op.getValue()),
                            newEvent(op.getCopy()));
  }
  void lowerOp(train::ReloadOp op) {
    Value source = onHost(op.getCopy());
    emit<device::ReloadOp>(source, written(op.getResult()),
                           transferredElements(op.getResult()),
                           newEvent(op.getResult()));
  }
  void lowerOp(train::AwaitOffloadOp op) {
    emit<device::AwaitOp>(eventOf.lookup(op.getCopy()));
  }
  void lowerOp(train::AwaitReloadOp op) {
    emit<device::AwaitOp>(eventOf.lookup(op.getValue()));
  }

  /// Adds checks that the floating-point results of `op` are finite. It skips
  /// results that share another tensor's memory, and ops that yield infinity on
  /// purpose.
  void check(Operation *op) {
    if (hasInfiniteConstant(op) || isa<train::OffloadOp, train::ReloadOp>(op))
      return; // infinity is intended, or the value was checked before
    auto call = dyn_cast<RuntimeCallOpInterface>(op);
    for (Value result : op->getResults()) {
      // A row without scores has minus infinity as its largest one.
      if (call && call.keepsType(result))
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      StridedView place = destinationOf(result);
      if (!isa<FloatType>(type.getElementType()) ||
          !place.hasStrides(stridesInMemory(type)))
        continue;
      int64_t pitch = rowPitchOf(type);
      emit<device::CheckFiniteOp>(
          address(place), type.getNumElements(),
          pitch == rowSizeOf(type)
              ? DenseI64ArrayAttr()
              : b.getDenseI64ArrayAttr({rowSizeOf(type), pitch}),
          checkedCount++, originOf(result));
    }
  }

  static bool hasInfiniteConstant(Operation *op) {
    return op
        ->walk([](arith::ConstantOp constant) {
          auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue());
          bool isInfinite = values && values.isSplat() &&
                            !values.getSplatValue<APFloat>().isFinite();
          return isInfinite ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  //===--------------------------------------------------------------------===//
  // Headings and comments
  //===--------------------------------------------------------------------===//

  /// Creates an op of the step; `annotate` adds its section and comment.
  template <class OpT, class... Arguments>
  void emit(Arguments &&...arguments) {
    b.create<OpT>(std::forward<Arguments>(arguments)..., device::SectionAttr());
  }

  Operation *lastEmitted() {
    return b.getBlock()->empty() ? nullptr : &b.getBlock()->back();
  }

  /// Sets the section and the comment of the op that was emitted for `op`.
  void annotate(Operation *op, Operation *emitted) {
    emitted->setAttr(device::kSectionAttribute,
                     device::SectionAttr::get(b.getContext(), section));
    std::string comment = commentOf(op);
    if (auto reason =
            op->getAttrOfType<StringAttr>(train::kRecomputedAttribute)) {
      comment += " again: " + reason.str();
      emitted->setAttr(device::kRecomputedAttribute, b.getUnitAttr());
    }
    emitted->setAttr("comment", b.getStringAttr(comment));
    CostKey key = costKeyOf(op);
    emitted->setAttr(device::kCostKeyAttribute,
                     b.getStrArrayAttr({key.origin, key.work}));
  }

  static std::string commentOfTransfer(Operation *op) {
    if (auto offload = dyn_cast<train::OffloadOp>(op))
      return originOf(offload.getValue()) + " to the host";
    if (auto reload = dyn_cast<train::ReloadOp>(op))
      return originOf(reload.getResult()) +
             " from the host: " + reload.getReason().str();
    if (auto await = dyn_cast<train::AwaitOffloadOp>(op))
      return originOf(await.getValue()) + " is on the host";
    if (auto await = dyn_cast<train::AwaitReloadOp>(op))
      return originOf(await.getValue()) + " is back";
    return "";
  }

  static std::string commentOf(Operation *op) {
    if (std::string transfer = commentOfTransfer(op); !transfer.empty())
      return transfer;
    llvm::SmallVector<std::string> names;
    for (Value result : op->getResults())
      if (std::string name = originOf(result); !llvm::is_contained(names, name))
        names.push_back(name);
    constexpr size_t kMostNames = 3;
    std::string text = llvm::join(ArrayRef(names).take_front(kMostNames), ", ");
    return names.size() > kMostNames ? text + ", ..." : text;
  }

  train::StepOp step;
  const StepMemory &memory;
  const PersistentMemory &persistent;
  KernelTable &kernels;
  ImplicitLocOpBuilder &b;
  StepPartFinder parts;
  device::Section section = device::Section::Forward;
  int64_t checkedCount = 0;
  const IterationPlaces *iteration =
      nullptr; ///< Of the loop whose iteration is lowered.
  llvm::StringMap<unsigned> loopCount;    ///< By name.
  llvm::DenseMap<Value, int64_t> eventOf; ///< By the value to wait for.
};

} // namespace

bool gpuopt::canLower(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<ElementsAttr>(constant.getValue());
  return !doesWork(op) || dispatchLowered(op, [](auto) {});
}

void gpuopt::lowerStep(train::StepOp step, const StepMemory &memory,
                       const PersistentMemory &persistent, KernelTable &kernels,
                       bool checksResults,
                       llvm::function_ref<std::string()> nameOfPlacing) {
  auto module = step->getParentOfType<ModuleOp>();
  llvm::DenseSet<Operation *> copies;
  for (PlacedInput placed : findPlacedInputs(step))
    copies.insert(placed.copy);
  // Kernels come before the steps that launch them.
  OpBuilder detached(step.getContext());
  OwningOpRef<device::StepOp> placing;
  if (!copies.empty()) {
    placing = device::StepOp::create(detached, step.getLoc(), nameOfPlacing(),
                                     train::StepKind::PlaceInputs);
    placing->getBody().emplaceBlock();
    ImplicitLocOpBuilder b(step.getLoc(), step.getContext());
    b.setInsertionPointToEnd(&placing->getBody().front());
    StepLowering(step, memory, persistent, kernels, b)
        .run(checksResults, [&](Operation *op) { return copies.contains(op); });
  }
  OwningOpRef<device::StepOp> lowered = device::StepOp::create(
      detached, step.getLoc(), step.getSymName(), step.getKind());
  lowered->getBody().emplaceBlock();
  for (StringRef name : {train::TrainDialect::PlanAttrHelper::getNameStr(),
                         train::TrainDialect::ProofAttrHelper::getNameStr()})
    if (Attribute value = step->getAttr(name))
      lowered->getOperation()->setAttr(name, value);
  ImplicitLocOpBuilder b(step.getLoc(), step.getContext());
  b.setInsertionPointToEnd(&lowered->getBody().front());
  StepLowering(step, memory, persistent, kernels, b)
      .run(checksResults, [&](Operation *op) { return !copies.contains(op); });
  if (placing)
    module.getBody()->push_back(placing.release());
  module.getBody()->push_back(lowered.release());
}
