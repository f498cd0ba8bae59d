//===- NNAttentionFormula.cpp - The formula that attention is -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/AttentionScores.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

//===----------------------------------------------------------------------===//
// The formula
//===----------------------------------------------------------------------===//

/// Builds Q K^T (with "zy") or P V (with "yz"), over leading dimensions a, b,
/// ...
static Value product(TensorBuilder &b, Value lhs, Value rhs,
                     StringRef rhsLetters) {
  std::string batch;
  for (int64_t dim = 0; dim + 2 < b.type(lhs).getRank(); ++dim)
    batch += 'a' + dim;
  return b.create<ContractOp>(
      batch + "xy," + batch + rhsLetters.str() + "->" + batch + "xz", lhs, rhs);
}

static Value scaled(TensorBuilder &b, Value x, double factor) {
  return factor == 1 ? x : b.mul(x, factor);
}

/// Repeats keys or values for the heads of each group; without groups, nothing
/// is repeated.
static Value repeated(TensorBuilder &b, Value x, Value query) {
  ArrayRef<int64_t> own = b.shape(x), batch = b.shape(query).drop_back(2);
  if (batch.empty() || own.drop_back(2) == batch)
    return x;
  int64_t heads = own.drop_back(2).back();
  auto matrix = llvm::to_vector(own.take_back(2));
  SmallVector<int64_t> result(batch), single(batch.drop_back());
  single.push_back(heads);
  SmallVector<int64_t> groups(single);
  single.push_back(1);
  groups.push_back(batch.back() / heads);
  for (SmallVector<int64_t> *shape : {&result, &single, &groups})
    llvm::append_range(*shape, matrix);
  return b.reshape(b.broadcast(b.reshape(x, single), groups), result);
}

/// Multiplies an operand by the scale before its layout changes, where the
/// multiplication shares a kernel with what makes the operand.
static Value scaledOperand(TensorBuilder &b, Value x, double factor) {
  Operation *op = x.getDefiningOp();
  if (!isa_and_nonnull<TransposeOp, ReshapeOp>(op) || !x.hasOneUse())
    return scaled(b, x, factor);
  IRMapping mapping;
  mapping.map(op->getOperand(0), scaledOperand(b, op->getOperand(0), factor));
  return b.clone(*op, mapping)->getResult(0);
}

/// Builds the boolean mask of a band, [L, S].
static Value maskOfBand(TensorBuilder &b, RankedTensorType scores,
                        ArrayRef<int64_t> band) {
  ArrayRef<int64_t> shape = scores.getShape().take_back(2);
  SmallVector<bool> isSeen;
  for (int64_t row = 0; row < shape[0]; ++row) {
    auto [first, end] = keysInBand(scores, band, row);
    isSeen.append(first, false);
    isSeen.append(end - first, true);
    isSeen.append(shape[1] - end, false);
  }
  return b.create<arith::ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get(shape, b.getI1Type()), isSeen));
}

/// Applies the mask or the band to the scores, if there is one.
static Value masked(TensorBuilder &b, AttentionOp op, Value scores) {
  Value mask = op.getBand() ? maskOfBand(b, op.getScoresType(), *op.getBand())
                            : op.getMask();
  if (!mask)
    return scores;
  if (!b.type(mask).getElementType().isInteger(1))
    return b.add(scores, mask);
  double hidden = op.getMaskedValue()
                      ? op.getMaskedValue()->convertToDouble()
                      : -std::numeric_limits<double>::infinity();
  Value filling = b.splat(hidden, b.type(scores));
  // Exporters say which keys are hidden, so nn-recognize-attention has negated
  // the mask.
  auto negation = mask.getDefiningOp<arith::XOrIOp>();
  return negation && matchPattern(negation.getRhs(), m_One())
             ? b.select(negation.getLhs(), filling, scores)
             : b.select(mask, scores, filling);
}

/// Applies the soft cap to the scores, if there is one.
static Value capped(TensorBuilder &b, AttentionOp op, Value scores) {
  if (!op.getSoftcap())
    return scores;
  double cap = op.getSoftcap()->convertToDouble();
  return b.mul(b.create<math::TanhOp>(b.mul(scores, 1 / cap)), cap);
}

/// Builds the formula; `scale` multiplies the query or the key by a number.
static Value formula(TensorBuilder &b, AttentionOp op,
                     function_ref<Value(Value x, double factor)> scale) {
  using Part = AttentionOp::Part;
  double factor = op.getScale().convertToDouble();
  Value query = op.getQuery(), key = op.getKey();
  if (op.getScaling() == AttentionScaling::Query)
    query = scale(query, factor);
  if (op.getScaling() == AttentionScaling::Both) {
    query = scale(query, std::sqrt(factor));
    key = scale(key, std::sqrt(factor));
  }
  b.setLoc(op.getLocOf(Part::Scores));
  Value scores = product(b, query, repeated(b, key, query), "zy");
  b.setLoc(op.getLocOf(Part::Scale));
  if (op.getScaling() == AttentionScaling::Scores)
    scores = scaled(b, scores, factor);
  b.setLoc(op.getLocOf(Part::Softcap));
  scores = capped(b, op, scores);
  b.setLoc(op.getLocOf(Part::Bias));
  if (op.getBias())
    scores = b.add(scores, op.getBias());
  b.setLoc(op.getLocOf(Part::Mask));
  scores = masked(b, op, scores);
  b.setLoc(op.getLocOf(Part::Softmax));
  Value probabilities = b.create<SoftmaxOp>(
      scores, b.type(scores).getRank() - 1, op.getZeroesEmpty());
  b.setLoc(op.getLocOf(Part::Dropout));
  if (op.getDropoutRatio())
    probabilities = b.create<DropoutOp>(probabilities, *op.getDropoutRatio(),
                                        *op.getStream());
  b.setLoc(op.getLocOf(Part::Product));
  return product(b, probabilities, repeated(b, op.getValue(), query), "yz");
}

