//===- NNAttention.cpp - Attention and the formula that it is -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType query = tensorType(adaptor.getQuery()),
                   key = tensorType(adaptor.getKey()),
                   value = tensorType(adaptor.getValue());
  for (RankedTensorType other : {key, value})
    if (query.getRank() < 2 || other.getRank() != query.getRank() ||
        other.getElementType() != query.getElementType() ||
        other.getShape().drop_back(2) != query.getShape().drop_back(2)) // (C1)
      return emitOptionalError(
          loc,
          "'nn.attention' op expects query, key and value of one element type "
          "and rank with equal leading dimensions, but got ",
          query, ", ", key, ", ", value);
  if (key.getShape().back() != query.getShape().back() ||
      key.getShape().take_back(2)[0] !=
          value.getShape().take_back(2)[0]) // (C2)
    return emitOptionalError(
        loc,
        "'nn.attention' op expects keys of the size of queries, and as many as "
        "values, but got ",
        query, ", ", key, ", ", value);
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  types.push_back(query.clone(shape));
  return success();
}

RankedTensorType AttentionOp::getScoresType() {
  RankedTensorType query = tensorType(getQuery());
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = tensorType(getKey()).getShape().take_back(2)[0];
  return query.clone(shape);
}

LogicalResult AttentionOp::verify() {
  RankedTensorType scores = getScoresType();
  if (getMask()) { // (C3)
    RankedTensorType mask = tensorType(getMask());
    SmallVector<int64_t> common;
    bool broadcasts = OpTrait::util::getBroadcastedShape(
        mask.getShape(), scores.getShape(), common);
    if (!broadcasts || ArrayRef<int64_t>(common) != scores.getShape() ||
        (!mask.getElementType().isInteger(1) &&
         mask.getElementType() != scores.getElementType()))
      return emitOpError("expects a boolean mask or one of ")
             << scores.getElementType() << " that broadcasts to " << scores
             << ", but got " << mask;
  }
  double scale = getScale().convertToDouble();
  if (getScaling() == AttentionScaling::Both && !(scale >= 0)) // (C4)
    return emitOpError("expects a scale of 0 or more of both query and key, "
                       "but got ")
           << scale;
  if (getDropoutRatio().has_value() != getStream().has_value())
    return emitOpError("expects a ratio and a stream of dropout, or neither");
  if (getDropoutRatio()) { // (C5)
    double ratio = getDropoutRatio()->convertToDouble();
    if (!(ratio >= 0 && ratio < 1))
      return emitOpError("expects a ratio from 0 to below 1, but got ")
             << ratio;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The formula
//===----------------------------------------------------------------------===//

/// Q K^T (with "zy") or P V (with "yz"), over leading dimensions a, b, ...
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

/// The scaled operand, multiplied above its layout changes: there it shares a
/// kernel with what makes it.
static Value scaledOperand(TensorBuilder &b, Value x, double factor) {
  Operation *op = x.getDefiningOp();
  if (!isa_and_nonnull<TransposeOp, ReshapeOp>(op) || !x.hasOneUse())
    return scaled(b, x, factor);
  IRMapping mapping;
  mapping.map(op->getOperand(0), scaledOperand(b, op->getOperand(0), factor));
  return b.clone(*op, mapping)->getResult(0);
}

/// Scores, and where a mask hides them.
static Value masked(TensorBuilder &b, AttentionOp op, Value scores) {
  Value mask = op.getMask();
  if (!mask)
    return scores;
  if (!b.type(mask).getElementType().isInteger(1))
    return b.add(scores, mask);
  double hidden = op.getMaskedValue()
                      ? op.getMaskedValue()->convertToDouble()
                      : -std::numeric_limits<double>::infinity();
  Value filling = b.splat(hidden, b.type(scores));
  // Exporters say what is hidden; nn-recognize-attention negates it.
  auto negation = mask.getDefiningOp<arith::XOrIOp>();
  return negation && matchPattern(negation.getRhs(), m_One())
             ? b.select(negation.getLhs(), filling, scores)
             : b.select(mask, scores, filling);
}

Value AttentionOp::expand(OpBuilder &builder) {
  TensorBuilder b(getLocOf(Part::Scale), builder);
  double scale = getScale().convertToDouble();
  Value query = getQuery(), key = getKey();
  if (getScaling() == AttentionScaling::Query)
    query = scaledOperand(b, query, scale);
  if (getScaling() == AttentionScaling::Both) {
    query = scaledOperand(b, query, std::sqrt(scale));
    key = scaledOperand(b, key, std::sqrt(scale));
  }
  b.setLoc(getLocOf(Part::Scores));
  Value scores = product(b, query, key, "zy");
  b.setLoc(getLocOf(Part::Scale));
  if (getScaling() == AttentionScaling::Scores)
    scores = scaled(b, scores, scale);
  b.setLoc(getLocOf(Part::Mask));
  scores = masked(b, *this, scores);
  b.setLoc(getLocOf(Part::Softmax));
  Value probabilities = b.create<SoftmaxOp>(
      scores, b.type(scores).getRank() - 1, getZeroesEmpty());
  b.setLoc(getLocOf(Part::Dropout));
  if (getDropoutRatio())
    probabilities =
        b.create<DropoutOp>(probabilities, *getDropoutRatio(), *getStream());
  b.setLoc(getLocOf(Part::Product));
  return product(b, probabilities, getValue(), "yz");
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
    names.emplace_back(StringAttr::get(context, nameOf(part)), loc);
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
// Interfaces
//===----------------------------------------------------------------------===//

double AttentionOp::getFloatingPointOperations() {
  double scores = getScoresType().getNumElements();
  double products = 2 * scores *
                    (tensorType(getQuery()).getShape().back() +
                     tensorType(getValue()).getShape().back());
  constexpr int kSoftmax = 4 + kOperationsOfElementaryFunction, kDropout = 12;
  return products + scores * (kSoftmax + (getDropoutRatio() ? kDropout : 0) +
                              (getMask() ? 1 : 0));
}
bool AttentionOp::usesMatrixUnits() { return true; }

/// The gradient is that of the formula, built again: where the op is expanded
/// too, the two are one.
void AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> result) {
  Operation *before = &builder.getBlock()->back();
  Value y = expand(builder);
  SmallVector<Operation *> formula;
  llvm::DenseSet<Value> dependent;
  for (auto [operand, isWanted] : llvm::zip(getOperands(), wanted))
    if (isWanted)
      dependent.insert(operand);
  for (Operation *op = before->getNextNode(); op; op = op->getNextNode()) {
    formula.push_back(op);
    if (llvm::any_of(op->getOperands(),
                     [&](Value value) { return dependent.contains(value); }))
      dependent.insert(op->result_begin(), op->result_end());
  }
  llvm::DenseMap<Value, Value> gradientOf{{y, gradients[0]}};
  for (Operation *op : llvm::reverse(formula)) {
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    Value gradient = gradientOf.lookup(op->getResult(0));
    if (!differentiable || !gradient || !dependent.contains(op->getResult(0)))
      continue;
    SmallVector<Value> of(op->getNumOperands());
    SmallVector<bool> wants;
    for (Value operand : op->getOperands())
      wants.push_back(dependent.contains(operand));
    differentiable.buildVjp(builder, gradient, wants, of);
    TensorBuilder b(op->getLoc(), builder);
    for (auto [operand, part] : llvm::zip(op->getOperands(), of))
      if (Value &sum = gradientOf[operand]; part)
        sum = sum ? b.add(sum, part) : part;
  }
  // One tensor may be several operands: its gradient counts once.
  for (auto [index, operand] : llvm::enumerate(getOperands()))
    if (wanted[index])
      result[index] = std::exchange(gradientOf[operand], Value());
}
