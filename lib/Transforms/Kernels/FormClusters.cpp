//===- FormClusters.cpp - Gathers every kernel's work in one op -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Analysis/Clusters decides; this pass rewrites. It assumes that composites are
// decomposed. Afterwards, all elementwise ops, reductions and generators of a
// step are inside nn.fused ops. A value that several of them need, and that is
// not stored, is computed in each.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_FORMCLUSTERS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// Builds one nn.fused from the values that it writes.
class ClusterBuilder {
public:
  ClusterBuilder(const Clustering &clustering, unsigned index)
      : clustering(clustering), index(index) {}

  FusedOp build(OpBuilder &builder, ArrayRef<Value> outputs) {
    Location loc = builder.getFusedLoc(llvm::map_to_vector(
        outputs, [](Value value) { return value.getLoc(); }));
    Block body;
    OpBuilder inside(builder.getContext());
    inside.setInsertionPointToEnd(&body);
    SmallVector<Value> yielded;
    for (Value output : outputs)
      yielded.push_back(clone(inside, body, output));
    YieldOp::create(inside, loc, yielded);
    auto fused = FusedOp::create(builder, loc, ValueRange(outputs).getTypes(),
                                 kernelLabel(body), reads.getArrayRef());
    setOrigins(fused, llvm::map_to_vector(outputs, originAttrOf));
    fused.getBody().push_back(new Block());
    Block &target = fused.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      BlockArgument copy =
          target.addArgument(argument.getType(), argument.getLoc());
      argument.replaceAllUsesWith(copy);
    }
    target.getOperations().splice(target.end(), body.getOperations());
    return fused;
  }

private:
  /// Returns the value inside the body: computed there, or an argument.
  Value clone(OpBuilder &inside, Block &body, Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    auto home = clustering.clusterOf.find(value);
    bool computedHere =
        isFusible(op) && (home == clustering.clusterOf.end() ||
                          home->second == index || isa<arith::ConstantOp>(op));
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
      computedHere = true;
    if (!computedHere) {
      mapping.map(value, argumentFor(body, value));
      return mapping.lookup(value);
    }
    if (isa<TakeOp>(op)) {
      // The table and the indices are both read from memory, even if they are
      // constants or the kernel computes them as well.
      Operation *take = inside.clone(*op, mapping);
      for (OpOperand &operand : take->getOpOperands())
        operand.set(
            argumentFor(body, op->getOperand(operand.getOperandNumber())));
      return take->getResult(0);
    }
    for (Value operand : op->getOperands())
      clone(inside, body, operand);
    return inside.clone(*op, mapping)->getResult(0);
  }

  Value argumentFor(Block &body, Value value) {
    Value &argument = arguments[value];
    if (!argument) {
      reads.insert(value);
      argument = body.addArgument(value.getType(), value.getLoc());
    }
    return argument;
  }

  const Clustering &clustering;
  unsigned index;
  IRMapping mapping;
  llvm::DenseMap<Value, Value> arguments;
  llvm::SetVector<Value> reads;
};

class FormClusters : public kernels::impl::FormClustersBase<FormClusters> {
  void runOnOperation() override {
    getOperation()->walk([&](train::StepOp step) {
      formClusters(step.getBody().front());
      for (ScanOp scan : step.getBody().getOps<ScanOp>())
        formClusters(scan.getIteration());
    });
  }

  void formClusters(Block &block) {
    Clustering clustering = findClusters(block);
    placed.clear();
    Operation *end =
        &*block.getOperations().insert(block.end(), makeMarker(block));
    for (const ProgramUnit &unit : clustering.order) {
      OpBuilder builder(end);
      if (unit.op)
        moveWithViews(unit.op, end);
      else
        emitCluster(builder, clustering, unit.cluster, end);
    }
    end->erase();
    eraseUnused(block);
    nameGradients(block);
  }

