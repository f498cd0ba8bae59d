//===- AbsorbLayouts.cpp - Makes transposes and reshapes part of the work -===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutPatterns.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_ABSORBLAYOUTS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Whether a value is the result of a call that can also make it in another
/// order of dimensions.
static bool takesOrder(Value value) {
  auto call = value.getDefiningOp<RuntimeCallOpInterface>();
  return call && call.takesOrder(cast<OpResult>(value).getResultNumber());
}

bool gpuopt::nn::isTakenByCall(TransposeOp transpose) {
  ArrayRef<int64_t> order = transpose.getPermutation();
  return takesOrder(transpose.getInput()) &&
         order.back() == int64_t(order.size()) - 1;
}

bool gpuopt::nn::isPlain(ContractOp op) {
  return !op.getBias() && !op.getAccumulator() && !op.getWide() &&
         !op.getFull() &&
         !NNDialect::FromAttrHelper(op.getContext()).getAttr(op);
}

static std::string specOf(StringRef lhs, StringRef rhs, StringRef result) {
  return (lhs + "," + rhs + "->" + result).str();
}

/// Returns whether rows, columns or inner dimensions of a product stand on both
/// sides of another kind of dimension, perhaps a batch, in an operand with
/// these letters, so that no product reads the operand as it lies.
static bool mixesKinds(StringRef letters, StringRef other, StringRef result) {
  auto kindOf = [&](char letter) {
    return std::pair(other.contains(letter), result.contains(letter));
  };
  SmallVector<std::pair<bool, bool>, 4> ended;
  for (auto [index, letter] : llvm::enumerate(letters)) {
    auto kind = kindOf(letter);
    if (kind == std::pair(true, true) ||
        (index > 0 && kindOf(letters[index - 1]) == kind))
      continue;
    if (llvm::is_contained(ended, kind))
      return true;
    ended.push_back(kind);
  }
  return false;
}

namespace {

/// Turns contract(transpose(x), y) into one product: its letters for x take x's
/// order. It stays where it makes a matrix of what is none, as patches of an
/// image are: then one copy in this order serves all products that read it.
struct AbsorbOperandTranspose : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp op,
                                PatternRewriter &rewriter) const override {
    if (!isPlain(op))
      return failure();
    std::string lhs = op.getLhsLetters().str(), rhs = op.getRhsLetters().str();
    StringRef result = op.getResultLetters();
    Value a = absorb(op.getLhs(), lhs, op.getRhsLetters(), result),
          b = absorb(op.getRhs(), rhs, op.getLhsLetters(), result);
    if (a == op.getLhs() && b == op.getRhs())
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(op, specOf(lhs, rhs, result), a, b);
    return success();
  }

  static Value absorb(Value operand, std::string &letters, StringRef other,
                      StringRef result) {
    auto transpose = operand.getDefiningOp<TransposeOp>();
    if (!transpose)
      return operand;
    // It is better to write a product's result in the order in which it is
    // read.
    if ((transpose.getInput().getDefiningOp<ContractOp>() &&
         transpose.getInput().hasOneUse()) ||
        isTakenByCall(transpose))
      return operand;
    std::string source = letters;
    for (auto [index, dim] : llvm::enumerate(transpose.getPermutation()))
      source[dim] = letters[index];
    if (mixesKinds(source, other, result) &&
        !mixesKinds(letters, other, result))
      return operand;
    letters = source;
    return transpose.getInput();
  }
};

