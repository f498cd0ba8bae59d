//===- SinkRecomputedCalls.cpp - Moves recomputed work to its reader ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The search for a plan leaves recomputed work wherever it was found to fit,
// often among the calls of another layer. This pass moves each such call down
// to just before the next call that touches bytes which it touches. The offsets
// stay, so nothing but the order of calls that are independent changes, and no
// bit of a result does. Assumes what convert-to-device leaves: each address has
// one reader and stands before it.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/Transforms/Passes.h"

#include "CallSequence.h"
#include "gpuopt/Dialect/Device/IR/Accesses.h"

namespace gpuopt::device {
#define GEN_PASS_DEF_SINKRECOMPUTEDCALLS
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"
} // namespace gpuopt::device

using namespace mlir;
using namespace gpuopt::device;

namespace {

/// A call and what it touches.
struct TrackedCall : Call {
  SmallVector<BufferOp> read, written; ///< One may be in both.
  /// Whether the call works on memory of the device alone, and on all that it
  /// works on by its addresses.
  bool isPlain = true;
};

class SinkRecomputedCalls
    : public gpuopt::device::impl::SinkRecomputedCallsBase<
          SinkRecomputedCalls> {
  void runOnOperation() override {
    const SymbolTable symbols(getOperation());
    for (StepOp step : getOperation().getOps<StepOp>()) {
      std::vector<TrackedCall> calls = callsOf(step, symbols);
      // The last one moves first, so that calls which follow one another from
      // reader to reader move together.
      for (size_t index = calls.size(); index-- > 0;)
        if (calls[index].op->hasAttr(kRecomputedAttribute))
          sink(calls, index);
    }
  }

  static std::vector<TrackedCall> callsOf(StepOp step,
                                          const SymbolTable &symbols) {
    std::vector<TrackedCall> calls;
    const CallSequence sequence(step, symbols);
    for (const Call &made : sequence.calls) {
      TrackedCall &call = calls.emplace_back(TrackedCall{made, {}, {}});
      call.isPlain = call.op->getNumRegions() == 0 &&
                     call.op->getNumResults() == 0 &&
                     call.op->getNumOperands() > 0;
      if (auto merged = dyn_cast<MultiTensorOp>(call.op))
        noteTensors(call, merged, symbols);
      for (auto [number, operand] : llvm::enumerate(call.op->getOperands()))
        noteOperand(call, number, operand, symbols);
    }
    return calls;
  }

  static void noteTensors(TrackedCall &call, MultiTensorOp merged,
                          const SymbolTable &symbols) {
    call.isPlain = true;
    for (auto address : merged.getBody().getOps<AddressOp>()) {
      auto buffer = symbols.lookup<BufferOp>(address.getBuffer());
      call.isPlain &= buffer && buffer.getKind() != BufferKind::Host;
      if (!buffer)
        continue;
      call.read.push_back(buffer);
      call.written.push_back(buffer);
    }
  }

  static void noteOperand(TrackedCall &call, size_t number, Value operand,
                          const SymbolTable &symbols) {
    auto address = operand.getDefiningOp<AddressOp>();
    if (!address || !address->hasOneUse() ||
        !llvm::is_contained(call.addresses, address)) {
      call.isPlain = false;
      return;
    }
    auto buffer = symbols.lookup<BufferOp>(address.getBuffer());
    if (!buffer || buffer.getKind() == BufferKind::Host) {
      call.isPlain = false;
      return;
    }
    call.read.push_back(buffer);
    if (mayWrite(call.op, number, symbols))
      call.written.push_back(buffer);
  }

  /// Whether a call may write what an operand points to. Kernels say what they
  /// store; what calls of the runtime do is not asked.
  static bool mayWrite(Operation *op, size_t number,
                       const SymbolTable &symbols) {
    auto launch = dyn_cast<LaunchOp>(op);
    auto kernel =
        launch ? symbols.lookup<KernelOp>(launch.getKernel()) : KernelOp();
    return !kernel || isWritten(kernel, number);
  }

  static bool anyOverlap(ArrayRef<BufferOp> written,
                         ArrayRef<BufferOp> touched) {
    return llvm::any_of(
        written, [&](BufferOp buffer) { return anyOverlaps(touched, buffer); });
  }

  /// Returns the last call before which every buffer of `calls[index]` is still
  /// in its lifetime, because that call or a later one uses it.
  static size_t lastPlace(ArrayRef<TrackedCall> calls, size_t index) {
    size_t place = calls.size();
    for (BufferOp buffer : calls[index].read) {
      if (buffer.getKind() != BufferKind::Arena)
        continue;
      size_t last = calls.size() - 1;
      while (last > index && !llvm::is_contained(calls[last].read, buffer))
        --last;
      place = std::min(place, last);
    }
    return place;
  }

  void sink(std::vector<TrackedCall> &calls, size_t index) {
    const TrackedCall call = calls[index];
    if (!call.isPlain)
      return;
    size_t last = lastPlace(calls, index), place = index + 1;
    while (place < calls.size() && place < last && calls[place].isPlain &&
           !anyOverlap(call.written, calls[place].read) &&
           !anyOverlap(calls[place].written, call.read))
      ++place;
    if (place == index + 1 || place == calls.size())
      return;
    Operation *next = calls[place].firstOp();
    for (Operation *address : call.addresses)
      address->moveBefore(next);
    call.op->moveBefore(next);
    std::rotate(calls.begin() + index, calls.begin() + index + 1,
                calls.begin() + place);
    ++movedCount;
  }
};

} // namespace
