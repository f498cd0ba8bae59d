//===- Recurrence.cpp - Linear attention, causal convolutions, Det --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What is computed step by step, over tokens or over columns of a matrix. The
// steps are unrolled, but for those over many tokens, which are a loop.
//
//===----------------------------------------------------------------------===//

#include "Places.h"
#include "gpuopt/Dialect/NN/IR/ScanBuilder.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Linear attention
//===----------------------------------------------------------------------===//

namespace {

/// A LinearAttention node. The state S [batch, heads, keys, values] of each
/// head of keys and values goes from token to token; `group` heads of queries
/// read it.
class LinearAttention {
public:
  explicit LinearAttention(NodeConversion &c) : c(c), b(c.b) {}

  LogicalResult convert() {
    if (failed(check()))
      return failure();
    RankedTensorType stateType =
        c.type(0).clone({batch, heads, keySize, valueSize});
    Value state = c.has(3) ? c.input(3) : b.splat(0, stateType);
    if (b.type(state) != stateType)
      return c.fail("operand 3 (the past state) must have shape [batch, "
                    "kv_num_heads, keys, values]");
    Value queries = b.mul(split(0, heads * group, keySize), scale);
    queries = b.reshape(queries, {batch, tokens, heads, group, keySize});
    Value keys = split(1, heads, keySize), values = split(2, heads, valueSize);
    Value results = !isGated && !isDelta
                        ? allAtOnce(queries, keys, values, state)
                        : oneByOne(queries, keys, values, state);
    c.outputs.push_back(
        {{b.reshape(results, {batch, tokens, heads * group * valueSize})},
         false});
    c.outputs.push_back({{state}, false});
    return success();
  }

private:
  LogicalResult check() {
    for (unsigned index : {0u, 1u, 2u})
      if (c.type(index).getRank() != 3)
        return c.fail("queries, keys and values must have rank 3");
    int64_t queryHeads = c.node.getInt("q_num_heads", 0);
    heads = c.node.getInt("kv_num_heads", 0);
    batch = c.type(0).getDimSize(0);
    tokens = c.type(0).getDimSize(1);
    if (heads < 1 || queryHeads < 1 || queryHeads % heads ||
        c.type(0).getDimSize(2) % queryHeads || c.type(2).getDimSize(2) % heads)
      return c.fail("attributes q_num_heads = " + Twine(queryHeads) +
                    " and kv_num_heads = " + Twine(heads) +
                    " must divide each other and the last dimensions");
    group = queryHeads / heads;
    keySize = c.type(0).getDimSize(2) / queryHeads;
    valueSize = c.type(2).getDimSize(2) / heads;
    if (tokens < 1 || keySize < 1 || valueSize < 1 ||
        c.type(1) != c.type(0).clone({batch, tokens, heads * keySize}) ||
        c.type(2) != c.type(0).clone({batch, tokens, heads * valueSize}))
      return c.fail("queries, keys and values do not fit each other");
    scale = c.node.getFloat("scale", 0);
    if (scale == 0)
      scale = 1 / std::sqrt(double(keySize));
    // The scores, the state, and the result.
    if (!c.isShape({batch, queryHeads, tokens, tokens}) ||
        !c.isShape({batch, heads, keySize, valueSize}) ||
        !c.isShape({batch, tokens, queryHeads, valueSize}))
      return failure();
    return checkRule();
  }

  LogicalResult checkRule() {
    StringRef rule = c.node.getString("update_rule", "gated_delta");
    isGated = rule == "gated" || rule == "gated_delta";
    isDelta = rule == "delta" || rule == "gated_delta";
    if (!isGated && !isDelta && rule != "linear")
      return c.fail("attribute update_rule = '" + rule + "' is not supported");
    if ((isGated && !c.has(4)) || (isDelta && !c.has(5)))
      return c.fail("update_rule = '" + rule + "' needs operand " +
                    Twine(isGated && !c.has(4) ? 4 : 5));
    if (isGated && c.type(4) != c.type(1) &&
        c.type(4) != c.type(0).clone({batch, tokens, heads}))
      return c.fail("operand 4 (the decay) must have a number for each head, "
                    "or one for each key dimension");
    if (isDelta && c.type(5) != c.type(0).clone({batch, tokens, heads}) &&
        c.type(5) != c.type(0).clone({batch, tokens, 1}))
      return c.fail("operand 5 (beta) must have a number for each head, or one "
                    "for all");
    if ((isGated || isDelta) && tokens > kMostLoopSteps)
      return c.fail("a sequence of " + Twine(tokens) +
                    " tokens is too long, since at most " +
                    Twine(kMostLoopSteps) +
                    " are supported: train on shorter sequences");
    return success();
  }