/// Turns transpose(contract(x, y)) into one product: the letters of its result
/// take the result's order. A sum of products becomes a sum of such ones.
struct AbsorbResultTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSumOfProducts(op.getInput()))
      return failure();
    rewriter.replaceOp(
        op, transposed(rewriter, op.getInput(), op.getPermutation()));
    return success();
  }

  /// Whether a value is a product, or a sum of products, that nothing else
  /// reads.
  static bool isSumOfProducts(Value value) {
    Operation *op = value.getDefiningOp();
    auto product = dyn_cast_or_null<ContractOp>(op);
    return op && op->hasOneUse() &&
           ((product && isPlain(product)) ||
            (isa<arith::AddFOp>(op) &&
             llvm::all_of(op->getOperands(), isSumOfProducts)));
  }

  static Value transposed(PatternRewriter &rewriter, Value value,
                          ArrayRef<int64_t> permutation) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(value.getDefiningOp());
    if (auto sum = value.getDefiningOp<arith::AddFOp>()) {
      Value left = transposed(rewriter, sum.getLhs(), permutation),
            right = transposed(rewriter, sum.getRhs(), permutation);
      return arith::AddFOp::create(rewriter, sum.getLoc(), left, right,
                                   sum.getFastmath());
    }
    auto contract = value.getDefiningOp<ContractOp>();
    std::string result;
    for (int64_t dim : permutation)
      result += contract.getResultLetters()[dim];
    // The new product keeps the node's name, because precisions are chosen by
    // it.
    return ContractOp::create(
        rewriter, contract.getLoc(),
        specOf(contract.getLhsLetters(), contract.getRhsLetters(), result),
        contract.getLhs(), contract.getRhs());
  }
};

/// Turns transpose(call(x)) into a call whose results have the order of the
/// transpose. Other readers of the results see them through the inverse
/// transpose, which is a view.
struct AbsorbCallTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp transpose,
                                PatternRewriter &rewriter) const override {
    DenseI64ArrayAttr order = transpose.getPermutationAttr();
    if (!isTakenByCall(transpose))
      return failure();
    auto source = cast<OpResult>(transpose.getInput());
    Operation *op = source.getOwner();
    rewriter.setInsertionPoint(op);
    Operation *ordered = rewriter.clone(*op);
    ordered->setAttr("order", order);
    SmallVector<int64_t> back(order.size());
    for (auto [index, dim] : llvm::enumerate(order.asArrayRef()))
      back[dim] = index;
    SmallVector<Value> results(ordered->getResults());
    for (Value &result : results)
      if (takesOrder(op->getResult(cast<OpResult>(result).getResultNumber()))) {
        result.setType(transposed(result.getType(), order.asArrayRef()));
        result =
            TransposeOp::create(rewriter, transpose.getLoc(), result, back);
      }
    rewriter.replaceOp(transpose, ordered->getResult(source.getResultNumber()));
    rewriter.replaceOp(op, results);
    return success();
  }

  static RankedTensorType transposed(Type type, ArrayRef<int64_t> permutation) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.clone(llvm::map_to_vector(
        permutation, [&](int64_t dim) { return tensor.getDimSize(dim); }));
  }
};

class AbsorbLayouts
    : public gpuopt::nn::impl::AbsorbLayoutsBase<AbsorbLayouts> {
  void runOnOperation() override {
    using Populate = void (*)(RewritePatternSet &);
    auto apply = [&](ArrayRef<Populate> all) {
      RewritePatternSet patterns(&getContext());
      for (Populate populate : all)
        populate(patterns);
      GreedyRewriteConfig config;
      config.setMaxNumRewrites(mostRewrites());
      return applyPatternsGreedily(getOperation(), std::move(patterns), config);
    };
    // Pads are joined before what is left of them is spelled out.
    if (failed(apply({populateAbsorbTransposes, populateSinkTransposes,
                      populateSinkReshapes, populateJoinPads})) ||
        failed(apply({populatePadsToConcats}))) {
      getOperation()->emitError(
          "the layouts of this model do not settle: a defect of "
          "'nn-absorb-layouts', please report it with the model");
      signalPassFailure();
    }
  }

  /// Far more rewrites than any model was seen to need: those take some tens
  /// for each op.
  int64_t mostRewrites() {
    int64_t ops = 0;
    getOperation()->walk([&](Operation *) { ++ops; });
    return 10000 + 1000 * ops;
  }
};

} // namespace

void gpuopt::nn::populateAbsorbTransposes(RewritePatternSet &patterns) {
  patterns
      .add<AbsorbOperandTranspose, AbsorbResultTranspose, AbsorbCallTranspose>(
          patterns.getContext());
}
