//===- StepGraph.cpp - A step as a recomputation problem ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/StepGraph.h"

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Kernels/KernelSlice.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace gpuopt;

int StepGraph::lookup(Value value) const {
  auto found = nodeOf.find(sourceOf(value));
  return found == nodeOf.end() ? -1 : found->second;
}

namespace {

class GraphBuilder {
public:
  GraphBuilder(train::StepOp step, const DeviceModel &device)
      : step(step), device(device), outputOf(outputsInPlace(step)) {
    findLastWork();
  }

  StepGraph build() {
    for (Operation &op : step.getBody().front()) {
      if (namesMemory(&op))
        continue;
      if (isa<nn::ConcatOp>(op))
        addConcat(cast<nn::ConcatOp>(op));
      else
        addOp(&op);
    }
    return std::move(graph);
  }

private:
  //===--------------------------------------------------------------------===//
  // State that changes within the step
  //===--------------------------------------------------------------------===//

  /// Finds until when an op can run again. A read gives the value that the
  /// variable has when the read's result is used. So after a variable was
  /// written, an op that reads it can run again only if no work that depends on
  /// the op is left, and no update that is left reads its result.
  void findLastWork() {
    for (Operation &op : step.getBody().front())
      for (FlatSymbolRefAttr written : train::variablesWritten(&op))
        firstWrite.try_emplace(written, &op);
    for (Operation &op : llvm::reverse(step.getBody().front())) {
      if (!isMemoryEffectFree(&op))
        continue;
      Operation *last = lastWorkOf.lookup(&op);
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          keepLater(lastWorkOf[producer], last ? last : &op);
    }
  }

  static void keepLater(Operation *&last, Operation *op) {
    if (!last || last->isBeforeInBlock(op))
      last = op;
  }

