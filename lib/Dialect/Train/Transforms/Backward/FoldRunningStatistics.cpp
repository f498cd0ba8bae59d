//===- FoldRunningStatistics.cpp - Batch norms as part of weights ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where nothing but the forward is computed, the statistics of a batch norm are
// numbers of the file of weights. Behind a convolution or a product with
// weights, it multiplies each channel of the result by a number and adds
// another one, and so it may as well multiply the weights and add to the bias:
//
//   factor = scale / sqrt(variance + epsilon)
//   weights' = weights * factor, bias' = (bias - mean) * factor + shift
//
// The step `prepare` computes these two when weights have been loaded, so a
// program takes any file of weights. The bias is a variable of its own. The
// weights are written over those of the file where nothing else reads them, so
// that they are in memory once, and the runtime finds the weights of the file
// again for a caller who asks for them. Otherwise they are a variable, too. The
// forward has a bias in place of a normalisation, which activations join.
//
// Runs on steps, where batch norms have their form for the evaluation; it does
// nothing in modules that train. It leaves the products that nothing reads any
// more to the next cleanup.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_FOLDRUNNINGSTATISTICS
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;
using nn::TensorBuilder;

/// Whether a value follows from weights and constants alone.
static bool isOfWeights(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op)
      return false;
    if (isa<ReadOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!isPure(op) || op->getNumRegions() > 0 || op->getNumOperands() == 0)
      return false;
    values.insert_range(op->getOperands());
  }
  return true;
}

static int64_t channelsOf(Value value) {
  return TensorBuilder::shape(value).back();
}

/// Returns the tensor of one number for each channel that is broadcast to a
/// value; null if the value is no such tensor.
static Value channelValuesOf(Value value) {
  auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
  if (!broadcast)
    return {};
  Value source = broadcast.getInput();
  RankedTensorType type = TensorBuilder::type(source);
  return type.getRank() > 0 && channelsOf(source) == channelsOf(value) &&
                 type.getNumElements() == channelsOf(value)
             ? source
             : Value();
}

namespace {

/// A batch norm and what stands between it and the product that it can be a
/// part of.
struct Match {
  nn::BatchNormOp norm;
  Operation *product = nullptr; ///< A convolution or a contraction.
  unsigned weights = 0;         ///< The number of the operand.
  int64_t channelDim = 0;       ///< The dimension of the weights.
  Value bias;                   ///< Null if there is none.

