//===- PlanReport.cpp - What a program allocates, and for what ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/PlanReport.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/PersistentMemory.h"
#include "gpuopt/Analysis/Memory/StepGraph.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/BudgetCost.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace gpuopt;

static std::string numberOf(size_t, int number) {
  return std::to_string(number);
}

static SmallVector<TensorName *> namesOf(std::vector<LiveTensor> &tensors) {
  return llvm::map_to_vector(tensors,
                             [](LiveTensor &tensor) { return &tensor.name; });
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// Returns the first op after `loss` that reads `value`, directly or through
/// views.
static Operation *firstBackwardReader(Value value, Operation *loss) {
  Operation *first = nullptr;
  for (Operation *reader : readersOf(value))
    if (!isa<train::OffloadOp, train::AwaitOffloadOp>(reader) &&
        loss->isBeforeInBlock(reader) &&
        (!first || reader->isBeforeInBlock(first)))
      first = reader;
  return first;
}

StringRef gpuopt::nameOf(Fate fate) {
  switch (fate) {
  case Fate::Saved:
    return "saved";
  case Fate::Recomputed:
    return "recomputed";
  case Fate::Offloaded:
    return "offloaded";
  }
  return "";
}

static std::string nameOfWork(Operation *op) {
  return op->getNumResults() ? originOf(op->getResult(0))
                             : op->getName().getStringRef().str();
}

/// Returns the name of the tensor that is computed again.
static TensorName nameOfRepeated(train::RecomputeOp repeat, unsigned result) {
  Operation *yield = repeat.getBody().front().getTerminator();
  return tensorNameOf(yield->getOperand(result));
}

static void describeDecisions(train::StepOp step,
                              std::vector<TensorDecision> &decisions) {
  Operation *loss = step.getWholeLoss();
  if (!loss)
    return;
  for (Operation &op : step.getBody().front()) {
    if (namesMemory(&op) || isa<train::OffloadOp>(op))
      continue;
    auto repeat = dyn_cast<train::RecomputeOp>(op);
    auto reload = dyn_cast<train::ReloadOp>(op);
    for (OpResult result : op.getResults()) {
      int64_t bytes = sizeInBytes(result);
      if (repeat)
        decisions.push_back({nameOfRepeated(repeat, result.getResultNumber()),
                             bytes, Fate::Recomputed,
                             repeat.getReason().str()});
      else if (reload)
        decisions.push_back({tensorNameOf(result), bytes, Fate::Offloaded,
                             reload.getReason().str()});
      else if (Operation *reader = op.isBeforeInBlock(loss)
                                       ? firstBackwardReader(result, loss)
                                       : nullptr)
        decisions.push_back(
            {tensorNameOf(result), bytes, Fate::Saved,
             "the backward of '" + nameOfWork(reader) + "' reads it first"});
    }
  }
}

std::vector<TensorDecision> gpuopt::describeDecisions(ModuleOp module) {
  std::vector<TensorDecision> decisions;
  for (train::StepOp step : module.getOps<train::StepOp>())
    if (step.getKind() == train::StepKind::Micro)
      ::describeDecisions(step, decisions);
  for (Fate fate : {Fate::Saved, Fate::Recomputed, Fate::Offloaded}) {
    SmallVector<TensorName *> names;
    for (TensorDecision &decision : decisions)
      if (decision.fate == fate)
        names.push_back(&decision.tensor);
    tellApart(names, numberOf);
  }
  return decisions;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static void describePersistent(ModuleOp module, MemoryReport &report) {
  SymbolTable symbols(module);
  llvm::MapVector<StringRef, int64_t> bytes;
  for (StringRef name : {"parameters", "half-precision copies", "gradients",
                         "optimizer state", "buffers", "inputs", "outputs",
                         "constants", "library workspace", "staged batches"})
    bytes[name] = 0;
  int64_t rest = report.persistentBytes;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    if (buffer.getKind() == device::BufferKind::Arena ||
        buffer.getKind() == device::BufferKind::Host)
      continue;
    auto name = buffer.getVariableAttr();
    auto variable =
        name ? symbols.lookup<train::VariableOp>(name.getValue()) : nullptr;
    bytes[nameOfPart(buffer.getKind(), variable)] += buffer.getSizeInBytes();
    rest -= buffer.getSizeInBytes();
  }
  bytes["scalars and padding"] = rest;
  for (auto &[name, count] : bytes)
    if (count != 0)
      report.persistent.push_back({name.str(), count});
}

/// Returns the bytes of the state that a parameter would have if this optimizer
/// were chosen.
static int64_t stateBytes(const OptimizerInfo &chosen,
                          train::VariableOp parameter) {
  int64_t bytes = 0;
  for (const OptimizerState &state :
       train::optimizerOf(chosen, parameter).states)
    if (RankedTensorType type = train::optimizerStateType(
            state, cast<RankedTensorType>(parameter.getType()));
        type && state.needs.empty())
      bytes += device::sizeInBytes(type);
  return bytes;
}

static void describeOptimizers(ModuleOp module, MemoryReport &report) {
  SymbolTable symbols(module);
  SmallVector<train::VariableOp> parameters;
  module.walk([&](device::GradNormOp op) {
    for (auto name : op.getParameters().getAsRange<StringAttr>())
      parameters.push_back(symbols.lookup<train::VariableOp>(name));
  });
  if (parameters.empty())
    return;
  for (const OptimizerInfo &optimizer : kOptimizers) {
    int64_t bytes = 0;
    for (train::VariableOp parameter : parameters)
      bytes += stateBytes(optimizer, parameter);
    report.optimizers.push_back({std::string(optimizer.name), bytes});
  }
}

static TensorName nameOfBuffer(device::BufferOp buffer) {
  std::optional<uint64_t> result = buffer.getResultNumber();
  return {buffer.getOrigin().str(), result ? (int)*result : -1,
          typeText(buffer.getType())};
}

/// Notes the time point at which most bytes of these buffers of one step are
/// alive, and which buffers are alive then.
static void describePeak(ArrayRef<device::BufferOp> buffers,
                         MemoryReport &report) {
  std::map<int64_t, int64_t> change;
  for (device::BufferOp buffer : buffers) {
    change[*buffer.getLiveFrom()] += buffer.getSizeInBytes();
    change[*buffer.getLiveTo()] -= buffer.getSizeInBytes();
  }
  int64_t alive = 0, most = -1;
  for (auto [timePoint, bytes] : change) {
    alive += bytes;
    if (alive > most) {
      most = alive;
      report.peakTimePoint = timePoint;
    }
  }
  for (device::BufferOp buffer : buffers) {
    int64_t from = *buffer.getLiveFrom(), to = *buffer.getLiveTo();
    if (from > report.peakTimePoint || to <= report.peakTimePoint)
      continue;
    report.alive.push_back({nameOfBuffer(buffer), buffer.getSizeInBytes(),
                            buffer.getSymName().str()});
    if (from == report.peakTimePoint)
      report.peakOrigin = buffer.getOrigin().str();
  }
  tellApart(namesOf(report.alive),
            [&](size_t i, int) { return report.alive[i].buffer; });
  llvm::sort(report.alive, [](const auto &a, const auto &b) {
    return std::tie(b.bytes, a.name.origin, a.name.result, a.buffer) <
           std::tie(a.bytes, b.name.origin, b.name.result, b.buffer);
  });
}

static void describeTransfers(train::TransfersAttr transfers,
                              MemoryReport &report) {
  if (!transfers)
    return;
  report.transferBytes = transfers.getBytes();
  report.transferMilliseconds =
      transfers.getBusyNanoseconds().getValueAsDouble() / 1e6;
  report.transferWaitMilliseconds =
      transfers.getWaitedNanoseconds().getValueAsDouble() / 1e6;
}

/// Describes what a budget costs the step of the report. The plan is null if
/// nothing is computed again.
static void describeCost(train::PlanAttr plan, const CostReport &costs,
                         MemoryReport &report) {
  if (plan) {
    report.plainArenaBytes = plan.getPlainArenaBytes();
    describeTransfers(plan.getTransfers(), report);
  }
  train::BudgetCost cost = train::budgetCostOf(
      plan, costs.step.nanosecondsOfRuns.lookup(report.step),
      costs.withoutBudget.nanosecondsOfRuns.lookup(report.step));
  report.plainMilliseconds = cost.withoutBudget / 1e6;
  report.addedPercent = cost.percentOf(cost.added);
  report.recomputePercent = cost.percentOf(cost.recompute);
  report.lowerBoundPercent = cost.percentOf(cost.lowerBound);
}

MemoryReport gpuopt::describeMemory(ModuleOp module, const CostReport &costs) {
  MemoryReport report;
  device::MemoryOp memory = *module.getOps<device::MemoryOp>().begin();
  report.arenaBytes = memory.getArenaBytes();
  report.persistentBytes = memory.getPersistentBytes();
  report.totalBytes = report.arenaBytes + report.persistentBytes;
  report.hostBytes = memory.getHostBytes();
  describePersistent(module, report);
  describeOptimizers(module, report);
  llvm::MapVector<StringRef, SmallVector<device::BufferOp>> arenas;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>())
    if (buffer.getKind() == device::BufferKind::Arena)
      arenas[*buffer.getStep()].push_back(buffer);
  int64_t highest = -1;
  for (auto &[step, buffers] : arenas) {
    int64_t height = 0;
    for (device::BufferOp buffer : buffers)
      height = std::max(height,
                        (int64_t)buffer.getOffset() + buffer.getSizeInBytes());
    if (height > highest) {
      highest = height;
      report.step = step.str();
    }
  }
  if (highest >= 0)
    describePeak(arenas[report.step], report);
  report.plainArenaBytes = report.arenaBytes;
  train::TrainDialect::PlanAttrHelper plans(module.getContext());
  train::PlanAttr plan;
  for (device::StepOp step : module.getOps<device::StepOp>())
    if (step.getSymName() == report.step)
      plan = plans.getAttr(step);
  describeCost(plan, costs, report);
  return report;
}

