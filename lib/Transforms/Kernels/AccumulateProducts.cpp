//===- AccumulateProducts.cpp - Adds calls' results up in one memory ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs before clusters are formed, when products have their final layout: a sum
// that stays would become one kernel that reads all its terms, so all of them
// would have to exist at once. Sums of the forward stay, because accumulated
// ones could not be computed again. The result differs from separate additions
// by rounding only, and is always the same.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_ACCUMULATEPRODUCTS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// When a value can be computed: after the last library call that it depends on
/// through elementwise work and reductions. These can follow the call at once,
/// wherever they are in the program.
class Readiness {
public:
  explicit Readiness(Block &block) {
    for (auto [position, op] : llvm::enumerate(block))
      positions[&op] = position;
  }

  int64_t of(Operation *op) {
    int64_t ready = 0;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp()) {
        bool followsAtOnce = isViewOp(producer) || isFusible(producer);
        auto known =
            followsAtOnce ? readyAt.find(producer) : positions.find(producer);
        if (followsAtOnce && known == readyAt.end())
          known = readyAt.try_emplace(producer, of(producer)).first;
        ready = std::max(ready, known->second);
      }
    return ready;
  }

private:
  llvm::DenseMap<Operation *, int64_t> positions, readyAt;
};

class AccumulateProducts
    : public kernels::impl::AccumulateProductsBase<AccumulateProducts> {
  void runOnOperation() override {
    getOperation()->walk([&](train::StepOp step) {
      SmallVector<arith::AddFOp> sums;
      if (train::ReportLossOp loss = step.getWholeLoss())
        for (Operation *op = loss; op; op = op->getNextNode())
          if (auto sum = dyn_cast<arith::AddFOp>(op))
            sums.push_back(sum);
      llvm::DenseSet<Operation *> done;
      Readiness readiness(step.getBody().front());
      for (arith::AddFOp sum : llvm::reverse(sums)) // the outermost first
        if (!done.contains(sum))
          accumulate(sum, readiness, done);
    });
  }

  /// A tree of additions: the ops from the root on, and the terms.
  struct Sum {
    SmallVector<arith::AddFOp> additions;
    SmallVector<RuntimeCallOpInterface> calls; // that take an accumulator
    SmallVector<Value> others;

    void add(arith::AddFOp op) {
      additions.push_back(op);
      addTerm(op.getLhs());
      addTerm(op.getRhs());
    }
    void addTerm(Value value) {
      auto inner = value.getDefiningOp<arith::AddFOp>();
      auto call = value.getDefiningOp<RuntimeCallOpInterface>();
      if (inner && inner->hasOneUse())
        add(inner);
      else if (call && call->hasOneUse() && call.takesAccumulator() &&
               (!isProduct(call) || canReadOperands(call)))
        calls.push_back(call);
      else
        others.push_back(value);
    }
  };

  void accumulate(arith::AddFOp root, Readiness &readiness,
                  llvm::DenseSet<Operation *> &done) {
    Sum sum;
    sum.add(root);
    done.insert(sum.additions.begin(), sum.additions.end());
    if (sum.calls.size() < 2)
      return;
    // Products come first, so that spare rows of all of them can be one tensor's.
    llvm::sort(sum.calls, [&](Operation *a, Operation *b) {
      int64_t left = readiness.of(a), right = readiness.of(b);
      if (isProduct(a) != isProduct(b))
        return isProduct(a);
      return left != right ? left < right : a->isBeforeInBlock(b);
    });
    OpBuilder builder(root);
    Location loc = root.getLoc();
    for (auto [before, call] :
         llvm::zip(sum.calls, ArrayRef(sum.calls).drop_front()))
      if (call->isBeforeInBlock(before))
        call->moveAfter(before);
    Value readers = root.getResult();
    Value total = sum.calls.back()->getResult(0);
    for (Value other : sum.others)
      total = arith::AddFOp::create(builder, loc, total, other);
    readers.replaceAllUsesWith(total);
    for (arith::AddFOp addition : sum.additions)
      addition.erase();
    chain(sum.calls);
  }

  void chain(ArrayRef<RuntimeCallOpInterface> calls) {
    for (auto [before, call] : llvm::zip(calls, calls.drop_front())) {
      RuntimeCallOpInterface(call).setAccumulator(before->getResult(0));
      ++callCount;
    }
  }
};

} // namespace
