//===- FormMultiTensorCalls.cpp - Makes calls on many tensors one call ----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The updates of all parameters, and the sums and copies of their like, are
// many small calls of one kind in a row. They become one device.multi_tensor,
// which is printed as a table and one call. Only calls that already follow one
// another become one, so that no tensor lives longer than its offset was
// planned for. Assumes what convert-to-device leaves: each address has one
// reader and stands before it. device-unroll-loops gives the single calls back.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/Transforms/Passes.h"

#include "gpuopt/Dialect/Device/IR/Accesses.h"

namespace gpuopt::device {
#define GEN_PASS_DEF_FORMMULTITENSORCALLS
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"
} // namespace gpuopt::device

using namespace mlir;
using namespace gpuopt::device;

namespace {

/// Calls in a row that can be one, with their addresses.
struct Run {
  explicit Run(const SymbolTable &symbols) : symbols(&symbols) {}

  SmallVector<MultiTensorCall> calls;
  SmallVector<Operation *> ops; ///< The calls and their addresses, in order.
  Type half;

  bool takes(MultiTensorCall call) const {
    if (calls.empty())
      return true;
    if (dependsOnRun(call))
      return false;
    MultiTensorCall first = calls.front();
    Type other = call.getHalfType();
    return first->getName() == call->getName() &&
           first.getMultiTensorKey() == call.getMultiTensorKey() &&
           (!half || !other || half == other);
  }
  void add(MultiTensorCall call, ArrayRef<Operation *> addresses) {
    calls.push_back(call);
    ops.append(addresses.begin(), addresses.end());
    ops.push_back(call);
    half = half ? half : call.getHalfType();
    for (Value operand : call->getOperands())
      (operand == call.getSource() ? read : written).insert(bufferOf(operand));
  }

private:
  BufferOp bufferOf(Value address) const {
    return symbols->lookup<BufferOp>(
        address.getDefiningOp<AddressOp>().getBuffer());
  }

  /// The calls that are made as one run in any order, so none may read or write
  /// what another one writes: the gradient of a parameter can be another
  /// parameter. Updates with scratch memory run one after the other.
  bool dependsOnRun(MultiTensorCall call) const {
    auto update = dyn_cast<UpdateOp>(call.getOperation());
    if (update && update.takesWholeShape())
      return false;
    return llvm::any_of(call->getOperands(), [&](Value operand) {
      BufferOp buffer = bufferOf(operand);
      return written.overlaps(buffer) ||
             (operand != call.getSource() && read.overlaps(buffer));
    });
  }

  const SymbolTable *symbols;
  ByteRanges read, written;
};

class FormMultiTensorCalls
    : public gpuopt::device::impl::FormMultiTensorCallsBase<
          FormMultiTensorCalls> {
public:
  using FormMultiTensorCallsBase::FormMultiTensorCallsBase;

private:
  void runOnOperation() override {
    const SymbolTable symbols(getOperation());
    for (StepOp step : getOperation().getOps<StepOp>())
      for (Run &run : findRuns(step, symbols))
        if (run.calls.size() >= std::max<size_t>(leastCalls, 2))
          write(run);
  }

  static std::vector<Run> findRuns(StepOp step, const SymbolTable &symbols) {
    std::vector<Run> runs(1, Run(symbols));
    SmallVector<Operation *> addresses;
    for (Operation &op : step.getBody().front()) {
      if (isa<AddressOp>(op)) {
        addresses.push_back(&op);
        continue;
      }
      auto call = dyn_cast<MultiTensorCall>(op);
      bool canJoin =
          call && call.getMultiTensorKey() && ownsAddresses(&op, addresses);
      if (!canJoin || !runs.back().takes(call))
        runs.emplace_back(symbols);
      if (canJoin)
        runs.back().add(call, addresses);
      addresses.clear();
    }
    return runs;
  }

  /// Whether the operands of a call are the addresses before it, which nothing
  /// else reads.
  static bool ownsAddresses(Operation *call, ArrayRef<Operation *> addresses) {
    return llvm::all_of(addresses,
                        [&](Operation *address) {
                          return address->hasOneUse() &&
                                 *address->user_begin() == call;
                        }) &&
           llvm::all_of(call->getOperands(), [&](Value operand) {
             return llvm::is_contained(addresses, operand.getDefiningOp());
           });
  }

  void write(const Run &run) {
    OpBuilder builder(run.ops.front());
    auto merged = MultiTensorOp::create(builder, run.calls.front()->getLoc());
    Block *body = &merged.getBody().emplaceBlock();
    for (Operation *op : run.ops)
      op->moveBefore(body, body->end());
    ++formedCount;
    callCount += run.calls.size();
  }
};

} // namespace