  /// Returns an operand as [batch, tokens, heads, size].
  Value split(unsigned index, int64_t count, int64_t size) {
    return b.reshape(c.input(index), {batch, tokens, count, size});
  }
  /// Returns token `token` of [batch, tokens, ...], without that dimension.
  Value tokenOf(Value x, int64_t token) {
    SmallVector<int64_t> shape(b.shape(x));
    shape.erase(shape.begin() + 1);
    return b.reshape(partOf(b, x, 1, token, 1), shape);
  }

  /// Without gates, a result is a sum over the tokens up to its own.
  Value allAtOnce(Value queries, Value keys, Value values, Value &state) {
    Value scores = b.create<nn::ContractOp>("bthgk,bshk->bhgts", queries, keys);
    auto index = RankedTensorType::get({tokens, tokens}, b.getI64Type());
    Value isPast =
        b.compare(arith::CmpIPredicate::sge, b.create<nn::IotaOp>(index, 0),
                  b.create<nn::IotaOp>(index, 1));
    Value mask = b.toFloat(isPast, c.type(0).getElementType());
    Value results = b.create<nn::ContractOp>("bhgts,bshv->bthgv",
                                             b.mul(scores, mask), values);
    Value before =
        b.create<nn::ContractOp>("bthgk,bhkv->bthgv", queries, state);
    state =
        b.add(state, b.create<nn::ContractOp>("bshk,bshv->bhkv", keys, values));
    return b.add(results, before);
  }

  /// What one token has: [batch, ...]. The last two may be null.
  struct Token {
    Value query, key, value, decay, beta;
  };

  /// Returns the result of a token, and changes the state.
  Value step(nn::TensorBuilder &b, const Token &token, Value &state) {
    if (token.decay) {
      SmallVector<int64_t> shape(b.shape(token.decay)); // [batch, heads, sizes]
      shape.push_back(1);
      state = b.mul(state, b.reshape(token.decay, shape));
    }
    Value value = token.value;
    if (token.beta) {
      Value known = b.create<nn::ContractOp>("bhkv,bhk->bhv", state, token.key);
      value = b.mul(b.sub(value, known), token.beta);
    }
    Value product = b.mul(b.reshape(token.key, {batch, heads, keySize, 1}),
                          b.reshape(value, {batch, heads, 1, valueSize}));
    state = b.add(state, product);
    return b.create<nn::ContractOp>("bhgk,bhkv->bhgv", token.query, state);
  }

  Value oneByOne(Value queries, Value keys, Value values, Value &state) {
    Value decay, beta;
    if (isGated)
      decay = b.exp(split(4, heads, c.type(4).getDimSize(2) / heads));
    if (isDelta)
      beta = b.reshape(c.input(5), {batch, tokens, c.type(5).getDimSize(2), 1});
    Token all{queries, keys, values, decay, beta};
    if (tokens > kMostUnrolledSteps)
      return inLoop(all, state);
    SmallVector<Value> results;
    for (int64_t token = 0; token < tokens; ++token) {
      Token one{tokenOf(queries, token), tokenOf(keys, token),
                tokenOf(values, token), decay ? tokenOf(decay, token) : Value(),
                beta ? tokenOf(beta, token) : Value()};
      Value result = step(b, one, state);
      results.push_back(b.reshape(result, {batch, 1, heads, group, valueSize}));
    }
    return b.createOrFold<nn::ConcatOp>(results, 1);
  }

