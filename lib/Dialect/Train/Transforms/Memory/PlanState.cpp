//===- PlanState.cpp - Where what outlives a step lies --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each pass that needs a variable adds it beside the parameter that it belongs
// to. This pass brings all variables of a kind together, in the order of their
// parameters, and gives each its offset. It assumes that no later pass adds a
// variable; inputs, outputs and constants, which belong to steps, follow the
// variables (Analysis/Memory/PersistentMemory.h).
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/PersistentMemory.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_PLANSTATE
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

namespace {

/// The order of variables: by kind, then the optimizer's name of the state,
/// then the parameter.
using Key = std::tuple<VariableKind, StringRef, int64_t>;

class StateOrder {
public:
  explicit StateOrder(ModuleOp module) {
    int64_t count = 0;
    for (VariableOp variable : module.getOps<VariableOp>())
      indexOf[variable.getSymNameAttr()] = count++;
    module.walk([&](Operation *op) {
      if (!isa<UpdateOp, DirectionOp>(op))
        return;
      if (auto states = op->getAttrOfType<DictionaryAttr>("states"))
        for (NamedAttribute state : states)
          stateOf[cast<FlatSymbolRefAttr>(state.getValue()).getAttr()] =
              state.getName();
    });
  }

  Key keyOf(VariableOp variable) const {
    FlatSymbolRefAttr owner = variable.getOfAttr();
    StringAttr name = variable.getSymNameAttr();
    StringAttr state = stateOf.lookup(name);
    return {variable.getKind(), state ? state.getValue() : "",
            indexOf.lookup(owner ? owner.getAttr() : name)};
  }

private:
  llvm::DenseMap<StringAttr, int64_t> indexOf;
  /// The names that updates give to the variables of optimizer state.
  llvm::DenseMap<StringAttr, StringAttr> stateOf;
};

class PlanState : public train::impl::PlanStateBase<PlanState> {
public:
  using PlanStateBase::PlanStateBase;

private:
  void runOnOperation() override {
    SmallVector<VariableOp> variables = sorted();
    int64_t offset = kFirstVariableOffset;
    for (VariableOp variable : llvm::reverse(variables))
      variable->moveBefore(getOperation().getBody(),
                           getOperation().getBody()->begin());
    for (VariableOp variable : variables) {
      variable.setMemoryOffset(offset);
      offset = endOfVariable(variable, offset);
    }
  }

  SmallVector<VariableOp> sorted() {
    StateOrder order(getOperation());
    SmallVector<VariableOp> variables(getOperation().getOps<VariableOp>());
    llvm::stable_sort(variables, [&](VariableOp a, VariableOp b) {
      return order.keyOf(a) < order.keyOf(b);
    });
    return variables;
  }
};

} // namespace
