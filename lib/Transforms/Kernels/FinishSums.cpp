//===- FinishSums.cpp - Ends sums in the kernels that read them -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A sum over the pixels of a batch norm is begun by many blocks, and a small
// kernel ends it. Then another small kernel computes, channel by channel, what
// the next pass over the pixels needs. The work of both takes less time than
// their launches. Here the second one ends all of these sums itself: it becomes
// a kernel of column sums, whose threads compute with the sums before they
// write. A sum that others read, such as the gradient of a bias, is a further
// result.
//
// Assumes that kernels have their types and that no other pass looks for the
// last stages of sums between kernels. Comes before kernels-collect-sums, which
// ends the sums that are left.
//
//===----------------------------------------------------------------------===//

#include "ColumnSums.h"
#include "WarpDevicePass.h"

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_FINISHSUMS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Whether a kernel computes each element of its results from elements of its
/// operands, and all results are vectors of this shape.
static bool isElementwise(FusedOp kernel, ArrayRef<int64_t> shape) {
  return llvm::all_of(kernel.getResults(),
                      [&](Value value) { return shapeOf(value) == shape; }) &&
         llvm::all_of(kernel.getBody().front(), [](Operation &op) {
           return isa<BroadcastOp, YieldOp, arith::ConstantOp>(op) ||
                  OpTrait::hasElementwiseMappableTraits(&op);
         });
}

/// Whether nothing but `reader` and what follows it reads results of a kernel.
static bool isReadFrom(FusedOp kernel, FusedOp reader) {
  return llvm::all_of(kernel->getUsers(), [&](Operation *user) {
    Operation *at = reader->getBlock()->findAncestorOpInBlock(*user);
    return at == reader || reader->isBeforeInBlock(at);
  });
}

namespace {

class FinishSums : public kernels::WarpDevicePass<
                       kernels::impl::FinishSumsBase<FinishSums>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  void runOn(const DeviceModel &loaded) override {
    model = loaded;
    SmallVector<FusedOp> kernels;
    getOperation().walk([&](FusedOp kernel) { kernels.push_back(kernel); });
    for (FusedOp kernel : kernels)
      if (llvm::SmallSetVector<Operation *, 2> stages = stagesFor(kernel);
          !stages.empty())
        merge(kernel, stages.getArrayRef());
  }

  static bool areAlike(FusedOp a, FusedOp b) {
    return spaceOf(a) == spaceOf(b) &&
           firstReduction(a).getDims() == firstReduction(b).getDims();
  }

  /// Returns the kernels that end sums for `reader`, all of as many parts, and
  /// can wait until it runs.
  static llvm::SmallSetVector<Operation *, 2> stagesFor(FusedOp reader) {
    llvm::SmallSetVector<Operation *, 2> stages;
    for (Value input : reader.getInputs()) {
      auto stage = input.getDefiningOp<FusedOp>();
      if (!stage || stage->getBlock() != reader->getBlock() ||
          !sumsColumns(stage) || !isElementwise(reader, shapeOf(input)) ||
          !isReadFrom(stage, reader))
        continue;
      if (stages.empty() || areAlike(cast<FusedOp>(stages.front()), stage))
        stages.insert(stage);
    }
    return stages;
  }

  void merge(FusedOp reader, ArrayRef<Operation *> stages) {
    FusedOp merged = build(reader, stages);
    double apart = timeInNanoseconds(reader, model);
    for (Operation *stage : stages)
      apart += timeInNanoseconds(stage, model);
    if (timeInNanoseconds(merged, model) >= apart) {
      merged.erase();
      return;
    }
    SmallVector<OriginAttr> origins;
    unsigned next = 0;
    auto replace = [&](FusedOp kernel) {
      for (OpResult result : kernel->getResults()) {
        origins.push_back(originAttrOf(result));
        result.replaceAllUsesWith(merged.getResult(next++));
      }
    };
    replace(reader);
    reader.erase();
    for (Operation *stage : stages) {
      sumCount += stage->getNumResults();
      replace(cast<FusedOp>(stage));
      stage->erase();
    }
    setOrigins(merged, origins);
    dropUnread(merged);
  }

  /// Builds a kernel behind `reader` with its results and those of the stages.
  static FusedOp build(FusedOp reader, ArrayRef<Operation *> stages) {
    OpBuilder builder(reader->getContext());
    builder.setInsertionPointAfter(reader);
    SmallVector<Value> inputs, yielded, whole;
    llvm::DenseMap<Value, Value> sums;
    auto body = std::make_unique<Block>();
    builder.setInsertionPointToEnd(body.get());
    // Computes what a kernel does, and returns what it yields.
    auto clone = [&](FusedOp kernel) {
      Block &from = kernel.getBody().front();
      IRMapping mapping;
      for (auto [argument, input] :
           llvm::zip(from.getArguments(), kernel.getInputs())) {
        Value sum = sums.lookup(input);
        if (!sum) {
          sum = body->addArgument(argument.getType(), argument.getLoc());
          inputs.push_back(input);
        }
        mapping.map(argument, sum);
      }
      for (Operation &op : from.without_terminator())
        builder.clone(op, mapping);
      return llvm::map_to_vector(yieldedBy(kernel), [&](Value value) {
        return mapping.lookup(value);
      });
    };
    SmallVector<Type> types(reader.getResultTypes());
    for (Operation *stage : stages) {
      llvm::append_range(types, stage->getResultTypes());
      for (auto [result, sum] :
           llvm::zip(stage->getResults(), clone(cast<FusedOp>(stage)))) {
        sums[result] = sum;
        whole.push_back(sum);
      }
    }
    yielded = clone(reader);
    llvm::append_range(yielded, whole);
    YieldOp::create(builder, reader.getLoc(), yielded);
    builder.setInsertionPointAfter(reader);
    auto merged = FusedOp::create(builder, reader.getLoc(), types,
                                  ("sum_" + reader.getLabel()).str(), inputs);
    merged.getBody().push_back(body.release());
    return merged;
  }

  /// Builds the kernel anew without the results that nothing reads.
  static void dropUnread(FusedOp kernel) {
    SmallVector<Type> types;
    SmallVector<Value> yielded;
    SmallVector<OriginAttr> origins;
    SmallVector<OpResult> read;
    for (auto [result, value] :
         llvm::zip(kernel->getResults(), yieldedBy(kernel))) {
      if (result.use_empty())
        continue;
      read.push_back(result);
      types.push_back(result.getType());
      yielded.push_back(value);
      origins.push_back(originAttrOf(result));
    }
    if (read.size() == kernel.getNumResults() || read.empty())
      return;
    kernel.getBody().front().getTerminator()->setOperands(yielded);
    OpBuilder builder(kernel);
    auto smaller = FusedOp::create(builder, kernel.getLoc(), types,
                                   kernel.getLabel(), kernel.getInputs());
    smaller.getBody().takeBody(kernel.getBody());
    setOrigins(smaller, origins);
    for (auto [old, result] : llvm::zip(read, smaller.getResults()))
      old.replaceAllUsesWith(result);
    kernel.erase();
  }

  DeviceModel model;
};

} // namespace