  bool readsStaleState(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      auto read = sourceOf(operand).getDefiningOp<train::ReadOp>();
      auto written =
          read ? firstWrite.find(read.getVariableAttr()) : firstWrite.end();
      return written != firstWrite.end() && (isWorkAfter(op, written->second) ||
                                             isReadAfter(op, written->second));
    });
  }

  bool isWorkAfter(Operation *op, Operation *write) const {
    Operation *last = lastWorkOf.lookup(op);
    return last && write->isBeforeInBlock(last);
  }

  static bool isReadAfter(Operation *op, Operation *write) {
    return llvm::any_of(op->getResults(), [&](Value result) {
      return llvm::any_of(readersOf(result), [&](Operation *reader) {
        return write->isBeforeInBlock(reader);
      });
    });
  }

  //===--------------------------------------------------------------------===//
  // Nodes
  //===--------------------------------------------------------------------===//

  int addNode(Operation *op, Value value) {
    int index = graph.nodes.size();
    graph.nodes.push_back({op, value});
    graph.problem.ops.emplace_back();
    if (value)
      graph.nodeOf[value] = index;
    return index;
  }

  void addInputs(int node, ValueRange values) {
    for (Value value : values)
      addInput(node, graph.lookup(value));
  }

  void addInput(int node, int input) {
    auto &inputs = graph.problem.ops[node].inputs;
    if (input >= 0 && !llvm::is_contained(inputs, input))
      inputs.push_back(input);
  }

  /// Places a result that is written into a concatenation: the parts share
  /// memory, and the first one allocates the whole.
  void placeResult(int node, Value result) {
    planning::RecomputeOp &op = graph.problem.ops[node];
    if (Value taken = operandInPlace(cast<OpResult>(result))) {
      op.storage = graph.lookup(taken);
      // The solver need not know that a call changes its operand in place,
      // because such a call is never repeated.
      op.overwrites = isa<nn::FusedOp>(result.getDefiningOp());
      return addInput(node, op.storage);
    }
    Value root = destinationOf(result).buffer;
    int64_t bytes = outputOf.contains(root) ? 0 : alignedSizeInBytes(root);
    if (root == result) {
      op.sizeInBytes = bytes;
      return;
    }
    auto [last, isFirst] = lastPart.try_emplace(root, node);
    if (isFirst) {
      op.sizeInBytes = bytes;
    } else {
      op.storage = last->second;
      addInput(node, last->second);
      last->second = node;
    }
  }

  void addOp(Operation *op) {
    SmallVector<OpResult> results = resultsInOrder(op);
    if (results.empty()) {
      int node = addNode(op, Value());
      addInputs(node, op->getOperands());
      return finish(node, timeInNanoseconds(op, device));
    }
    int first = graph.nodes.size();
    int64_t allBytes = 0;
    for (OpResult result : results) {
      int node = addNode(op, result);
      placeResult(node, result);
      allBytes += graph.problem.ops[node].sizeInBytes;
    }
    // What the iterations of a loop compute is gone after it.
    if (auto scan = dyn_cast<nn::ScanOp>(op))
      for (Value owner : iterationBuffersOf(scan))
        allBytes += alignedSizeInBytes(owner);
    // All results exist while the kernel runs for the first time.
    graph.problem.ops[first].workspaceInBytes =
        allBytes - graph.problem.ops[first].sizeInBytes;
    for (auto [index, result] : llvm::enumerate(results))
      addWork(first + index, result, allBytes);
  }

  static bool isOverwrittenByOther(nn::FusedOp op, OpResult result,
                                   Value operand) {
    return llvm::any_of(op.getResults(), [&](OpResult other) {
      return other != result &&
             op.getOverwritten(other.getResultNumber()) == operand;
    });
  }

  /// Whether the whole kernel would have to run again but has overwritten its
  /// operand.
  static bool needsOverwritten(OpResult result) {
    auto fused = dyn_cast<nn::FusedOp>(result.getOwner());
    return fused && !sliceFor(fused, result.getResultNumber()) &&
           llvm::any_of(fused.getInputs(), [&](Value operand) {
             return isOverwrittenByOther(fused, result, operand);
           });
  }

  /// Sets what it takes to compute a result again.
  void addWork(int node, OpResult result, int64_t allBytes) {
    Operation *op = result.getOwner();
    planning::RecomputeOp &problem = graph.problem.ops[node];
    auto fused = dyn_cast<nn::FusedOp>(op);
    std::optional<KernelSlice> slice =
        fused ? sliceFor(fused, result.getResultNumber()) : std::nullopt;
    if (!slice) {
      problem.repeatWorkspaceInBytes = allBytes - problem.sizeInBytes;
      for (Value operand : op->getOperands())
        if (!fused || !isOverwrittenByOther(fused, result, operand))
          addInput(node, graph.lookup(operand));
      return finish(node, timeInNanoseconds(op, device));
    }
    problem.repeatWorkspaceInBytes = 0;
    for (unsigned input : slice->inputs)
      addInputs(node, fused.getInputs()[input]);
    for (unsigned other : slice->results)
      addInputs(node, op->getResult(other));
    finish(node, timeOfSliceInNanoseconds(fused, result.getResultNumber(),
                                          *slice, device));
  }

  void finish(int node, double cost) {
    Operation *op = graph.nodes[node].op;
    planning::RecomputeOp &problem = graph.problem.ops[node];
    problem.cost = cost;
    problem.recomputable =
        isMemoryEffectFree(op) && !readsStaleState(op) &&
        !isUpdatedInPlace(op) &&
        !(graph.nodes[node].value &&
          needsOverwritten(cast<OpResult>(graph.nodes[node].value)));
    if (RankedTensorType scratch = scratchTypeOf(op))
      problem.workspaceInBytes =
          llvm::alignTo(scratch.getNumElements() * 8, kBufferAlignment);
    llvm::sort(problem.inputs);
  }

  void addConcat(nn::ConcatOp concat) {
    int node = addNode(concat, concat.getResult());
    graph.problem.ops[node].storage = lastPart.lookup(concat.getResult());
    addInputs(node, concat.getInputs());
    llvm::sort(graph.problem.ops[node].inputs);
  }

  train::StepOp step;
  const DeviceModel &device;
  StepGraph graph;
  /// The values that lie in an output's memory, and not in the arena.
  llvm::DenseMap<Value, train::OutputOp> outputOf;
  llvm::DenseMap<Value, int> lastPart; ///< By concatenation.
  llvm::DenseMap<Attribute, Operation *> firstWrite;
  /// The last op that depends on each op through ops without effects.
  llvm::DenseMap<Operation *, Operation *> lastWorkOf;
};

} // namespace

StepGraph gpuopt::buildStepGraph(train::StepOp step,
                                 const DeviceModel &device) {
  return GraphBuilder(step, device).build();
}
