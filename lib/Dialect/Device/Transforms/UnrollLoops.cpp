//===- UnrollLoops.cpp - Writes each iteration of a loop of calls out -----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Writes out the calls of each iteration of a device.repeat with the buffers of
// that iteration, and the calls of each device.multi_tensor, which undoes
// device-roll-loops and device-form-multi-tensor-calls. It assumes nothing but
// verified IR. Afterwards neither op is left, and the calls are those of all
// iterations and tensors, in their order.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace gpuopt::device {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"
} // namespace gpuopt::device

using namespace mlir;
using namespace gpuopt::device;

namespace {

class UnrollLoops : public gpuopt::device::impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() override {
    SmallVector<RepeatOp> repeats;
    getOperation().walk([&](RepeatOp op) { repeats.push_back(op); });
    for (RepeatOp repeat : repeats) {
      OpBuilder builder(repeat);
      for (unsigned iteration = 0; iteration < repeat.getNumIterations();
           ++iteration)
        writeIteration(repeat, iteration, builder);
      repeat.erase();
    }
    SmallVector<MultiTensorOp> merged;
    getOperation().walk([&](MultiTensorOp op) { merged.push_back(op); });
    for (MultiTensorOp call : merged) {
      call->getBlock()->getOperations().splice(
          call->getIterator(), call.getBody().front().getOperations());
      call.erase();
    }
  }

  static void writeIteration(RepeatOp repeat, unsigned iteration,
                             OpBuilder &builder) {
    IRMapping mapping;
    auto isSkipped = [&](Operation *op) { return !isMade(op, iteration); };
    for (Operation &op : repeat.getBody().front()) {
      if (isSkipped(&op) ||
          (!op.use_empty() && llvm::all_of(op.getUsers(), isSkipped)))
        continue;
      if (auto column = dyn_cast<ColumnOp>(op)) {
        SliceAttr slice = repeat.sliceOf(column.getName(), iteration);
        auto address =
            AddressOp::create(builder, column.getLoc(), column.getType(),
                              slice.getBuffer().getValue(),
                              slice.getElements() + column.getElements());
        mapping.map(column.getResult(), address.getResult());
        continue;
      }
      Operation *call = builder.clone(op, mapping);
      auto iterations =
          dyn_cast_or_null<ArrayAttr>(call->removeAttr(kIterationsAttribute));
      if (!iterations)
        continue;
      for (auto attributes : iterations.getAsRange<DictionaryAttr>())
        for (NamedAttribute attribute : attributes)
          call->removeAttr(attribute.getName());
      for (NamedAttribute attribute :
           cast<DictionaryAttr>(iterations[iteration]))
        if (attribute.getName() != kMakes)
          call->setAttr(attribute.getName(), attribute.getValue());
    }
  }
};

} // namespace
