//===- ApplySchedule.cpp - Puts repeated work into a step -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/ApplySchedule.h"

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Kernels/KernelSlice.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

namespace {

class ScheduleRewriter {
public:
  explicit ScheduleRewriter(const StepGraph &graph)
      : graph(graph), builder(graph.nodes.front().op) {}

  std::vector<Repeat> run(const planning::Schedule &schedule) {
    int next = 0; // first executions are in order
    for (int index : schedule) {
      if (planning::isReload(index)) {
        reload(planning::opOf(index));
        continue;
      }
      const StepGraph::Node &node = graph.nodes[index];
      if (index < next) {
        repeat(index);
        continue;
      }
      // The results of one op are consecutive; the op runs at the first of
      // them.
      if (index == 0 || graph.nodes[index - 1].op != node.op)
        runFirst(node.op);
      ++next;
    }
    for (OffloadOp offload : offloads)
      awaitOffload(offload);
    return std::move(repeats);
  }

private:
  void runFirst(Operation *op) {
    builder.setInsertionPoint(op);
    readsOf[op] = llvm::to_vector(op->getOperands());
    for (OpOperand &operand : op->getOpOperands())
      operand.set(current(operand.get()));
    builder.setInsertionPointAfter(op);
  }

  /// Returns the latest version of a value. For a view, that is a new view of
  /// the latest version of its source.
  Value current(Value value) {
    if (!isViewOp(value.getDefiningOp())) {
      auto found = latest.find(value);
      return found == latest.end() ? value : found->second;
    }
    Operation *view = value.getDefiningOp();
    Value source = current(view->getOperand(0));
    if (source == view->getOperand(0))
      return value;
    Value &known = views[{view, source}];
    if (!known) {
      IRMapping mapping;
      mapping.map(view->getOperand(0), source);
      known = builder.clone(*view, mapping)->getResult(0);
    }
    return known;
  }

  void reload(int index) {
    const StepGraph::Node &node = graph.nodes[index];
    const planning::RecomputeOp &op = graph.problem.ops[index];
    Value value = node.value;
    Value &copy = copies[value];
    if (!copy) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfter(node.op);
      auto type = cast<RankedTensorType>(value.getType());
      offloads.push_back(OffloadOp::create(builder, value.getLoc(),
                                           HostType::get(type), value));
      copy = offloads.back().getCopy();
    }
    auto reload =
        ReloadOp::create(builder, value.getLoc(), value.getType(), "", copy);
    nameAfter(reload, value);
    AwaitReloadOp::create(builder, value.getLoc(), reload.getResult());
    latest[value] = reload.getResult();
    repeats.push_back({reload, value, *op.offloadCost, op.cost});
  }

  /// Returns the last op that reads `value`, directly or through views.
  static Operation *lastReader(Value value, Operation *last) {
    for (Operation *reader : readersOf(value))
      if (last->isBeforeInBlock(reader))
        last = reader;
    return last;
  }

  void awaitOffload(OffloadOp offload) {
    builder.setInsertionPointAfter(lastReader(offload.getValue(), offload));
    AwaitOffloadOp::create(builder, offload.getLoc(), offload.getCopy(),
                           offload.getValue());
  }

  void repeat(int index) {
    const StepGraph::Node &node = graph.nodes[index];
    unsigned number = cast<OpResult>(node.value).getResultNumber();
    if (isWholeStill(node.op))
      return;
    auto fused = dyn_cast<nn::FusedOp>(node.op);
    std::optional<KernelSlice> slice =
        fused ? sliceFor(fused, number) : std::nullopt;
    Operation *op;
    if (slice)
      op = cloneSlice(fused, number, *slice);
    else if (auto concat = dyn_cast<nn::ConcatOp>(node.op))
      op = cloneConcat(concat);
    else
      op = cloneWhole(node.op);
    latest[node.value] = op->getResult(slice ? 0 : number);
    repeats.push_back({op, node.value, graph.problem.ops[index].cost});
  }

  /// Whether `op` is a concatenation of which no part was computed again: then
  /// its memory, which is that of its parts, still has it.
  bool isWholeStill(Operation *op) {
    auto concat = dyn_cast<nn::ConcatOp>(op);
    if (!concat)
      return false;
    auto latestWhole =
        cast<nn::ConcatOp>(current(concat.getResult()).getDefiningOp());
    return llvm::equal(
        llvm::map_range(readsOf[op], [&](Value part) { return current(part); }),
        latestWhole.getInputs());
  }

  Operation *cloneWhole(Operation *op) {
    SmallVector<Value> reads = llvm::map_to_vector(
        readsOf[op], [&](Value read) { return current(read); });
    Operation *clone = builder.clone(*op);
    clone->setOperands(reads);
    return clone;
  }

