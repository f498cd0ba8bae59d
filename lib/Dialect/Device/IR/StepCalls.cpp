//===- StepCalls.cpp - What the calls of a step are printed as ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"

using namespace mlir;
using namespace gpuopt::device;

using State = PrintedArgument::State;
using Bytes = PrintedArgument::Bytes;
using Printed = std::optional<PrintedCall>;

//===----------------------------------------------------------------------===//
// Variables of the step
//===----------------------------------------------------------------------===//

static bool isOnHost(Value pointer, const SymbolTable &symbols) {
  auto address = pointer ? pointer.getDefiningOp<AddressOp>() : AddressOp();
  auto buffer =
      address ? symbols.lookup<BufferOp>(address.getBuffer()) : BufferOp();
  return buffer && buffer.getKind() == BufferKind::Host;
}

StepVariables gpuopt::device::variablesOf(const Printed &call,
                                          const SymbolTable &symbols) {
  StepVariables taken;
  if (call)
    for (const PrintedArgument &argument : call->arguments) {
      taken.state |= std::holds_alternative<State>(argument.value);
      if (auto *pointer = std::get_if<Value>(&argument.value))
        taken.host |= isOnHost(*pointer, symbols);
    }
  return taken;
}

/// The kernel takes the state if one of its arguments is the state.
StepVariables LaunchOp::getVariables(const SymbolTable &symbols) {
  auto kernel = symbols.lookup<KernelOp>(getKernel());
  return {kernel && llvm::any_of(kernel.getBody().getArgumentTypes(),
                                 llvm::IsaPred<StepStateType>)};
}

/// The state is an argument, a named argument or an option.
StepVariables CallOp::getVariables(const SymbolTable &) {
  WalkResult result = getArguments().walk([](WordAttr word) {
    return word.getValue() == Word::State ? WalkResult::interrupt()
                                          : WalkResult::advance();
  });
  return {result.wasInterrupted()};
}

StepVariables GradNormOp::getVariables(const SymbolTable &) {
  return {/*state=*/true, /*hyper=*/true};
}

//===----------------------------------------------------------------------===//
// Loss and updates
//===----------------------------------------------------------------------===//

Printed ReportLossOp::getPrintedCall() {
  PrintedCall call{"add_loss", {State(), getSum(), getWeight(), "1"}};
  if (getPart())
    call = {"add_loss_part",
            {State(), std::to_string(*getPart()), getSum(), getWeight(), "1"}};
  if ((*this)->getParentOfType<StepOp>().getKind() == train::StepKind::Evaluate)
    call.arguments.push_back("/*evaluating=*/true");
  return call;
}

template <typename OpT>
static SmallVector<Value> declaredStates(OpT op) {
  llvm::StringMap<Value> given;
  if (op.getStateNames())
    for (auto [name, state] :
         llvm::zip(op.getStateNames()->template getAsRange<StringAttr>(),
                   op.getStates()))
      given[name] = state;
  SmallVector<Value> declared;
  for (const gpuopt::OptimizerState &state :
       gpuopt::find_optimizer(op.getOptimizer())->states)
    if (!state.name.empty())
      declared.push_back(given.lookup(state.name));
  return declared;
}
SmallVector<Value> DirectionOp::getDeclaredStates() {
  return declaredStates(*this);
}
SmallVector<Value> UpdateOp::getDeclaredStates() {
  return declaredStates(*this);
}

std::string UpdateOp::getSizeText() {
  if (!takesWholeShape())
    return std::to_string(getNumElements());
  Matrices m = matrices_of({getShape().data(), int(getShape().size())});
  return "{" + std::to_string(m.count) + ", " + std::to_string(m.rows) + ", " +
         std::to_string(m.columns) + "}";
}

std::string UpdateOp::getGroupText() {
  std::string decays = getDecay() ? "true" : "false";
  return getGroup() ? "{" + decays + ", " + std::to_string(*getGroup()) + "}"
                    : decays;
}

Printed DirectionOp::getPrintedCall() {
  PrintedCall call{(getOptimizer() + "_direction").str(), {State()}};
  llvm::append_range(call.arguments, getDeclaredStates());
  llvm::append_values(call.arguments, getGradient(), getDirection(),
                      int64_t(getCount()));
  return call;
}

/// An optimizer with a direction has updated its states there.
Printed UpdateOp::getPrintedCall() {
  PrintedCall call{getOptimizer().str(), {State(), getParameter()}};
  if (!find_optimizer(getOptimizer())->has_direction)
    llvm::append_range(call.arguments, getDeclaredStates());
  std::string group = getGroup() ? "UpdateGroup" + getGroupText()
                                 : "/*decay=*/" + getGroupText();
  llvm::append_values(call.arguments, getGradient(), getSizeText(), group);
  for (Value optional : {getScratch(), getCopy()})
    if (optional)
      call.arguments.push_back(optional);
  return call;
}

//===----------------------------------------------------------------------===//
// Checks, sums and copies
//===----------------------------------------------------------------------===//

Printed CheckFiniteOp::getPrintedCall() {
  PrintedCall call{"check_finite", {State(), getValue()}};
  int64_t count = getCount(), index = getIndex();
  if (std::optional<ArrayRef<int64_t>> rows = getRows()) {
    call.function = "check_finite_rows";
    llvm::append_values(call.arguments, count / (*rows)[0], (*rows)[0],
                        "/*pitch=*/" + std::to_string((*rows)[1]));
  } else {
    call.arguments.push_back(count);
  }
  call.arguments.push_back(index);
  return call;
}

Printed SumPartsOp::getPrintedCall() {
  return PrintedCall{
      "sum_parts",
      {int64_t(getCount()), int64_t(getColumns()), getParts(), getSum()}};
}

Printed AccumulateOp::getPrintedCall() {
  return PrintedCall{"accumulate",
                     {State(), getTarget(), getValue(), int64_t(getCount())}};
}

Printed SnapshotOp::getPrintedCall() {
  return PrintedCall{"snapshot",
                     {State(), getSnapshot(), getValue(), int64_t(getCount())}};
}

Printed RestoreOp::getPrintedCall() {
  return PrintedCall{"restore",
                     {State(), getValue(), getSnapshot(), int64_t(getCount())}};
}

Printed RefreshOp::getPrintedCall() {
  return PrintedCall{"refresh", {getCopy(), getValue(), int64_t(getCount())}};
}

/// Returns the size of as many elements as an op copies.
template <typename OpT>
static Bytes bytesOf(OpT op) {
  return {int64_t(op.getCount()),
          cast<PtrType>(op.getSource().getType()).getElement()};
}

Printed CopyOp::getPrintedCall() {
  return PrintedCall{"copy", {getTarget(), getSource(), bytesOf(*this)}};
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

Printed OffloadOp::getPrintedCall() {
  return PrintedCall{
      "offload",
      {int64_t(getEvent()), getTarget(), getSource(), bytesOf(*this)}};
}

Printed ReloadOp::getPrintedCall() {
  return PrintedCall{
      "reload",
      {int64_t(getEvent()), getTarget(), getSource(), bytesOf(*this)}};
}

Printed AwaitOp::getPrintedCall() {
  return PrintedCall{"await", {int64_t(getEvent())}};
}