  Value getWeights() const { return product->getOperand(weights); }
};

class FoldRunningStatistics
    : public gpuopt::train::impl::FoldRunningStatisticsBase<
          FoldRunningStatistics> {
public:
  using FoldRunningStatisticsBase::FoldRunningStatisticsBase;

private:
  void runOnOperation() override {
    SmallVector<Match> matches;
    for (StepOp step : getOperation().getOps<StepOp>()) {
      if (step.getKind() != StepKind::Forward)
        return;
      step.walk([&](nn::BatchNormOp norm) {
        if (std::optional<Match> match = find(norm))
          matches.push_back(*match);
      });
    }
    if (matches.empty())
      return;
    OpBuilder outside = OpBuilder::atBlockEnd(getOperation().getBody());
    auto prepare = StepOp::create(
        outside, getOperation().getLoc(), freeSymbol(getOperation(), "prepare"),
        StepKind::Prepare, outside.getArrayAttr({}), ArrayAttr(), ArrayAttr());
    Block *body = &prepare.getBody().emplaceBlock();
    for (const Match &match : matches)
      fold(match, body);
  }

  //===--------------------------------------------------------------------===//
  // What can be folded
  //===--------------------------------------------------------------------===//

  static std::optional<Match> find(nn::BatchNormOp norm) {
    Match match;
    match.norm = norm;
    for (Value statistic : {norm.getNewMean(), norm.getNewVariance(),
                            norm.getMean(), norm.getRstd()})
      if (!statistic.use_empty())
        return std::nullopt;
    if (!norm.getFrozen() ||
        !llvm::all_of(norm->getOperands().drop_front(), isOfWeights))
      return std::nullopt;
    Value input = norm.getInput();
    if (auto sum = input.getDefiningOp<arith::AddFOp>();
        sum && input.hasOneUse()) {
      Value added = sum.getRhs();
      input = sum.getLhs();
      if (isOfWeights(input))
        std::swap(input, added);
      match.bias = channelValuesOf(added);
      if (!matchPattern(added, m_AnyZeroFloat()) &&
          !(match.bias && isOfWeights(match.bias)))
        return std::nullopt;
    }
    match.product = input.getDefiningOp();
    if (!input.hasOneUse() || !match.product || !findWeights(match))
      return std::nullopt;
    return match;
  }

  /// Finds the operand that has the weights, and their dimension of channels.
  static bool findWeights(Match &match) {
    if (auto conv = dyn_cast<nn::ConvOp>(match.product)) {
      match.weights = conv.getWeightsMutable().getOperandNumber();
      match.channelDim = 0;
      return isOfWeights(conv.getWeights());
    }
    auto contract = dyn_cast<nn::ContractOp>(match.product);
    if (!contract || contract->getNumOperands() != 2)
      return false;
    auto spec = ProductSpec::parse(contract.getSpec());
    for (auto [number, letters] :
         llvm::enumerate(ArrayRef{spec.lhs, spec.rhs})) {
      size_t dim = letters.find(spec.result.back());
      if (dim == StringRef::npos ||
          !isOfWeights(contract->getOperand(number)) ||
          isOfWeights(contract->getOperand(1 - number)))
        continue;
      match.weights = number;
      match.channelDim = dim;
      return true;
    }
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Folding
  //===--------------------------------------------------------------------===//

  void fold(const Match &match, Block *prepare) {
    nn::BatchNormOp norm = match.norm;
    TensorBuilder b(norm.getLoc(), prepare, prepare->end());
    IRMapping cloned;
    auto here = [&](Value value) { return cloneInto(b, value, cloned); };
    int64_t channels = channelsOf(norm.getInput());
    Value factor = b.mul(b.rsqrt(b.add(here(norm.getRunningVariance()),
                                       norm.getEpsilon().convertToDouble())),
                         here(norm.getScale()));
    Value weights = here(match.getWeights());
    SmallVector<int64_t> shape(TensorBuilder::shape(weights).size(), 1);
    shape[match.channelDim] = channels;
    weights = b.mul(weights, b.reshape(factor, shape));
    Value mean = here(norm.getRunningMean());
    Value centre = match.bias
                       ? b.sub(b.reshape(here(match.bias), {channels}), mean)
                       : b.neg(mean);
    Value bias = b.add(b.mul(centre, factor), here(norm.getBias()));

    FlatSymbolRefAttr inPlace = variableToFoldInto(match);
    Value newWeights = match.getWeights();
    if (inPlace)
      b.create<WriteOp>(inPlace, weights);
    else
      newWeights = keep(match, weights, "weights", /*of=*/{}, b);
    Value newBias = keep(match, bias, "bias", inPlace, b);
    Operation *product = OpBuilder(match.product).clone(*match.product);
    product->setOperand(match.weights, newWeights);
    TensorBuilder after(norm.getLoc(), norm);
    norm.getResult().replaceAllUsesWith(
        after.add(product->getResult(0), newBias));
    norm.erase();
    ++foldedCount;
  }

  /// Clones what makes a value into the step `prepare`.
  static Value cloneInto(OpBuilder &builder, Value value, IRMapping &cloned) {
    if (Value done = cloned.lookupOrNull(value))
      return done;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      cloneInto(builder, operand, cloned);
    builder.clone(*op, cloned);
    return cloned.lookup(value);
  }

  /// Returns the variable of the weights if nothing but the product reads it;
  /// otherwise null.
  FlatSymbolRefAttr variableToFoldInto(const Match &match) {
    auto read = match.getWeights().getDefiningOp<ReadOp>();
    if (!read || !read->hasOneUse())
      return {};
    FlatSymbolRefAttr name = read.getVariableAttr();
    auto variable = getOperation().lookupSymbol<VariableOp>(name.getAttr());
    int64_t readers = 0;
    for (StepOp step : getOperation().getOps<StepOp>())
      step.walk([&](ReadOp other) {
        readers += step.getKind() != StepKind::Prepare &&
                   other.getVariableAttr() == name;
      });
    return variable.isWeight() && readers == 1 ? name : FlatSymbolRefAttr();
  }

  /// Keeps a value in a variable, which `prepare` writes, and which belongs to
  /// the weights `of` if they are folded in their place. Returns what the
  /// forward reads.
  Value keep(const Match &match, Value value, StringRef what,
             FlatSymbolRefAttr of, TensorBuilder &prepare) {
    auto read = match.getWeights().getDefiningOp<ReadOp>();
    std::string name = freeSymbol(
        getOperation(), ((read ? read.getVariable() : StringRef("batch_norm")) +
                         "." + what + ".folded")
                            .str());
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    VariableOp::create(builder, match.product->getLoc(), name,
                       VariableKind::Folded, value.getType(), of);
    prepare.create<WriteOp>(name, value);
    builder.setInsertionPoint(match.product);
    return ReadOp::create(builder, match.product->getLoc(), value.getType(),
                          name);
  }
};

} // namespace