  /// Does the same with a loop, whose iterations have a token each.
  Value inLoop(const Token &all, Value &state) {
    nn::ScanBuilder scan(b.getContext(), tokens, /*reverse=*/false);
    nn::TensorBuilder iteration(b.getLoc(), b.getContext());
    iteration.setInsertionPointToEnd(&scan.getIteration());
    auto slice = [&](Value tensor) {
      if (!tensor)
        return Value();
      auto order = llvm::to_vector(llvm::seq(b.type(tensor).getRank()));
      std::swap(order[0], order[1]);
      return scan.addSlice(b.transpose(tensor, order));
    };
    Token one{slice(all.query), slice(all.key), slice(all.value),
              slice(all.decay), slice(all.beta)};
    Value after = scan.addState(state);
    Value result = step(iteration, one, after);
    scan.capture(b);
    nn::ScanOp op = scan.finish(b, b.getLoc(), {after}, {result});
    state = b.reshape(partOf(b, op.getHistories()[0], 0, op.getFinalEntry(), 1),
                      b.shape(state));
    return b.transpose(op.getStacked()[0], {1, 0, 2, 3, 4});
  }

  NodeConversion &c;
  nn::TensorBuilder &b;
  int64_t batch = 0, tokens = 0, heads = 0, group = 0, keySize = 0,
          valueSize = 0;
  double scale = 1;
  bool isGated = false, isDelta = false;
};

} // namespace

static LogicalResult linearAttention(NodeConversion &c) {
  return LinearAttention(c).convert();
}

//===----------------------------------------------------------------------===//
// Causal convolution
//===----------------------------------------------------------------------===//

