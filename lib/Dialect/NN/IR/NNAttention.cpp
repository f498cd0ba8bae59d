//===- NNAttention.cpp - Types and verifiers of attention -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/AttentionScores.h"
#include "gpuopt/Support/TensorType.h"
#include "gpuopt/settings/limits.h"
#include "mlir/Dialect/Traits.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

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

RankedTensorType nn::scoresType(Value query, Value key) {
  RankedTensorType type = tensorType(query);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = tensorType(key).getShape().take_back(2)[0];
  return type.clone(shape);
}
RankedTensorType AttentionOp::getScoresType() {
  return scoresType(getQuery(), getKey());
}

std::pair<int64_t, int64_t>
nn::keysInBand(RankedTensorType scores, ArrayRef<int64_t> band, int64_t row) {
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
// The gradient's types
//===----------------------------------------------------------------------===//

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
