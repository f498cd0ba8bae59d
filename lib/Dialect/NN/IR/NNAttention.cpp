//===- NNAttention.cpp - Attention and the formula that it is -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/AttentionPairs.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/settings/limits.h"
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

static SmallVector<int64_t> inOrder(ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> order) {
  if (order.empty())
    return llvm::to_vector(shape);
  return llvm::map_to_vector(order, [&](int64_t dim) { return shape[dim]; });
}

/// Checks an order; one that is not given is empty.
static LogicalResult verifyOrder(std::optional<Location> loc, StringRef op,
                                 ArrayRef<int64_t> order, int64_t rank) {
  if (order.empty())
    return success();
  auto sorted = llvm::to_vector(order);
  llvm::sort(sorted);
  if (llvm::equal(sorted, llvm::seq<int64_t>(0, rank)) &&
      order.back() == rank - 1)
    return success();
  return emitOptionalError(
      loc, "'", op,
      "' op expects an order that is a permutation of the dimensions 0 to ",
      rank - 1, " with the last one in its place, but got [", order, "]");
}

/// Returns the type of two numbers for each query, in the element type of sums.
static RankedTensorType statisticsType(RankedTensorType query) {
  Type element = query.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(query.getContext());
  SmallVector<int64_t> shape{2};
  llvm::append_range(shape, query.getShape().drop_back());
  return RankedTensorType::get(shape, element);
}

/// Whether keys or values have the query's leading dimensions, or fewer heads
/// in the last one, each for a group of the query's heads.
static bool hasBatchOf(RankedTensorType query, RankedTensorType other) {
  ArrayRef<int64_t> batch = query.getShape().drop_back(2),
                    own = other.getShape().drop_back(2);
  if (batch == own)
    return true;
  return !batch.empty() && batch.drop_back() == own.drop_back() &&
         own.back() > 0 && batch.back() % own.back() == 0;
}

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
        !hasBatchOf(query, other)) // (C1)
      return emitOptionalError(
          loc,
          "'nn.attention' op expects query, key and value of one element type "
          "and rank with equal leading dimensions, of which the last one of "
          "key and value may divide that of the query, but got ",
          query, ", ", key, ", ", value);
  if (key.getShape().back() != query.getShape().back() ||
      key.getShape().drop_back() != value.getShape().drop_back()) // (C2)
    return emitOptionalError(
        loc,
        "'nn.attention' op expects keys of the size of queries, and as many as "
        "values, but got ",
        query, ", ", key, ", ", value);
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  ArrayRef<int64_t> order = adaptor.getOrder().value_or(ArrayRef<int64_t>());
  if (failed(verifyOrder(loc, getOperationName(), order, shape.size()))) // (C6)
    return failure();
  types.push_back(query.clone(inOrder(shape, order)));
  types.push_back(statisticsType(query));
  return success();
}

static RankedTensorType scoresType(Value query, Value key) {
  RankedTensorType type = tensorType(query);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = tensorType(key).getShape().take_back(2)[0];
  return type.clone(shape);
}
RankedTensorType AttentionOp::getScoresType() {
  return scoresType(getQuery(), getKey());
}

/// Returns the keys that query `row` sees: the first one, and the one after the
/// last.
static std::pair<int64_t, int64_t>
keysInBand(RankedTensorType scores, ArrayRef<int64_t> band, int64_t row) {
  int64_t keys = scores.getShape().back();
  return {std::clamp<int64_t>(row + band[0], 0, keys),
          std::clamp<int64_t>(row + band[1] + 1, 0, keys)};
}

static bool eachQuerySeesAKey(RankedTensorType scores, ArrayRef<int64_t> band) {
  int64_t rows = scores.getShape().take_back(2)[0];
  return llvm::all_of(llvm::seq<int64_t>(0, rows), [&](int64_t row) {
    auto [first, end] = keysInBand(scores, band, row);
    return first < end;
  });
}

static bool broadcastsTo(Value value, RankedTensorType scores) {
  SmallVector<int64_t> common;
  return OpTrait::util::getBroadcastedShape(tensorType(value).getShape(),
                                            scores.getShape(), common) &&
         ArrayRef<int64_t>(common) == scores.getShape();
}

/// Checks the operands that change the scores.
template <typename OpT>
static LogicalResult verifyMaskAndBias(OpT op, RankedTensorType scores) {
  Type sums = tensorType(op.getStatistics()).getElementType();
  if (Value mask = op.getMask()) { // (C3)
    Type element = tensorType(mask).getElementType();
    bool hasType = element.isInteger(1) || element == sums ||
                   element == scores.getElementType();
    if (!hasType || !broadcastsTo(mask, scores))
      return op.emitOpError("expects a boolean mask or one of ")
             << scores.getElementType() << " that broadcasts to " << scores
             << ", but got " << mask.getType();
  }
  if (Value bias = op.getBias()) // (C8)
    if (tensorType(bias).getElementType() != sums ||
        !broadcastsTo(bias, scores))
      return op.emitOpError("expects a bias of ")
             << sums << " that broadcasts to " << scores << ", but got "
             << bias.getType();
  return success();
}

