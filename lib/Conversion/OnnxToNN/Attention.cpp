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
  if (shape.size() != 3 || heads < 1 || shape[2] % heads) {
    c.problem = ("operand " + Twine(index) +
                 " must have rank 4, or rank 3 and heads (attribute " +
                 attribute + ") that divide its last dimension")
                    .str();
    return std::nullopt;
  }
  Value split = c.b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return c.b.transpose(split, {0, 2, 1, 3});
}

namespace {
/// Query i sees the keys from i + first to i + last, as is_causal and the sizes
/// of the window say. The keys of a cache come before that of query 0.
struct Window {
  int64_t first, last; ///< Beyond all keys where there is no limit.
  int64_t queries, keys;

  bool hidesKeys() const { return first > -queries || last < keys; }
  bool eachQuerySeesAKey() const {
    return last >= std::max<int64_t>(first, 0) && queries - 1 + first < keys;
  }
  bool isBand() const { return first <= 0; }
};
} // namespace

/// Reads the window. Returns nothing, and notes the problem, if a size is below
/// -1, which stands for no limit.
static std::optional<Window> readWindow(NodeConversion &c, int64_t queries,
                                        int64_t keys, int64_t past) {
  int64_t far = std::max(queries, keys) + past;
  Window window{-far, far, queries, keys};
  int64_t left = c.node.getInt("left_window_size", -1),
          right = c.node.getInt("right_window_size", -1);
  if (left < -1 || right < -1) {
    c.problem = "left_window_size and right_window_size must be -1 or more, "
                "but are " +
                std::to_string(left) + " and " + std::to_string(right);
    return std::nullopt;
  }
  if (left >= 0)
    window.first = std::max(past - left, -far);
  if (right >= 0)
    window.last = std::min(std::min(right, far) + past, far);
  if (c.node.getInt("is_causal", 0))
    window.last = past;
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

/// Returns a mask that hides what `mask` does, which may be null, and shows
/// nothing that is not `seen`.
static Value hideKeys(NodeConversion &c, Value mask, Value seen) {
  if (!mask)
    return seen;
  if (c.b.type(mask).getElementType().isInteger(1)) {
    auto common =
        nn::TensorBuilder::commonShape(c.b.shape(mask), c.b.shape(seen));
    return c.b.createOrFold<arith::AndIOp>(c.b.broadcast(mask, common),
                                           c.b.broadcast(seen, common));
  }
  double infinity = std::numeric_limits<double>::infinity();
  return c.b.select(seen, mask, c.b.splat(-infinity, c.b.type(mask)));
}

/// Fills up a mask that ends before the last keys, which it hides.
static Value filledUp(NodeConversion &c, Value mask, int64_t keys) {
  SmallVector<int64_t> shape(c.b.shape(mask));
  if (shape.empty() || shape.back() == 1 || shape.back() >= keys)
    return mask;
  shape.back() = keys - shape.back();
  auto rest = c.b.type(mask).clone(shape);
  bool isTruth = rest.getElementType().isInteger(1);
  double hidden = isTruth ? 0 : -std::numeric_limits<double>::infinity();
  return c.b.createOrFold<nn::ConcatOp>(
      ValueRange{mask, c.b.splat(hidden, rest)}, (int64_t)shape.size() - 1);
}

/// Hides the keys behind the lengths of operand 6, of which the queries are the
/// last. Without lengths, the mask stays as it is.
static LogicalResult hidePadding(NodeConversion &c, RankedTensorType scores,
                                 Value &mask) {
  if (!c.has(6))
    return success();
  ArrayRef<int64_t> shape = scores.getShape();
  if (c.type(6).getShape() != shape.take_front(1) || c.has(4))
    return c.fail("operand 6 (nonpad_kv_seqlen) must be a length for each "
                  "sequence of the batch, without a cache of keys and values");
  Value lengths = c.input(6);
  if (!c.type(6).getElementType().isInteger(64))
    lengths = c.b.createOrFold<arith::ExtSIOp>(
        c.type(6).clone(c.b.getI64Type()), lengths);
  lengths = c.b.reshape(lengths, {shape[0], 1, 1, 1});
  auto pairs = RankedTensorType::get({shape[0], 1, shape[2], shape[3]},
                                     c.b.getI64Type());
  Value key = c.b.create<nn::IotaOp>(pairs, 3),
        length = c.b.broadcast(lengths, pairs.getShape());
  // The place of each query among the keys.
  Value query = c.b.createOrFold<arith::AddIOp>(
      c.b.create<nn::IotaOp>(pairs, 2),
      c.b.createOrFold<arith::SubIOp>(length, c.b.splat(shape[2], pairs)));
  mask = hideKeys(c, mask, c.b.compare(arith::CmpIPredicate::slt, key, length));
  auto limit = [&](arith::CmpIPredicate predicate, int64_t offset) {
    Value end =
        c.b.createOrFold<arith::AddIOp>(query, c.b.splat(offset, pairs));
    mask = hideKeys(c, mask, c.b.compare(predicate, key, end));
  };
  int64_t left = c.node.getInt("left_window_size", -1),
          right = c.node.getInt("right_window_size", -1);
  int64_t far = shape[2] + shape[3]; // beyond all keys of any query
  left = std::min(left, far);
  right = std::min(right, far);
  if (left >= 0)
    limit(arith::CmpIPredicate::sge, -left);
  if (c.node.getInt("is_causal", 0))
    limit(arith::CmpIPredicate::sle, 0);
  else if (right >= 0)
    limit(arith::CmpIPredicate::sle, right);
  return success();
}

/// Builds the mask of operand 3, and in it that of the window; null if there is
/// no operand 3 and a band can say what the window hides.
static LogicalResult buildMask(NodeConversion &c, RankedTensorType scores,
                               const Window &window, Value &mask) {
  if (c.has(3)) {
    mask = filledUp(c, c.input(3), window.keys);
    Type element = c.type(3).getElementType();
    if (c.commonShape({mask, c.b.splat(0, scores)}) !=
            llvm::to_vector(scores.getShape()) ||
        (!element.isInteger(1) && element != scores.getElementType()))
      return c.fail(
          "operand 3 (attn_mask) must broadcast to the scores, and be "
          "boolean or of their type");
  }
  bool isBand = window.isBand() && window.eachQuerySeesAKey();
  if (!window.hidesKeys() || (!mask && isBand && !c.has(6)))
    return success();
  mask = hideKeys(c, mask, windowMask(c, window));
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

/// Puts the keys, or the values, of a cache before the new ones.
static LogicalResult addPast(NodeConversion &c, unsigned operand, Value &x) {
  SmallVector<int64_t> shape(c.b.shape(x));
  if (c.type(operand).getRank() == 4)
    shape[2] = c.type(operand).getDimSize(2);
  if (c.type(operand) != c.b.type(x).clone(shape))
    return c.fail("operand " + Twine(operand) +
                  " (a cache) must have shape [batch, heads, past, size]");
  x = c.b.createOrFold<nn::ConcatOp>(ValueRange{c.input(operand), x}, 2);
  return success();
}

/// Returns what the attribute qk_matmul_output_mode asks for: the scores, with
/// the soft cap, with the mask, or their softmax.
static Value scoresOf(NodeConversion &c, nn::AttentionOp op,
                      const Window &window, int64_t mode) {
  nn::TensorBuilder &b = c.b;
  Value query = op.getQuery(), key = op.getKey(), mask = op.getMask();
  int64_t heads = b.shape(query)[1], shared = b.shape(key)[1];
  if (heads != shared) {
    SmallVector<int64_t> repeated;
    for (int64_t head = 0; head < heads; ++head)
      repeated.push_back(head / (heads / shared));
    key = pick(b, key, 1, repeated);
  }
  Value scores = b.create<nn::ContractOp>("bhqd,bhkd->bhqk", query, key);
  scores = b.mul(scores, op.getScale().convertToDouble());
  if (auto cap = mode > 0 ? op.getSoftcap() : std::nullopt) {
    double limit = cap->convertToDouble();
    scores = b.mul(b.create<math::TanhOp>(b.mul(scores, 1 / limit)), limit);
  }
  if (mode < 2)
    return scores;
  if (!mask && window.hidesKeys())
    mask = windowMask(c, window);
  double infinity = std::numeric_limits<double>::infinity();
  if (mask && b.type(mask).getElementType().isInteger(1))
    scores = b.select(mask, scores, b.splat(-infinity, b.type(scores)));
  else if (mask)
    scores = b.add(scores, mask);
  return mode == 2 ? scores
                   : b.create<nn::SoftmaxOp>(scores, 3, /*zeroes_empty=*/true);
}

static bool isUsed(NodeConversion &c, unsigned output) {
  return c.node.getOutputs().size() > output &&
         !c.node.getOutputs()[output].use_empty();
}

static LogicalResult attention(NodeConversion &c) {
  if (c.has(4) != c.has(5))
    return c.fail("operands 4 and 5 (a cache of keys and values) must come "
                  "together");
  double softcap = c.node.getFloat("softcap", 0);
  if (!(softcap >= 0 && std::isfinite(softcap)))
    return c.fail("attribute softcap must be 0 or more, but is " +
                  std::to_string(softcap));
  bool isJoined = c.type(0).getRank() == 3;
  auto query = splitHeads(c, 0, "q_num_heads");
  auto key = query ? splitHeads(c, 1, "kv_num_heads") : std::nullopt;
  auto value = key ? splitHeads(c, 2, "kv_num_heads") : std::nullopt;
  if (!value || (c.has(4) && (failed(addPast(c, 4, *key)) ||
                              failed(addPast(c, 5, *value)))))
    return failure();
  int64_t past = c.has(4) ? c.type(4).getDimSize(2) : 0;
  ArrayRef<int64_t> shape = c.b.shape(*query), keys = c.b.shape(*key),
                    values = c.b.shape(*value);
  if (shape[0] != keys[0] || shape[0] != values[0] || keys[1] != values[1] ||
      keys[1] < 1 || shape[1] % keys[1] || keys[2] != values[2] ||
      shape[3] != keys[3])
    return c.fail("query, key and value have the shapes " +
                  shapesText(c.b, {*query, *key, *value}) +
                  " ([batch, heads, positions, size of a head]), which do not "
                  "agree");
  auto scores = c.b.type(*query).clone({shape[0], shape[1], shape[2], keys[2]});
  Value mask;
  std::optional<Window> window = readWindow(c, shape[2], keys[2], past);
  if (!window)
    return failure();
  // Lengths move the window of each sequence.
  if (c.has(6))
    window = Window{-window->keys - window->queries,
                    window->keys + window->queries, shape[2], keys[2]};
  if (failed(buildMask(c, scores, *window, mask)) ||
      failed(hidePadding(c, scores, mask)))
    return failure();
  DenseI64ArrayAttr band;
  if (!mask && window->hidesKeys())
    band = c.b.getDenseI64ArrayAttr({window->first, window->last});
  // A query that a mask or a window shows no key has a result of 0.
  bool seesAKey = window->eachQuerySeesAKey() && !c.has(3) && !c.has(6);
  UnitAttr zeroesEmpty = seesAKey ? UnitAttr() : c.b.getUnitAttr();
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
  for (Value output : {result, *key, *value})
    c.outputs.push_back({{output}, false});
  if (!isUsed(c, 3))
    return success();
  int64_t mode = c.node.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return c.fail("attribute qk_matmul_output_mode = " + Twine(mode) +
                  " is not supported");
  return c.yield(scoresOf(c, op, *window, mode));
}

ArrayRef<OperatorEntry> gpuopt::attentionOperators() {
  static const OperatorEntry entries[] = {{"Attention", attention}};
  return entries;
}