UnmetReport gpuopt::describeUnmet(train::UnmetBudgetAttr unmet) {
  UnmetReport report;
  if (!unmet)
    return report;
  report.smallestBytes = unmet.getSmallestBytes();
  report.lowerLimitBytes = unmet.getLowerLimitBytes();
  report.peakOrigin = unmet.getLimitOrigin().str();
  for (train::MemoryPartAttr part : unmet.getPersistent())
    report.persistent.push_back({part.getName().str(), part.getBytes()});
  for (train::LiveTensorAttr tensor : unmet.getTensors())
    report.alive.push_back(
        {{tensor.getOrigin().str(), (int)tensor.getResult().value_or(-1),
          tensor.getType().str()},
         tensor.getBytes()});
  tellApart(namesOf(report.alive), numberOf);
  return report;
}

double Planned::stepMilliseconds() const {
  return (costs.step.nanoseconds + nanosecondsOfRepeats) / 1e6;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Object toJson(const TensorName &name, int64_t bytes) {
  llvm::json::Object object{
      {"origin", name.origin}, {"type", name.type}, {"bytes", bytes}};
  if (name.result >= 0)
    object["result"] = name.result;
  if (!name.which.empty())
    object["which"] = name.which;
  return object;
}

llvm::json::Object gpuopt::toJson(const LiveTensor &tensor) {
  llvm::json::Object object = ::toJson(tensor.name, tensor.bytes);
  if (!tensor.buffer.empty())
    object["buffer"] = tensor.buffer;
  return object;
}

static llvm::json::Object
toJson(ArrayRef<std::pair<std::string, int64_t>> parts) {
  llvm::json::Object object;
  for (auto &[name, bytes] : parts)
    object[name] = bytes;
  return object;
}

static llvm::json::Array toJson(ArrayRef<LiveTensor> alive) {
  llvm::json::Array array;
  for (const LiveTensor &tensor : alive)
    array.push_back(toJson(tensor));
  return array;
}

bool gpuopt::takesMoreTime(double percent) { return percent >= 0.005; }

llvm::json::Object gpuopt::toJson(const UnmetReport &report) {
  llvm::json::Array fitting;
  for (const std::vector<std::string> &flags : report.fittingFlags)
    fitting.push_back(llvm::json::Array(flags));
  return llvm::json::Object{
      {"smallest_budget_bytes", report.smallestBytes},
      {"lower_limit_bytes", report.lowerLimitBytes},
      {"persistent", ::toJson(report.persistent)},
      {"would_fit_with", std::move(fitting)},
      {"peak", llvm::json::Object{{"origin", report.peakOrigin},
                                  {"alive", ::toJson(report.alive)}}}};
}

llvm::json::Object gpuopt::toJson(const MemoryReport &report) {
  return llvm::json::Object{
      {"total_bytes", report.totalBytes},
      {"arena_bytes", report.arenaBytes},
      {"plain_arena_bytes", report.plainArenaBytes},
      {"persistent_bytes", report.persistentBytes},
      {"host_bytes", report.hostBytes},
      {"transfer_bytes", report.transferBytes},
      {"transfer_ms", report.transferMilliseconds},
      {"transfer_wait_ms", report.transferWaitMilliseconds},
      {"persistent", ::toJson(report.persistent)},
      {"optimizers", ::toJson(report.optimizers)},
      {"step", report.step},
      {"plain_step_ms", report.plainMilliseconds},
      {"added_percent", report.addedPercent},
      {"recompute_percent", report.recomputePercent},
      {"lower_bound_percent", report.lowerBoundPercent},
      {"peak", llvm::json::Object{{"time_point", report.peakTimePoint},
                                  {"origin", report.peakOrigin},
                                  {"alive", ::toJson(report.alive)}}}};
}

llvm::json::Array gpuopt::toJson(const std::vector<TensorDecision> &decisions) {
  llvm::json::Array array;
  for (const TensorDecision &decision : decisions) {
    llvm::json::Object object = ::toJson(decision.tensor, decision.bytes);
    object["decision"] = nameOf(decision.fate);
    object["reason"] = decision.reason;
    array.push_back(std::move(object));
  }
  return array;
}
