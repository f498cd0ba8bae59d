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

namespace {
/// Query i sees the keys from i + first to i + last, as is_causal and the sizes
/// of the window say.
struct Window {
  int64_t first, last; ///< Beyond all keys where there is no limit.
  int64_t queries, keys;

  bool hidesKeys() const { return first > -queries || last < keys; }
  bool eachQuerySeesAKey() const {
    return first <= 0 && last >= 0 && queries - 1 + first < keys;
  }
};
} // namespace

/// Reads the window. Returns nothing, and notes the problem, if a size is below
/// -1, which stands for no limit.
static std::optional<Window> readWindow(NodeConversion &c, int64_t queries,
                                        int64_t keys) {
  int64_t far = std::max(queries, keys);
  Window window{-far, far, queries, keys};
  int64_t left = c.node.getInt("left_window_size", -1),
          right = c.node.getInt("right_window_size", -1);
  if (left < -1 || right < -1)
    return (void)c.fail("left_window_size and right_window_size must be -1 or "
                        "more, but are " +
                        Twine(left) + " and " + Twine(right)),
           std::nullopt;
  if (left >= 0)
    window.first = -std::min(left, far);
  if (right >= 0)
    window.last = std::min(right, far);
  if (c.node.getInt("is_causal", 0))
    window.last = 0;
  return window;
}

/// Builds the mask of a window that hides keys.
static Value windowMask(NodeConversion &c, const Window &window) {
  auto type =
      RankedTensorType::get({window.queries, window.keys}, c.b.getI64Type());
  Value query = c.b.create<nn::IotaOp>(type, 0),
        key = c.b.create<nn::IotaOp>(type, 1);
  auto limited = [&](int64_t offset, arith::CmpIPredicate predicate) {
    Value shift =
        c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, offset));
    return c.b.compare(predicate, key,
                       c.b.createOrFold<arith::AddIOp>(query, shift));
  };
  return c.b.createOrFold<arith::AndIOp>(
      limited(window.first, arith::CmpIPredicate::sge),
      limited(window.last, arith::CmpIPredicate::sle));
}

/// Builds the mask of operand 3, and in it that of the window; null if there is
/// no operand 3 and a band can say what the window hides.
static LogicalResult buildMask(NodeConversion &c, RankedTensorType scores,
                               const Window &window, Value &mask) {
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
  if (!window.hidesKeys() || (!mask && window.eachQuerySeesAKey()))
    return success();
  Value seen = windowMask(c, window);
  if (!mask) {
    mask = seen;
  } else if (c.type(3).getElementType().isInteger(1)) {
    auto common =
        nn::TensorBuilder::commonShape(c.b.shape(mask), c.b.shape(seen));
    mask = c.b.createOrFold<arith::AndIOp>(c.b.broadcast(mask, common),
                                           c.b.broadcast(seen, common));
  } else {
    double infinity = std::numeric_limits<double>::infinity();
    mask = c.b.select(seen, mask, c.b.splat(-infinity, c.b.type(mask)));
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
                                         {Part::Softcap, whole},
                                         {Part::Bias, whole},
                                         {Part::Mask, whole},
                                         {Part::Softmax, softmax},
                                         {Part::Product, whole}});
}

static LogicalResult attention(NodeConversion &c) {
  for (unsigned index : {4u, 5u, 6u})
    if (c.has(index))
      return c.fail("operand " + Twine(index) +
                    " (a cache of keys and values) is not supported");
  double softcap = c.node.getFloat("softcap", 0);
  if (!(softcap >= 0 && std::isfinite(softcap)))
    return c.fail("attribute softcap must be 0 or more, but is " +
                  std::to_string(softcap));
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
  std::optional<Window> window = readWindow(c, shape[2], keys[2]);
  if (!window || failed(buildMask(c, scores, *window, mask)))
    return failure();
  DenseI64ArrayAttr band;
  if (!mask && window->hidesKeys())
    band = c.b.getDenseI64ArrayAttr({window->first, window->last});
  // A query of a window may see no key. Its result is 0.
  UnitAttr zeroesEmpty =
      window->eachQuerySeesAKey() ? UnitAttr() : c.b.getUnitAttr();
  double scale = c.node.getFloat("scale", 0);
  c.b.setLoc(stepsOf(c.node));
  auto op = c.b.create<nn::AttentionOp>(
      *query, *key, *value, mask, Value(),
      c.b.getF64FloatAttr(scale ? scale : 1 / std::sqrt((double)shape[3])),
      nn::AttentionScalingAttr::get(c.b.getContext(),
                                    nn::AttentionScaling::Scores),
      softcap ? c.b.getF64FloatAttr(softcap) : FloatAttr(), FloatAttr(),
      IntegerAttr(), FloatAttr(), zeroesEmpty, band, DenseI64ArrayAttr());
  Value result = op.getResult();
  if (isJoined)
    result = c.b.reshape(c.b.transpose(result, {0, 2, 1, 3}),
                         {shape[0], shape[2], shape[1] * values[3]});
  return c.yield(result);
}

ArrayRef<OperatorEntry> gpuopt::attentionOperators() {
  static const OperatorEntry entries[] = {
      {"Attention", attention, "no cache of keys and values"}};
  return entries;
}