  /// Names gradients that update a parameter after it, and not after the node
  /// whose gradient they are a part of.
  static void nameGradients(Block &block) {
    SymbolTableCollection symbols;
    llvm::DenseSet<Value> named;
    // Parameters whose update reads the result of products on a direction.
    llvm::DenseSet<Attribute> directed;
    auto name = [&](Value gradient, StringRef parameter) {
      auto result = dyn_cast<OpResult>(sourceOf(gradient));
      if (result && !isa<train::ReadOp>(result.getOwner()) &&
          named.insert(result).second)
        setOrigin(result, Origin{parameter.str(), /*isGradient=*/true});
    };
    for (Operation &op : block) {
      if (auto direction = dyn_cast<train::DirectionOp>(op)) {
        name(direction.getGradient(), direction.getOf());
        directed.insert(direction.getOfAttr());
      } else if (auto update = dyn_cast<train::UpdateOp>(op);
                 update && !directed.contains(update.getParameterAttr())) {
        name(update.getGradient(), update.getParameter());
      } else if (auto sum = dyn_cast<train::AccumulateOp>(op)) {
        if (auto variable = symbols.lookupNearestSymbolFrom<train::VariableOp>(
                sum, sum.getVariableAttr());
            variable && variable.getOf())
          name(sum.getValue(), *variable.getOf());
      }
    }
  }

  static void setOrigin(OpResult result, const Origin &origin) {
    Operation *op = result.getOwner();
    SmallVector<OriginAttr> origins =
        llvm::map_to_vector(op->getResults(), originAttrOf);
    origins[result.getResultNumber()] =
        OriginAttr::get(op->getContext(), origin);
    setOrigins(op, origins);
  }

  /// Creates an op that marks the end of the part whose order is final.
  static Operation *makeMarker(Block &block) {
    OpBuilder builder(block.getParentOp()->getContext());
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                     builder.getIndexAttr(0));
  }

  /// Returns the values that something outside of the cluster reads.
  static SmallVector<Value> outputsOf(const Clustering &clustering,
                                      unsigned index) {
    SmallVector<Value> outputs;
    for (Value value : clustering.clusters[index].outputs)
      if (isReadOutside(value, clustering, index))
        outputs.push_back(value);
    return outputs;
  }

  static bool isReadOutside(Value value, const Clustering &clustering,
                            unsigned index) {
    SmallVector<Value> stack{value};
    llvm::DenseSet<Value> seen{value};
    while (!stack.empty()) {
      for (Operation *user : stack.pop_back_val().getUsers()) {
        bool stored = user->getNumResults() == 1 &&
                      clustering.clusterOf.contains(user->getResult(0));
        bool onTheFly = isa<BroadcastOp>(user) || (isFusible(user) && !stored);
        if (!onTheFly && (!stored || clustering.clusterOf.lookup(
                                         user->getResult(0)) != index))
          return true;
        if (onTheFly && seen.insert(user->getResult(0)).second)
          stack.push_back(user->getResult(0));
      }
    }
    return false;
  }

  void emitCluster(OpBuilder &builder, const Clustering &clustering,
                   unsigned index, Operation *end) {
    SmallVector<Value> outputs = outputsOf(clustering, index);
    if (outputs.empty())
      return;
    FusedOp fused = ClusterBuilder(clustering, index).build(builder, outputs);
    for (Value input : fused.getInputs())
      if (Operation *producer = input.getDefiningOp(); isViewOp(producer))
        moveWithViews(producer, fused);
    for (auto [output, result] : llvm::zip(outputs, fused.getResults()))
      output.replaceUsesWithIf(
          result, [&](OpOperand &use) { return use.getOwner() != fused; });
    ++clusterCount;
  }

  /// Moves an op to `before`, together with the views that it reads.
  void moveWithViews(Operation *op, Operation *before) {
    if (!placed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); isViewOp(producer))
        moveWithViews(producer, before);
    op->moveBefore(before);
  }

  llvm::DenseSet<Operation *> placed;

  static void eraseUnused(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && isMemoryEffectFree(&op) && !isa<YieldOp>(op))
        op.erase();
  }
};

} // namespace