  /// Gives `again` the name of `value` for reports.
  void nameAfter(Operation *again, Value value) {
    setOrigins(again, originAttrOf(value));
    if (int number = tensorNameOf(value).result; number >= 0)
      nn::NNDialect::ResultAttrHelper(again->getContext())
          .setAttr(again, builder.getI64IntegerAttr(number));
  }

  Operation *cloneSlice(nn::FusedOp op, unsigned result,
                        const KernelSlice &slice) {
    Block &body = op.getBody().front();
    Operation *yield = body.getTerminator();
    SmallVector<Value> reads, inner;
    for (unsigned input : slice.inputs) {
      reads.push_back(current(readsOf[op][input]));
      inner.push_back(body.getArgument(input));
    }
    for (unsigned other : slice.results) {
      reads.push_back(current(op.getResult(other)));
      inner.push_back(yield->getOperand(other));
    }
    Value value = op.getResult(result);
    auto clone = nn::FusedOp::create(
        builder, op.getLoc(), TypeRange(value.getType()), op.getLabel(), reads);
    nameAfter(clone, value);
    Block &target = clone.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value from : inner)
      mapping.map(from, target.addArgument(from.getType(), from.getLoc()));
    OpBuilder inside = OpBuilder::atBlockEnd(&target);
    for (Operation *work : slice.ops)
      inside.clone(*work, mapping);
    nn::YieldOp::create(inside, op.getLoc(),
                        mapping.lookup(yield->getOperand(result)));
    clone.setLabel(kernelLabel(target));
    if (Value overwritten = op.getOverwritten(result))
      clone.setInPlace(ArrayRef<int64_t>(
          llvm::find(slice.inputs, (*op.getInPlace())[result]) -
          slice.inputs.begin()));
    return clone;
  }

  /// A part that was not computed again is copied from the earlier
  /// concatenation, because a value can be written in place into one
  /// concatenation only.
  Operation *cloneConcat(nn::ConcatOp op) {
    Value whole = current(op.getResult());
    auto earlier = cast<nn::ConcatOp>(whole.getDefiningOp());
    SmallVector<Value> parts;
    for (auto [index, read] : llvm::enumerate(readsOf[op])) {
      Value part = current(read);
      parts.push_back(part == earlier.getInputs()[index]
                          ? copyOfPart(earlier, index)
                          : part);
    }
    Operation *clone = builder.clone(*op);
    clone->setOperands(parts);
    return clone;
  }

  Value copyOfPart(nn::ConcatOp whole, unsigned index) {
    auto type = cast<RankedTensorType>(whole.getInputs()[index].getType());
    SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1);
    for (unsigned before = 0; before < index; ++before)
      offsets[whole.getDim()] +=
          cast<RankedTensorType>(whole.getInputs()[before].getType())
              .getDimSize(whole.getDim());
    Value slice =
        nn::SliceOp::create(builder, whole.getLoc(), whole.getResult(), offsets,
                            type.getShape(), strides);
    auto copy = nn::FusedOp::create(builder, whole.getLoc(), TypeRange(type),
                                    "copy", ValueRange(slice));
    Block &body = copy.getBody().emplaceBlock();
    Value argument = body.addArgument(type, whole.getLoc());
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    nn::YieldOp::create(inside, whole.getLoc(), argument);
    repeats.push_back({copy, whole.getInputs()[index], 0});
    return copy.getResult(0);
  }

  const StepGraph &graph;
  OpBuilder builder;
  llvm::DenseMap<Operation *, SmallVector<Value>>
      readsOf; ///< Reads before the first execution.
  llvm::DenseMap<Value, Value> latest;
  llvm::DenseMap<std::pair<Operation *, Value>, Value> views;
  llvm::DenseMap<Value, Value> copies; ///< Copies on the host.
  SmallVector<OffloadOp> offloads;
  std::vector<Repeat> repeats;
};

} // namespace

std::vector<Repeat> train::applySchedule(const StepGraph &graph,
                                         const planning::Schedule &schedule) {
  return ScheduleRewriter(graph).run(schedule);
}

RecomputeOp train::wrapRepeat(Operation *op, StringRef reason) {
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  auto wrapped = RecomputeOp::create(builder, op->getLoc(),
                                     op->getResultTypes(), reason, operands);
  Block &body = wrapped.getBody().emplaceBlock();
  SmallVector<Location> locations = llvm::map_to_vector(
      operands, [](Value operand) { return operand.getLoc(); });
  body.addArguments(ValueRange(operands).getTypes(), locations);
  op->replaceAllUsesWith(wrapped.getResults());
  op->moveBefore(&body, body.end());
  op->setOperands(body.getArguments());
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inside, op->getLoc(), op->getResults());
  return wrapped;
}
