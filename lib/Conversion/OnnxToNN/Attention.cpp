//===- Attention.cpp - The operator Attention -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;
using Part = nn::AttentionOp::Part;

/// Reshapes [batch, rows, heads * size] to [batch, heads, rows, size]. Returns
/// nothing, and notes the problem, if the heads do not divide the last
/// dimension.
static std::optional<Value> splitHeads(NodeConversion &c, unsigned index,
                                       StringRef attribute) {
  Value x = c.input(index);
  ArrayRef<int64_t> shape = c.b.shape(x);
  if (shape.size() == 4)
    return x;
  int64_t heads = c.node.getInt(attribute, 0);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads)
    return (void)c.fail("operand " + Twine(index) +
                        " must have rank 4, or rank 3 and heads (attribute " +
                        attribute + ") that divide its last dimension"),
           std::nullopt;
  Value split = c.b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return c.b.transpose(split, {0, 2, 1, 3});
}

/// Builds the mask in which query i sees the keys up to i.
static Value causalMask(NodeConversion &c, int64_t rows, int64_t columns) {
  auto type = RankedTensorType::get({rows, columns}, c.b.getI64Type());
  return c.b.compare(arith::CmpIPredicate::sle, c.b.create<nn::IotaOp>(type, 1),
                     c.b.create<nn::IotaOp>(type, 0));
}

/// Builds the mask of operand 3, including that of is_causal; null if there is
/// none.
static LogicalResult buildMask(NodeConversion &c, RankedTensorType scores,
                               Value &mask) {
  if (c.has(3)) {
    mask = c.input(3);
    Type element = c.type(3).getElementType();
    if (c.commonShape({mask, c.b.splat(0, scores)}) !=
            llvm::to_vector(scores.getShape()) ||
        (!element.isInteger(1) && element != scores.getElementType()))
      return c.fail(
          "operand 3 (attn_mask) must broadcast to the scores, and be "
          "boolean or of their type");
  }
  if (!c.node.getInt("is_causal", 0))
    return success();
  if (!mask) // the band does it
    return success();
  Value causal = causalMask(c, scores.getShape()[2], scores.getShape()[3]);
  if (c.type(3).getElementType().isInteger(1)) {
    auto common =
        nn::TensorBuilder::commonShape(c.b.shape(mask), c.b.shape(causal));
    mask = c.b.createOrFold<arith::AndIOp>(c.b.broadcast(mask, common),
                                           c.b.broadcast(causal, common));
  } else {
    double infinity = std::numeric_limits<double>::infinity();
    mask = c.b.select(causal, mask, c.b.splat(-infinity, c.b.type(mask)));
  }
  return success();
}

/// Returns the locations of the parts. For the choice of precisions, the
/// softmax inside counts as a Softmax, and the rest as the operator of the
/// node.
static Location stepsOf(onnx::NodeOp node) {
  MLIRContext *context = node.getContext();
  Location whole = node.getLoc();
  Location softmax =
      NameLoc::get(StringAttr::get(context, node.getNodeName()),
                   NameLoc::get(StringAttr::get(context, "Softmax")));
  return nn::AttentionOp::fuseLocations({{Part::Scores, whole},
                                         {Part::Scale, whole},
                                         {Part::Mask, whole},
                                         {Part::Softmax, softmax},
                                         {Part::Product, whole}});
}

static LogicalResult attention(NodeConversion &c) {
  for (unsigned index : {4u, 5u, 6u})
    if (c.has(index))
      return c.fail("operand " + Twine(index) +
                    " (a cache of keys and values) is not supported");
  if (c.node.getFloat("softcap", 0) != 0)
    return c.fail("attribute softcap is not supported");
  for (StringRef window : {"left_window_size", "right_window_size"})
    if (c.node.getInt(window, -1) != -1)
      return c.fail("attribute " + window + " is not supported");
  bool isJoined = c.type(0).getRank() == 3;
  auto query = splitHeads(c, 0, "q_num_heads");
  auto key = query ? splitHeads(c, 1, "kv_num_heads") : std::nullopt;
  auto value = key ? splitHeads(c, 2, "kv_num_heads") : std::nullopt;
  if (!value)
    return failure();
  ArrayRef<int64_t> shape = c.b.shape(*query), keys = c.b.shape(*key),
                    values = c.b.shape(*value);
  if (shape[0] != keys[0] || shape[0] != values[0] || keys[1] != values[1] ||
      keys[1] < 1 || shape[1] % keys[1] || keys[2] != values[2] ||
      shape[3] != keys[3])
    return c.fail("the shapes of query, key and value do not agree");
  auto scores = c.b.type(*query).clone({shape[0], shape[1], shape[2], keys[2]});
  Value mask;
  if (failed(buildMask(c, scores, mask)))
    return failure();
  DenseI64ArrayAttr band;
  if (!mask && c.node.getInt("is_causal", 0))
    band = c.b.getDenseI64ArrayAttr({-std::max(shape[2], keys[2]), 0});
  double scale = c.node.getFloat("scale", 0);
  c.b.setLoc(stepsOf(c.node));
  auto op = c.b.create<nn::AttentionOp>(
      *query, *key, *value, mask, Value(),
      c.b.getF64FloatAttr(scale ? scale : 1 / std::sqrt((double)shape[3])),
      nn::AttentionScalingAttr::get(c.b.getContext(),
                                    nn::AttentionScaling::Scores),
      FloatAttr(), IntegerAttr(), FloatAttr(), UnitAttr(), band,
      DenseI64ArrayAttr());
  Value result = op.getResult();
  if (isJoined)
    result = c.b.reshape(c.b.transpose(result, {0, 2, 1, 3}),
                         {shape[0], shape[2], shape[1] * values[3]});
  return c.yield(result);
}

ArrayRef<OperatorEntry> gpuopt::attentionOperators() {
  static const OperatorEntry entries[] = {
      {"Attention", attention,
       "no cache of keys and values, no softcap, no sliding window"}};
  return entries;
}