Value AttentionOp::expand(OpBuilder &builder) {
  TensorBuilder b(getLocOf(Part::Scale), builder);
  return formula(b, *this, [&](Value x, double factor) {
    return scaledOperand(b, x, factor);
  });
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

static StringRef nameOf(AttentionOp::Part part) {
  using Part = AttentionOp::Part;
  switch (part) {
  case Part::Scores:
    return "scores";
  case Part::Scale:
    return "scale";
  case Part::Softcap:
    return "softcap";
  case Part::Bias:
    return "bias";
  case Part::Mask:
    return "mask";
  case Part::Softmax:
    return "softmax";
  case Part::Dropout:
    return "dropout";
  case Part::Product:
    return "product";
  }
  llvm_unreachable("all parts are listed");
}

Location AttentionOp::fuseLocations(ArrayRef<std::pair<Part, Location>> parts) {
  MLIRContext *context = parts.front().second.getContext();
  SmallVector<Location> locations;
  SmallVector<NamedAttribute> names;
  for (auto [part, loc] : parts) {
    locations.push_back(loc);
    StringAttr name = StringAttr::get(context, nameOf(part));
    if (llvm::none_of(names, [&](NamedAttribute named) {
          return named.getName() == name;
        }))
      names.emplace_back(name, loc);
  }
  return FusedLoc::get(context, locations, DictionaryAttr::get(context, names));
}

Location AttentionOp::getLocOf(Part part) {
  if (auto fused = dyn_cast<FusedLoc>(getLoc()))
    if (auto parts = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()))
      if (auto loc = parts.getAs<LocationAttr>(nameOf(part)))
        return loc;
  return getLoc();
}

//===----------------------------------------------------------------------===//
// The gradient
//===----------------------------------------------------------------------===//

/// Builds the formula again and its gradient. If the op is expanded as well,
/// the two copies of the formula are merged. Operands are scaled as they are,
/// since the gradient goes back to them, and not to what their layout changes.
static void buildVjpOfFormula(AttentionOp op, OpBuilder &builder,
                              Value gradient, ArrayRef<bool> wanted,
                              MutableArrayRef<Value> result) {
  Operation *before = &builder.getBlock()->back();
  TensorBuilder b(op.getLocOf(AttentionOp::Part::Scale), builder);
  Value y = formula(
      b, op, [&](Value x, double factor) { return scaled(b, x, factor); });
  SmallVector<Operation *> formula;
  llvm::DenseSet<Value> dependent;
  for (auto [operand, isWanted] : llvm::zip(op->getOperands(), wanted))
    if (isWanted)
      dependent.insert(operand);
  for (Operation *step = before->getNextNode(); step;
       step = step->getNextNode()) {
    formula.push_back(step);
    if (llvm::any_of(step->getOperands(),
                     [&](Value value) { return dependent.contains(value); }))
      dependent.insert(step->result_begin(), step->result_end());
  }
  llvm::DenseMap<Value, Value> gradientOf{{y, gradient}};
  for (Operation *step : llvm::reverse(formula)) {
    auto differentiable = dyn_cast<DifferentiableOpInterface>(step);
    Value known = gradientOf.lookup(step->getResult(0));
    if (!differentiable || !known || !dependent.contains(step->getResult(0)))
      continue;
    SmallVector<Value> of(step->getNumOperands());
    SmallVector<bool> wants;
    for (Value operand : step->getOperands())
      wants.push_back(dependent.contains(operand));
    differentiable.buildVjp(builder, known, wants, of);
    b.setLoc(step->getLoc());
    for (auto [operand, part] : llvm::zip(step->getOperands(), of))
      if (Value &sum = gradientOf[operand]; part)
        sum = sum ? b.add(sum, part) : part;
  }
  assert(llvm::all_of(llvm::zip(op->getOperands(), wanted),
                      [&](auto pair) {
                        auto [operand, isWanted] = pair;
                        return !isWanted || gradientOf.lookup(operand);
                      }) &&
         "the formula depends on each operand");
  // A tensor may be several operands; its gradient counts once.
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (wanted[index])
      result[index] = std::exchange(gradientOf[operand], Value());
}

void AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> result) {
  // The operands that always have a gradient come first.
  constexpr unsigned kMask = 3;
  bool wantsMask = getMask() && wanted[kMask];
  if (wantsMask || !getReasonAgainstCall().empty())
    return buildVjpOfFormula(*this, builder, gradients[0], wanted, result);
  auto grad = AttentionGradOp::create(
      builder, getLoc(), getQuery(), getKey(), getValue(), getResult(),
      getStatistics(), gradients[0], getMask(), getBias(), getScaleAttr(),
      getSoftcapAttr(), getDropoutRatioAttr(), getStreamAttr(),
      getMaskedValueAttr(), getZeroesEmptyAttr(), getBandAttr(),
      DenseI64ArrayAttr(), UnitAttr());
  for (unsigned index = 0; index < kMask; ++index)
    if (wanted[index])
      result[index] = grad.getResult(index);
  if (getBias() && wanted.back())
    result.back() = grad.getBiasGradient();
}
