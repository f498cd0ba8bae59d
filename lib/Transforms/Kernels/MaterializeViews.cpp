//===- MaterializeViews.cpp - Copies where a layout cannot be read --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs after clusters are formed: outside of nn.fused there are only views,
// calls and ops that change state. Analysis/Buffers says how values lie in
// memory, and a call (RuntimeCallOpInterface) says which layouts it can read.
// What it cannot read is copied.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/Builders.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_MATERIALIZEVIEWS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// Builds a kernel that copies `value` into dense memory of its own.
Value copyOf(OpBuilder &builder, Location loc, Value value) {
  auto fused = FusedOp::create(builder, loc, TypeRange(value.getType()), "copy",
                               ValueRange(value));
  Block &body = fused.getBody().emplaceBlock();
  Value argument = body.addArgument(value.getType(), loc);
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inside, loc, argument);
  return fused.getResult(0);
}

void copyOperand(OpOperand &operand) {
  OpBuilder builder(operand.getOwner());
  operand.set(copyOf(builder, operand.getOwner()->getLoc(), operand.get()));
}

/// The copies that calls of one block read, by what they are copies of.
using Copies = llvm::DenseMap<Value, Value>;

/// Has a call read a copy: the one that an earlier call reads, if there is one.
/// The schedule may still make it anew.
void shareCopy(OpOperand &operand, Copies &copies) {
  Value &copy = copies[operand.get()];
  if (!copy) {
    OpBuilder builder(operand.getOwner());
    copy = copyOf(builder, operand.getOwner()->getLoc(), operand.get());
  }
  operand.set(copy);
}

