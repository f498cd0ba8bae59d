//===- UnrollLoops.cpp - Writes each turn of a loop of calls out ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Writes out the calls of each turn of a device.repeat with the buffers of that
// turn, and the calls of each device.group, which undoes device-roll-loops and
// device-group-calls. It assumes nothing but verified IR. Afterwards neither op
// is left, and the calls are those of all turns and groups, in their order.
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
      for (unsigned turn = 0; turn < repeat.getNumTurns(); ++turn)
        writeTurn(repeat, turn, builder);
      repeat.erase();
    }
    SmallVector<GroupOp> groups;
    getOperation().walk([&](GroupOp op) { groups.push_back(op); });
    for (GroupOp group : groups) {
      group->getBlock()->getOperations().splice(
          group->getIterator(), group.getBody().front().getOperations());
      group.erase();
    }
  }

  static void writeTurn(RepeatOp repeat, unsigned turn, OpBuilder &builder) {
    IRMapping mapping;
    for (Operation &op : repeat.getBody().front()) {
      if (auto column = dyn_cast<ColumnOp>(op)) {
        SliceAttr slice = repeat.sliceOf(column.getName(), turn);
        auto address =
            AddressOp::create(builder, column.getLoc(), column.getType(),
                              slice.getBuffer().getValue(),
                              slice.getElements() + column.getElements());
        mapping.map(column.getResult(), address.getResult());
        continue;
      }
      Operation *call = builder.clone(op, mapping);
      auto turns =
          dyn_cast_or_null<ArrayAttr>(call->removeAttr(kTurnsAttribute));
      if (!turns)
        continue;
      for (auto attributes : turns.getAsRange<DictionaryAttr>())
        for (NamedAttribute attribute : attributes)
          call->removeAttr(attribute.getName());
      for (NamedAttribute attribute : cast<DictionaryAttr>(turns[turn]))
        call->setAttr(attribute.getName(), attribute.getValue());
    }
  }
};

} // namespace