/// Checks what an attention and its gradient have in common.
template <typename OpT>
static LogicalResult verifyOptions(OpT op) {
  RankedTensorType scores = scoresType(op.getQuery(), op.getKey());
  if (failed(verifyMaskAndBias(op, scores)))
    return failure();
  if (std::optional<ArrayRef<int64_t>> band = op.getBand()) {
    if (op.getMask())
      return op.emitOpError("expects a mask or a band, but got both");
    if (band->size() != 2 || !eachQuerySeesAKey(scores, *band))
      return op.emitOpError("expects a band of the first and the last key, "
                            "with at least one key for each query, but got [")
             << *band << "]";
  }
  if (op.getSoftcap()) { // (C9)
    double cap = op.getSoftcap()->convertToDouble();
    if (!(cap > 0 && std::isfinite(cap)))
      return op.emitOpError("expects a soft cap above 0, but got ") << cap;
  }
  if (op.getDropoutRatio().has_value() != op.getStream().has_value())
    return op.emitOpError("expects a ratio and a stream of dropout, or "
                          "neither");
  if (op.getDropoutRatio()) {
    double ratio = op.getDropoutRatio()->convertToDouble();
    if (!(ratio >= 0 && ratio < 1))
      return op.emitOpError(
                 "expects a ratio of at least 0 and below 1, but got ")
             << ratio;
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  double scale = getScale().convertToDouble();
  if (getScaling() == AttentionScaling::Both && !(scale >= 0)) // (C4)
    return emitOpError("expects a scale of at least 0 for both query and key, "
                       "but got ")
           << scale;
  return verifyOptions(*this); // (C3), (C5), (C7), (C8), (C9)
}

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
  Value scores = product(b, query, repeated(b, key, query), "zy");
  b.setLoc(getLocOf(Part::Scale));
  if (getScaling() == AttentionScaling::Scores)
    scores = scaled(b, scores, scale);
  b.setLoc(getLocOf(Part::Softcap));
  scores = capped(b, *this, scores);
  b.setLoc(getLocOf(Part::Bias));
  if (getBias())
    scores = b.add(scores, getBias());
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
  return product(b, probabilities, repeated(b, getValue(), query), "yz");
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
// Costs
//===----------------------------------------------------------------------===//

/// Returns the number of pairs of a query and a key that it sees.
static double seenPairs(RankedTensorType scores,
                        std::optional<ArrayRef<int64_t>> band) {
  if (!band)
    return scores.getNumElements();
  ArrayRef<int64_t> shape = scores.getShape();
  double pairs = 0;
  for (int64_t row : llvm::seq<int64_t>(0, shape.take_back(2)[0])) {
    auto [first, end] = keysInBand(scores, *band, row);
    pairs += end - first;
  }
  for (int64_t batch : shape.drop_back(2))
    pairs *= batch;
  return pairs;
}

std::optional<AttentionPairs> gpuopt::attentionPairsOf(Operation *op) {
  if (auto forward = dyn_cast<AttentionOp>(op))
    return AttentionPairs{seenPairs(forward.getScoresType(), forward.getBand()),
                          false, forward.getSoftcap().has_value()};
  if (auto gradient = dyn_cast<AttentionGradOp>(op))
    return AttentionPairs{
        seenPairs(scoresType(gradient.getQuery(), gradient.getKey()),
                  gradient.getBand()),
        true, gradient.getSoftcap().has_value()};
  return std::nullopt;
}

double AttentionOp::getFloatingPointOperations() {
  double pairs = attentionPairsOf(*this)->visible;
  double products = 2 * pairs *
                    (tensorType(getQuery()).getShape().back() +
                     tensorType(getValue()).getShape().back());
  constexpr int kSoftmax = 4 + kOperationsOfElementaryFunction, kDropout = 12;
  constexpr int kSoftcap = 2 + kOperationsOfElementaryFunction;
  return products + pairs * (kSoftmax + (getDropoutRatio() ? kDropout : 0) +
                             (getSoftcap() ? kSoftcap : 0) +
                             (getMask() ? 1 : 0) + (getBias() ? 1 : 0));
}
bool AttentionOp::usesMatrixUnits() { return true; }

/// The gradient has five products, where the forward has two, and computes the
/// softmax again. That of a bias is one sum more.
double AttentionGradOp::getFloatingPointOperations() {
  double pairs = attentionPairsOf(*this)->visible;
  double products = 2 * pairs *
                    (3 * tensorType(getQuery()).getShape().back() +
                     2 * tensorType(getValue()).getShape().back());
  constexpr int kSoftmax = 5 + kOperationsOfElementaryFunction;
  constexpr int kDropout = 12;
  constexpr int kSoftcap = 5 + kOperationsOfElementaryFunction;
  return products + pairs * (kSoftmax + (getDropoutRatio() ? kDropout : 0) +
                             (getSoftcap() ? kSoftcap : 0) +
                             (getMask() ? 1 : 0) + (getBias() ? 2 : 0));
}
bool AttentionGradOp::usesMatrixUnits() { return true; }

//===----------------------------------------------------------------------===//
// The gradient
//===----------------------------------------------------------------------===//

/// Builds the formula again and its gradient. If the op is expanded as well,
/// the two copies of the formula are merged.
static void buildVjpOfFormula(AttentionOp op, OpBuilder &builder,
                              Value gradient, ArrayRef<bool> wanted,
                              MutableArrayRef<Value> result) {
  Operation *before = &builder.getBlock()->back();
  Value y = op.expand(builder);
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
    TensorBuilder b(step->getLoc(), builder);
    for (auto [operand, part] : llvm::zip(step->getOperands(), of))
      if (Value &sum = gradientOf[operand]; part)
        sum = sum ? b.add(sum, part) : part;
  }
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

/// Whether the runtime adds up the columns of the gradients of such an
/// attention. All tensors have the same rank.
static bool canSumColumns(ArrayRef<int64_t> order, RankedTensorType query,
                          RankedTensorType key, RankedTensorType value,
                          bool hasBias) {
  return order == ArrayRef<int64_t>{0, 2, 1, 3} && !hasBias && key == query &&
         value.getShape().drop_back() == query.getShape().drop_back() &&
         std::max(query.getShape().back(), value.getShape().back()) <=
             kLargestSummedHead;
}

bool AttentionGradOp::canSumColumns() {
  return ::canSumColumns(getOrder().value_or(ArrayRef<int64_t>()),
                         tensorType(getQuery()), tensorType(getKey()),
                         tensorType(getValue()), bool(getBias()));
}

/// Returns the type of the parts of these sums.
static RankedTensorType columnSumsType(RankedTensorType query,
                                       RankedTensorType value) {
  ArrayRef<int64_t> shape = query.getShape();
  int64_t parts = shape[0] * llvm::divideCeil(shape[2], kAttentionSumRows),
          columns = shape[1] * (2 * shape[3] + value.getShape()[3]);
  return RankedTensorType::get({parts, 1, columns},
                               Float32Type::get(query.getContext()));
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> order = adaptor.getOrder().value_or(ArrayRef<int64_t>());
  RankedTensorType query = tensorType(adaptor.getQuery());
  if (failed(
          verifyOrder(loc, getOperationName(), order, query.getRank()))) // (C2)
    return failure();
  for (Value operand :
       {adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()}) {
    RankedTensorType type = tensorType(operand);
    if (type.getRank() < 2 || type.getRank() != query.getRank()) // (C1)
      return emitOptionalError(
          loc,
          "'nn.attention_grad' op expects query, key and value of one "
          "rank of 2 or more, but got ",
          query, " and ", type);
    types.push_back(type.clone(inOrder(type.getShape(), order)));
  }
  if (adaptor.getSumsColumns()) {
    if (!::canSumColumns(order, query, tensorType(adaptor.getKey()),
                         tensorType(adaptor.getValue()),
                         bool(adaptor.getBias()))) // (C4)
      return emitOptionalError(
          loc,
          "'nn.attention_grad' op expects to sum columns in the order [0, 2, "
          "1, 3] of one head of keys for each of queries, as many keys as "
          "queries, heads of up to ",
          kLargestSummedHead, " elements, and no bias, but got ", query, ", ",
          adaptor.getKey().getType(), " and ", adaptor.getValue().getType());
    types.push_back(columnSumsType(query, tensorType(adaptor.getValue())));
  } else if (Value bias = adaptor.getBias()) {
    types.push_back(bias.getType());
  }
  return success();
}

LogicalResult AttentionGradOp::verify() {
  RankedTensorType query = tensorType(getQuery()), key = tensorType(getKey()),
                   value = tensorType(getValue());
  SmallVector<int64_t> outputShape(query.getShape()), keyShape(outputShape),
      valueShape(outputShape);
  size_t rows = outputShape.size() - 2;
  outputShape.back() = valueShape.back() = value.getShape().back();
  keyShape[rows] = valueShape[rows] = key.getShape()[rows];
  if (rows > 0 && key.getRank() == query.getRank() && hasBatchOf(query, key))
    keyShape[rows - 1] = valueShape[rows - 1] = key.getShape()[rows - 1];
  Type output = query.clone(outputShape), sums = statisticsType(query);
  if (key != query.clone(keyShape) || value != query.clone(valueShape)) // (C1)
    return emitOpError("expects query, key and value of an attention, but got ")
           << query << ", " << key << " and " << value;
  if (getOutput().getType() != output || getGradient().getType() != output ||
      getStatistics().getType() != sums) // (C1)
    return emitOpError("expects the attention's results, ")
           << output << " and " << sums
           << ", and a gradient of the first, but got " << getOutput().getType()
           << ", " << getStatistics().getType() << " and "
           << getGradient().getType();
  return verifyOptions(*this); // (C3)
}
