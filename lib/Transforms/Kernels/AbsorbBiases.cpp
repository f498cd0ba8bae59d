//===- AbsorbBiases.cpp - Lets products add the bias that follows ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs before kernels are formed: an addition of a bias that would share a
// kernel with a reader of the sum costs nothing there, and stays. Only an
// addition that would be a kernel by itself is absorbed.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_ABSORBBIASES
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Whether kernels could read the value, directly or through views.
static bool isReadByKernels(Value value) {
  return llvm::any_of(readersOf(value), isFusible);
}

/// Returns the state that a value repeats for each row.
static Value biasOf(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  Value bias = broadcast ? broadcast.getInput() : Value();
  return bias && bias.getDefiningOp<train::ReadOp>() ? bias : Value();
}

namespace {

/// An addition that its product can do instead.
struct Absorbed {
  arith::AddFOp addition;
  ContractOp product;
  Value bias;
};

class AbsorbBiases : public kernels::impl::AbsorbBiasesBase<AbsorbBiases> {
  void runOnOperation() override {
    SmallVector<Absorbed> found;
    getOperation()->walk([&](arith::AddFOp addition) {
      for (unsigned index : {0u, 1u})
        if (auto absorbed = find(addition, index))
          return (void)found.push_back(*absorbed);
    });
    for (Absorbed &absorbed : found)
      rewrite(absorbed);
    biasCount += found.size();
  }

  static std::optional<Absorbed> find(arith::AddFOp addition, unsigned index) {
    auto product = addition->getOperand(index).getDefiningOp<ContractOp>();
    Value bias = biasOf(addition->getOperand(1 - index));
    if (!product || !bias || !product->hasOneUse() ||
        product.getAccumulator() || !canReadOperands(product) ||
        !bias.getDefiningOp()->isBeforeInBlock(product) ||
        !product.takesBias(cast<RankedTensorType>(bias.getType())) ||
        isReadByKernels(addition.getResult()))
      return std::nullopt;
    return Absorbed{addition, product, bias};
  }

  static void rewrite(Absorbed &absorbed) {
    auto [addition, product, bias] = absorbed;
    product.getBiasMutable().assign(bias);
    addition.replaceAllUsesWith(product.getResult());
    Operation *broadcast = addition->getOperand(1).getDefiningOp() == product
                               ? addition->getOperand(0).getDefiningOp()
                               : addition->getOperand(1).getDefiningOp();
    addition.erase();
    if (broadcast->use_empty())
      broadcast->erase();
  }
};

} // namespace