/// Convolves each channel with the elements before each one, of which the first
/// come from the state.
static LogicalResult causalConv(NodeConversion &c) {
  constexpr int64_t kLongestKernel = 256; // a sum has as many parts
  ArrayRef<int64_t> shape = c.type(0).getShape(),
                    weights = c.type(1).getShape();
  if (shape.size() != 3 || weights.size() != 3 || weights[0] != shape[1] ||
      weights[1] != 1 || weights[2] < 1 || weights[2] > kLongestKernel)
    return c.fail("the operand must have shape [batch, channels, length], and "
                  "the weights [channels, 1, 1 .. " +
                  Twine(kLongestKernel) + "]");
  int64_t size = weights[2], channels = shape[1];
  if (c.has(2) && c.type(2) != c.type(0).clone({channels}))
    return c.fail("operand 2 (the bias) must have a number for each channel");
  RankedTensorType stateType = c.type(0).clone({shape[0], channels, size - 1});
  if (c.has(3) && c.type(3) != stateType)
    return c.fail("operand 3 (the past state) must have shape [batch, "
                  "channels, kernel - 1]");
  StringRef activation = c.node.getString("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return c.fail("attribute activation = '" + activation +
                  "' is not supported");
  Value x = c.input(0);
  if (size > 1) {
    Value past = c.has(3) ? c.input(3) : c.b.splat(0, stateType);
    x = c.b.createOrFold<nn::ConcatOp>(ValueRange{past, x}, 2);
  }
  Value sum;
  for (int64_t i = 0; i < size; ++i) {
    Value weight = c.b.reshape(partOf(c.b, c.input(1), 2, i, 1), {channels, 1});
    Value part = c.b.mul(partOf(c.b, x, 2, i, shape[2]), weight);
    sum = sum ? c.b.add(sum, part) : part;
  }
  if (c.has(2))
    sum = c.b.add(sum, c.b.reshape(c.input(2), {channels, 1}));
  if (activation != "none")
    sum = c.b.mul(sum, c.b.sigmoid(sum));
  c.outputs.push_back({{sum}, false});
  c.outputs.push_back({{partOf(c.b, x, 2, shape[2], size - 1)}, false});
  return success();
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

/// Writes updates into a cache, from an index of each sample on.
static LogicalResult tensorScatter(NodeConversion &c) {
  ArrayRef<int64_t> shape = c.type(0).getShape();
  auto axis = c.axis(c.node.getInt("axis", -2), shape.size());
  if (!axis)
    return failure();
  SmallVector<int64_t> expected(shape);
  if (c.type(1).getRank() == (int64_t)shape.size())
    expected[*axis] = c.type(1).getDimSize(*axis);
  if (*axis == 0 || c.type(1) != c.type(0).clone(expected) ||
      expected[*axis] > shape[*axis] || expected[*axis] < 1)
    return c.fail("the update must have the cache's shape but for the axis, "
                  "which is not the first, and no more of it");
  StringRef mode = c.node.getString("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return c.fail("attribute mode = '" + mode + "' is not supported");
  auto type = RankedTensorType::get(expected, c.b.getI64Type());
  Value index = c.b.create<nn::IotaOp>(type, *axis);
  if (c.has(2)) {
    if (c.type(2).getShape() != ArrayRef<int64_t>{shape[0]})
      return c.fail("operand 2 must have an index for each sample");
    SmallVector<int64_t> perSample(shape.size(), 1);
    perSample[0] = shape[0];
    Value first = normalised(c, c.input(2), 0);
    first = c.b.broadcast(c.b.reshape(first, perSample), expected);
    index = c.b.createOrFold<arith::AddIOp>(index, first);
  }
  if (mode == "circular")
    index = c.b.createOrFold<arith::RemSIOp>(
        index, c.b.splat(shape[*axis], c.b.type(index)));
  Value places = elementPlaces(c, index, shape, *axis);
  if (!places)
    return failure();
  Value table = c.b.reshape(c.input(0), {c.type(0).getNumElements()});
  return c.yield(
      c.b.reshape(replaceRows(c.b, table, c.input(1), places), shape));
}

//===----------------------------------------------------------------------===//
// Determinants
//===----------------------------------------------------------------------===//

/// Eliminates one column after the other, each with its largest element.
static LogicalResult det(NodeConversion &c) {
  constexpr int64_t kLargestMatrix = 64;
  ArrayRef<int64_t> shape = c.type(0).getShape();
  int64_t size = shape.empty() ? 0 : shape.back();
  if (shape.size() < 2 || size < 1 || size > kLargestMatrix ||
      shape[shape.size() - 2] != size)
    return c.fail("the operand must have matrices of n x n elements, with n "
                  "from 1 to " +
                  Twine(kLargestMatrix));
  nn::TensorBuilder &b = c.b;
  int64_t batch = c.type(0).getNumElements() / (size * size);
  if (batch < 1)
    return c.fail("the operand has no matrices");
  Value x = b.reshape(c.input(0), {batch, size, size}), product;
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  for (int64_t left = size; left >= 1; --left) {
    Value magnitude = b.create<math::AbsFOp>(partOf(b, x, 2, 0, 1));
    Value place = findExtreme(b, magnitude, 1, /*largest=*/true);
    Value row = takeAlong(b, x, 1, b.broadcast(place, {batch, 1, left}));
    Value pivot = partOf(b, row, 2, 0, 1); // [batch, 1, 1]
    Value isFirst = b.compare(I::eq, place, b.splat(0, b.type(place)));
    Value factor = b.select(isFirst, pivot, b.neg(pivot));
    product = product ? b.mul(product, factor) : factor;
    if (left == 1)
      break;
    // The first row takes the place of the pivot's.
    auto index = RankedTensorType::get({batch, left, 1}, b.getI64Type());
    Value isPivot = b.compare(I::eq, b.create<nn::IotaOp>(index, 1),
                              b.broadcast(place, {batch, left, 1}));
    SmallVector<int64_t> square{batch, left, left};
    Value swapped = b.select(b.broadcast(isPivot, square),
                             b.broadcast(partOf(b, x, 1, 0, 1), square), x);
    Value rest = partOf(b, swapped, 1, 1, left - 1);
    // A column of zeros has nothing to eliminate.
    Value isZero = b.compare(F::OEQ, pivot, b.splat(0, b.type(pivot)));
    Value safe = b.select(isZero, b.splat(1, b.type(pivot)), pivot);
    Value factors = b.div(partOf(b, rest, 2, 0, 1), safe);
    x = b.sub(partOf(b, rest, 2, 1, left - 1),
              b.mul(factors, partOf(b, row, 2, 1, left - 1)));
  }
  return c.yield(b.reshape(product, shape.drop_back(2)));
}

ArrayRef<OperatorEntry> gpuopt::recurrenceOperators() {
  static const OperatorEntry entries[] = {
      {"CausalConvWithState", causalConv, "kernels of up to 256"},
      {"Det", det, "matrices of up to 64 x 64"},
      {"LinearAttention", linearAttention,
       "at most 65536 tokens with the gated and delta rules"},
      {"TensorScatter", tensorScatter}};
  return entries;
}