class MaterializeViews
    : public kernels::impl::MaterializeViewsBase<MaterializeViews> {
  void runOnOperation() override {
    getOperation()->walk([&](train::StepOp step) {
      copyStaleReads(step.getBody().front());
      Copies copies;
      for (Operation &op : llvm::make_early_inc_range(step.getBody().front()))
        materializeOperands(&op, copies);
      for (ScanOp scan : step.getBody().getOps<ScanOp>())
        materializeIteration(scan);
    });
  }

  static void materializeIteration(ScanOp scan) {
    Operation *yield = scan.getIteration().getTerminator();
    Copies copies;
    for (Operation &op :
         llvm::make_early_inc_range(scan.getIteration().without_terminator()))
      materializeOperands(&op, copies);
    // Each of the values that are yielded is written to where the loop's
    // result has its entry, so it has memory of its own.
    llvm::SmallDenseSet<Value> written;
    for (OpOperand &operand : yield->getOpOperands())
      if (!ownsMemory(operand.get()) || !written.insert(operand.get()).second)
        copyOperand(operand);
  }

  /// Updates run one after the other. If one reads a variable that an earlier
  /// one changes (the gradient of a weight can be another weight), all of them
  /// read a copy.
  static void copyStaleReads(Block &block) {
    llvm::DenseMap<Attribute, Operation *> firstWrite;
    for (Operation &op : block) {
      if (isMemoryEffectFree(&op))
        continue;
      for (Value operand : op.getOperands())
        if (auto read = bufferOf(operand).getDefiningOp<train::ReadOp>())
          if (Operation *write = firstWrite.lookup(read.getVariableAttr()))
            copyForUpdates(operand, write);
      for (FlatSymbolRefAttr written : train::variablesWritten(&op))
        firstWrite.try_emplace(written, &op);
    }
  }

  static void copyForUpdates(Value value, Operation *firstWrite) {
    Operation *first = firstWrite;
    for (Operation *user : value.getUsers())
      if (!isMemoryEffectFree(user) && user->isBeforeInBlock(first))
        first = user;
    OpBuilder builder(first);
    Value copy = copyOf(builder, first->getLoc(), value);
    value.replaceUsesWithIf(copy, [](OpOperand &use) {
      return !isMemoryEffectFree(use.getOwner());
    });
  }

  static void materializeOperands(Operation *op, Copies &copies) {
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      if (!viewOf(reshape.getResult()))
        copyOperand(reshape.getInputMutable());
      return;
    }
    if (isViewOp(op) || isa<FusedOp>(op))
      return;
    if (auto call = dyn_cast<RuntimeCallOpInterface>(op))
      return materializeCall(call, copies);
    if (auto concat = dyn_cast<ConcatOp>(op))
      return materializeParts(concat);
    for (OpOperand &operand : op->getOpOperands())
      if (!viewOf(operand.get())->isDense())
        copyOperand(operand);
  }

  /// Returns whether a result takes the place of an operand, which nothing else
  /// may read then.
  static bool isOverwritten(RuntimeCallOpInterface call, Value operand) {
    return llvm::any_of(llvm::seq(call->getNumResults()), [&](unsigned result) {
      return call.getTiedOperand(result) == operand;
    });
  }

  /// Copies one operand after the other, until the call can read them all.
  static void materializeCall(RuntimeCallOpInterface call, Copies &copies) {
    for (OpOperand &operand : call->getOpOperands()) {
      if (canReadOperands(call))
        return;
      if (viewOf(operand.get())->isDense() &&
          !isa_and_nonnull<BroadcastOp>(operand.get().getDefiningOp()))
        continue;
      if (isOverwritten(call, operand.get()))
        copyOperand(operand);
      else
        shareCopy(operand, copies);
    }
    // A product of dense operands whose letters are in order has a layout once
    // the result's letters form groups.
    auto contract = dyn_cast<ContractOp>(*call);
    if (contract && !canReadOperands(call))
      groupLetters(contract);
  }

  /// Reorders the operands' dimensions into batch, row and column letters, and
  /// copies those operands whose order that changes. Rows and columns of the
  /// result come in the order in which the product has them, so that readers of
  /// a gradient that the forward has transposed need no copy.
  static void groupLetters(ContractOp op) {
    ProductLetters letters = classifyLetters(ProductSpec::parse(op.getSpec()));
    OpBuilder builder(op);
    auto regroup = [&](Value value, StringRef from,
                       const std::string &to) -> Value {
      SmallVector<int64_t> permutation;
      for (char letter : to)
        permutation.push_back(from.find(letter));
      if (llvm::is_sorted(permutation))
        return value;
      Value transposed =
          builder.createOrFold<TransposeOp>(op.getLoc(), value, permutation);
      return copyOf(builder, op.getLoc(), transposed);
    };
    std::string lhs = letters.batch + letters.rows + letters.inner;
    std::string rhs = letters.batch + letters.inner + letters.columns;
    StringRef order = op.getResultLetters();
    const bool columnsFirst = order.find_first_of(letters.columns) <
                              order.find_first_of(letters.rows);
    std::string result =
        letters.batch + (columnsFirst ? letters.columns + letters.rows
                                      : letters.rows + letters.columns);
    Value a = regroup(op.getLhs(), op.getLhsLetters(), lhs),
          b = regroup(op.getRhs(), op.getRhsLetters(), rhs);
    auto product = ContractOp::create(builder, op.getLoc(),
                                      lhs + "," + rhs + "->" + result, a, b);
    if (op.getBias())
      product.getBiasMutable().assign(op.getBias());
    product.setWide(op.getWide());
    product.setFull(op.getFull());
    SmallVector<int64_t> permutation;
    for (char letter : op.getResultLetters())
      permutation.push_back(result.find(letter));
    Value back = builder.createOrFold<TransposeOp>(
        op.getLoc(), product.getResult(), permutation);
    op.replaceAllUsesWith(back);
    op.erase();
  }

  /// Each part becomes the result of an op that can write into the whole and
  /// that nothing else reads.
  static void materializeParts(ConcatOp op) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      while (auto reshape = value.getDefiningOp<ReshapeOp>())
        value = reshape.getInput();
      Operation *producer = value.getDefiningOp();
      auto call = dyn_cast_or_null<RuntimeCallOpInterface>(producer);
      bool writesInto = destinationOf(value).buffer == op.getResult() &&
                        (!call || canBeMade(call));
      if (!writesInto)
        copyOperand(operand);
    }
  }
};

} // namespace
