//===- PrecisionPainting.cpp - What PyTorch's autocast would choose -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Labels a step as PyTorch's autocast would, to compare the choice by cost with
// it. Autocast decides op by op, in order: an op of its list of products casts
// its operands to half precision, one of its list for fp32 casts them to fp32,
// and any other op computes in the type of its operands, the widest where they
// differ.
//
//===----------------------------------------------------------------------===//

#include "Precision/PrecisionRules.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Precision/PrecisionGraph.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace gpuopt;
using planning::kForbidden;
using Rule = planning::PrecisionChoice::Rule;

namespace {

class Painter {
public:
  Painter(const PrecisionGraph &graph, const PrecisionPolicy &policy)
      : graph(graph), policy(policy) {
    isHalf.assign(graph.problem.choices.size(), false);
  }

  std::vector<char> paint() {
    for (auto &[op, choice] : graph.productOf)
      set(choice, policy.autocastClassOf(op->getLoc()) != PrecisionClass::Full);
    for (auto &[tensor, choice] : graph.tensorOf) // in the order of the program
      set(choice, isHalfTensor(tensor));
    for (auto &[owner, copies] : graph.copiesOf) {
      isHalf[copies.down] = true;
      if (copies.up >= 0)
        isHalf[copies.up] = true;
    }
    settle();
    return std::move(isHalf);
  }

private:
  void set(int choice, bool half) {
    Rule rule = graph.problem.choices[choice].rule;
    isHalf[choice] = rule == Rule::Free ? half : rule == Rule::Half;
  }

  bool isHalfTensor(Value tensor) const {
    auto result = cast<OpResult>(tensor);
    Operation *op = result.getOwner();
    if (auto product = graph.productOf.find(op);
        product != graph.productOf.end())
      return isHalf[product->second];
    if (auto fused = dyn_cast<nn::FusedOp>(op))
      return isHalfInside(fused, writtenValue(result));
    // Whether an op, such as a pool or a concatenation, gets half precision
    // from its operands.
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return !isFloat(operand) || isHalfOwner(operand);
    });
  }

  static bool isFloat(Value value) {
    return isa<FloatType>(
        cast<RankedTensorType>(value.getType()).getElementType());
  }

  /// Whether the owner of `value` is in half precision. Parameters count as if
  /// they were, since they are cast to the type of the other operands.
  bool isHalfOwner(Value value) const {
    Value owner = bufferOf(value);
    if (isa_and_nonnull<train::ReadOp>(owner.getDefiningOp()))
      return true;
    auto found = graph.tensorOf.find(owner);
    return found != graph.tensorOf.end() && isHalf[found->second];
  }

  /// Whether no op on the way to `value` inside the kernel needs fp32 or reads
  /// a value in f32.
  bool isHalfInside(nn::FusedOp fused, Value value) const {
    SmallVector<Value> stack{value};
    llvm::DenseSet<Value> seen{value};
    while (!stack.empty()) {
      Value next = stack.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(next)) {
        Value operand = fused.getInputs()[argument.getArgNumber()];
        if (isFloat(operand) && !isHalfOwner(operand))
          return false;
        continue;
      }
      Operation *op = next.getDefiningOp();
      if (policy.autocastClassOf(op->getLoc()) == PrecisionClass::Full)
        return false;
      for (Value operand : op->getOperands())
        if (seen.insert(operand).second)
          stack.push_back(operand);
    }
    return true;
  }

  /// Undoes the choices that the problem forbids, until none is left, and then
  /// the copies that nothing reads.
  void settle() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const planning::PrecisionPenalty &penalty : graph.problem.penalties)
        if (penalty.cost == kForbidden && isHalf[penalty.half] &&
            !isHalf[penalty.full]) {
          isHalf[penalty.half] = false;
          changed = true;
        }
    }
    std::vector<char> isRead(isHalf.size());
    for (const planning::PrecisionPenalty &penalty : graph.problem.penalties)
      isRead[penalty.full] |=
          penalty.cost == kForbidden && isHalf[penalty.half];
    for (auto &[owner, copies] : graph.copiesOf)
      isHalf[copies.down] = isRead[copies.down];
  }

  const PrecisionGraph &graph;
  const PrecisionPolicy &policy;
  std::vector<char> isHalf;
};

} // namespace

std::vector<char> gpuopt::paintLikeAutocast(const PrecisionGraph &graph,
                                            const PrecisionPolicy &policy) {
  return Painter(graph, policy).paint();
}
