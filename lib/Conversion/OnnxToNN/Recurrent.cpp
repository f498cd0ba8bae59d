//===- Recurrent.cpp - LSTM, GRU, RNN -------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sequences have a known length. A layer is one product of all inputs with the
// input weights, then a product of the state with the recurrent weights and the
// gates for each step. The steps of a short sequence stand one after the other,
// where more of their work can be one kernel; those of a longer one are a loop.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"
#include "gpuopt/Dialect/NN/IR/ScanBuilder.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// The state after a step: the hidden state, and the cell of an LSTM.
struct State {
  Value hidden, cell;
};

/// The tensors of one direction of a layer. All gates lie side by side, in the
/// order of ONNX.
struct Direction {
  nn::TensorBuilder &b;
  int64_t size;             ///< Size of the hidden state.
  Value inputs;             ///< [steps, batch, gates * size], with all biases
                            ///< that may be added ahead.
  Value weights;            ///< Recurrent: [gates * size, size].
  Value bias;               ///< Recurrent, [gates * size], or null.
  Value peepholes;          ///< [3 * size], or null: weights of the cell in
                            ///< the input, output and forget gate of an LSTM.
  bool resetsLate = false;  ///< A GRU's reset gate comes after the product.
  bool isRectified = false; ///< A plain cell's activation.

  Value part(Value gates, int64_t first, int64_t count) const {
    SmallVector<int64_t> shape(b.shape(gates)), offsets(shape.size(), 0),
        ones(shape.size(), 1);
    bool isFirst = gates == weights || gates == bias || gates == peepholes;
    unsigned dim = isFirst ? 0 : shape.size() - 1;
    offsets[dim] = first * size;
    shape[dim] = count * size;
    return b.createOrFold<nn::SliceOp>(gates, offsets, shape, ones);
  }
  /// Returns the inputs of one step.
  Value inputsOf(int64_t step) const {
    ArrayRef<int64_t> shape = b.shape(inputs);
    Value slice = b.createOrFold<nn::SliceOp>(
        inputs, ArrayRef<int64_t>{step, 0, 0},
        ArrayRef<int64_t>{1, shape[1], shape[2]}, ArrayRef<int64_t>{1, 1, 1});
    return b.reshape(slice, shape.drop_front());
  }
  Value recur(Value hidden, Value matrix) const {
    return b.create<nn::ContractOp>("bh,gh->bg", hidden, matrix);
  }
  Value sigmoid(Value x) const { return b.sigmoid(x); }
  Value tanh(Value x) const { return b.create<math::TanhOp>(x); }
};

using Step = State (*)(const Direction &, Value inputs, const State &before);

} // namespace

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// Computes a step of an LSTM, whose gates are input, output, forget and cell.
static State stepLstm(const Direction &d, Value inputs, const State &before) {
  Value gates = d.b.add(inputs, d.recur(before.hidden, d.weights));
  auto gate = [&](int64_t number, Value cell) {
    Value x = d.part(gates, number, 1);
    if (d.peepholes)
      x = d.b.add(x, d.b.mul(cell, d.part(d.peepholes, number, 1)));
    return d.sigmoid(x);
  };
  Value in = gate(0, before.cell), forget = gate(2, before.cell),
        fresh = d.tanh(d.part(gates, 3, 1));
  Value cell = d.b.add(d.b.mul(forget, before.cell), d.b.mul(in, fresh));
  return {d.b.mul(gate(1, cell), d.tanh(cell)), cell};
}

/// Computes a step of a GRU, whose gates are update, reset and hidden.
static State stepGru(const Direction &d, Value inputs, const State &before) {
  Value h = before.hidden, ofHidden = d.part(inputs, 2, 1), both, fresh;
  if (d.resetsLate) {
    Value product = d.recur(h, d.weights);
    both = d.sigmoid(d.b.add(d.part(inputs, 0, 2), d.part(product, 0, 2)));
    Value last = d.part(product, 2, 1);
    if (d.bias)
      last = d.b.add(last, d.part(d.bias, 2, 1));
    fresh = d.tanh(d.b.add(ofHidden, d.b.mul(d.part(both, 1, 1), last)));
  } else {
    both = d.sigmoid(
        d.b.add(d.part(inputs, 0, 2), d.recur(h, d.part(d.weights, 0, 2))));
    Value reset = d.b.mul(d.part(both, 1, 1), h);
    fresh = d.tanh(d.b.add(ofHidden, d.recur(reset, d.part(d.weights, 2, 1))));
  }
  // The new state is (1 - z) * fresh + z * h.
  Value update = d.part(both, 0, 1);
  return {d.b.add(fresh, d.b.mul(update, d.b.sub(h, fresh))), {}};
}

static State stepPlain(const Direction &d, Value inputs, const State &before) {
  Value sum = d.b.add(inputs, d.recur(before.hidden, d.weights));
  return {d.isRectified ? reluOf(d.b, sum) : d.tanh(sum), {}};
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {

/// A node with its operands.
class Layer {
public:
  Layer(NodeConversion &c, int64_t gates, Step step)
      : c(c), gates(gates), step(step) {}

  LogicalResult convert() {
    if (failed(check()))
      return failure();
    if (isBatchFirst)
      sequence = c.b.transpose(c.input(0), {1, 0, 2});
    SmallVector<Value> rows, hidden, cells;
    for (int64_t index = 0; index < directions; ++index)
      run(index, rows, hidden, cells);
    yieldJoined(rows, 1, {2, 0, 1, 3});
    yieldJoined(hidden, 0, {1, 0, 2});
    if (hasCell())
      yieldJoined(cells, 0, {1, 0, 2});
    return success();
  }

private:
  bool hasCell() const { return step == stepLstm; }

  LogicalResult check() {
    StringRef direction = c.node.getString("direction", "forward");
    if (direction != "forward" && direction != "reverse" &&
        direction != "bidirectional")
      return c.fail("attribute direction = '" + direction +
                    "' must be forward, reverse or bidirectional");
    directions = direction == "bidirectional" ? 2 : 1;
    isReversed = direction == "reverse";
    if (c.type(0).getRank() != 3 || c.type(2).getRank() != 3)
      return c.fail("operands 0 (the sequence) and 2 (the recurrent weights) "
                    "must have rank 3, but have the shapes " +
                    shapesText(c.b, {c.input(0), c.input(2)}));
    size = c.type(2).getShape().back();
    int64_t wide = gates * size, width = c.type(0).getDimSize(2);
    isBatchFirst = c.node.getInt("layout", 0) != 0;
    batch = c.type(0).getDimSize(isBatchFirst ? 0 : 1);
    steps = c.type(0).getDimSize(isBatchFirst ? 1 : 0);
    if (steps < 1)
      return c.fail("the sequence has no steps");
    if (steps > kMostLoopSteps)
      return c.fail("a sequence of " + Twine(steps) +
                    " steps is too long, since at most " +
                    Twine(kMostLoopSteps) +
                    " are supported: train on shorter sequences");
    if (int64_t given = c.node.getInt("hidden_size", size); given != size)
      return c.fail("attribute hidden_size = " + Twine(given) + " must be " +
                    Twine(size) +
                    ", the last dimension of operand 2 (the recurrent "
                    "weights)");
    SmallVector<int64_t> state{directions, batch, size};
    if (isBatchFirst)
      std::swap(state[0], state[1]);
    if (failed(checkShape(1, "the input weights", {directions, wide, width})) ||
        failed(
            checkShape(2, "the recurrent weights", {directions, wide, size})) ||
        failed(checkShape(3, "the biases", {directions, 2 * wide})) ||
        failed(checkShape(5, "the initial state", state)) ||
        failed(checkShape(6, "the initial cell", state)) ||
        failed(checkShape(7, "the peepholes", {directions, 3 * size})))
      return failure();
    return checkLimits();
  }

  /// Checks the shape of an operand, if there is one.
  LogicalResult checkShape(unsigned index, StringRef what,
                           ArrayRef<int64_t> expected) {
    if (!c.has(index) || c.type(index).getShape() == expected)
      return success();
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(expected, stream);
    return c.fail("operand " + Twine(index) + " (" + what +
                  ") must have shape [" + text + "], but has " +
                  shapesText(c.b, {c.input(index)}));
  }

  LogicalResult checkLimits() {
    if (c.has(4)) {
      auto lengths = c.constantInts(4);
      if (!lengths)
        return failure();
      for (int64_t length : *lengths)
        if (length != steps)
          return c.fail("operand 4 (sequence_lens) must be " + Twine(steps) +
                        ", the number of steps, for each sequence, but has " +
                        Twine(length));
    }
    for (StringRef name : {"clip", "activation_alpha", "activation_beta"})
      if (c.node.hasOnnxAttribute(name))
        return c.fail("attribute " + name + " is not supported");
    if (c.node.getInt("input_forget", 0))
      return c.fail("attribute input_forget is not supported");
    return checkActivations();
  }

  /// Accepts ONNX's default activations, and Relu for a plain cell.
  LogicalResult checkActivations() {
    auto given = c.node.getStrings("activations");
    if (!given)
      return success();
    SmallVector<StringRef> each{"Tanh"};
    if (gates > 1)
      each.insert(each.begin(), "Sigmoid");
    if (hasCell())
      each.push_back("Tanh");
    isRectified = gates == 1 && !given->empty() && given->front() == "Relu";
    if (isRectified)
      each = {"Relu"};
    SmallVector<StringRef> all(each);
    if (directions == 2)
      llvm::append_range(all, each);
    return llvm::equal(*given, all)
               ? success()
               : c.fail("activations other than the defaults are not "
                        "supported");
  }

  RankedTensorType typeOf(ArrayRef<int64_t> shape) {
    return c.type(0).clone(shape);
  }

  /// Returns entry `index` of an operand's first dimension, without that
  /// dimension.
  Value entry(Value value, int64_t index) {
    SmallVector<int64_t> shape(c.b.shape(value)), offsets(shape.size(), 0),
        ones(shape.size(), 1);
    offsets[0] = index;
    shape[0] = 1;
    Value slice = c.b.createOrFold<nn::SliceOp>(value, offsets, shape, ones);
    return c.b.reshape(slice, ArrayRef(shape).drop_front());
  }

  Value initial(unsigned operand, int64_t index) {
    if (!c.has(operand))
      return c.b.splat(0, typeOf({batch, size}));
    Value state = c.input(operand);
    return entry(isBatchFirst ? c.b.transpose(state, {1, 0, 2}) : state, index);
  }

  Direction directionOf(int64_t index) {
    Direction d{c.b, size, {}, entry(c.input(2), index), {}, {}};
    if (c.has(7))
      d.peepholes = entry(c.input(7), index);
    d.isRectified = isRectified;
    d.resetsLate = c.node.getInt("linear_before_reset", 0) != 0;
    d.inputs = c.b.create<nn::ContractOp>("tbi,gi->tbg",
                                          isBatchFirst ? sequence : c.input(0),
                                          entry(c.input(1), index));
    if (!c.has(3))
      return d;
    Value biases = entry(c.input(3), index);
    auto half = [&](int64_t first) {
      return c.b.createOrFold<nn::SliceOp>(
          biases, ArrayRef<int64_t>{first * gates * size},
          ArrayRef<int64_t>{gates * size}, ArrayRef<int64_t>{1});
    };
    Value ahead = half(1);
    if (step == stepGru && d.resetsLate) {
      // The last third is scaled by the reset gate.
      d.bias = ahead;
      ahead = c.b.create<nn::ConcatOp>(
          ValueRange{d.part(d.bias, 0, 2), c.b.splat(0, typeOf({size}))}, 0);
    }
    d.inputs = c.b.add(d.inputs, c.b.add(half(0), ahead));
    return d;
  }

  void run(int64_t index, SmallVectorImpl<Value> &rows,
           SmallVectorImpl<Value> &hidden, SmallVectorImpl<Value> &cells) {
    Direction d = directionOf(index);
    State state{initial(5, index), hasCell() ? initial(6, index) : Value()};
    bool backwards = isReversed || index == 1;
    if (steps > kMostUnrolledSteps) {
      rows.push_back(runLoop(d, state, backwards));
    } else {
      rows.push_back(runSteps(d, state, backwards));
    }
    hidden.push_back(c.b.reshape(state.hidden, {1, batch, size}));
    if (hasCell())
      cells.push_back(c.b.reshape(state.cell, {1, batch, size}));
  }

  /// Computes one step after the other. Returns the hidden states, [steps, 1,
  /// batch, size], and leaves the last state in `state`.
  Value runSteps(const Direction &d, State &state, bool backwards) {
    SmallVector<Value> outputs(steps);
    for (int64_t count = 0; count < steps; ++count) {
      int64_t at = backwards ? steps - 1 - count : count;
      state = step(d, d.inputsOf(at), state);
      outputs[at] = c.b.reshape(state.hidden, {1, 1, batch, size});
    }
    return c.b.createOrFold<nn::ConcatOp>(outputs, 0);
  }

  /// Does the same with a loop, whose iterations compute a step each.
  Value runLoop(const Direction &d, State &state, bool backwards) {
    nn::ScanBuilder scan(c.b.getContext(), steps, backwards);
    nn::TensorBuilder iteration(c.b.getLoc(), c.b.getContext());
    iteration.setInsertionPointToEnd(&scan.getIteration());
    Direction inside{iteration, d.size,      d.inputs,     d.weights,
                     d.bias,    d.peepholes, d.resetsLate, d.isRectified};
    Value inputs = scan.addSlice(d.inputs);
    State before{scan.addState(state.hidden),
                 hasCell() ? scan.addState(state.cell) : Value()};
    State after = step(inside, inputs, before);
    SmallVector<Value> next{after.hidden};
    if (hasCell())
      next.push_back(after.cell);
    scan.capture(c.b);
    nn::ScanOp op = scan.finish(c.b, c.b.getLoc(), next, {});
    auto last = [&](Value history) {
      return entry(history, op.getFinalEntry());
    };
    state.hidden = last(op.getHistories()[0]);
    if (hasCell())
      state.cell = last(op.getHistories()[1]);
    Value outputs = c.b.createOrFold<nn::SliceOp>(
        op.getHistories()[0], ArrayRef<int64_t>{op.getEntryAfter(), 0, 0},
        ArrayRef<int64_t>{steps, batch, size}, ArrayRef<int64_t>{1, 1, 1});
    return c.b.reshape(outputs, {steps, 1, batch, size});
  }

  /// `order` brings the batch to the front.
  void yieldJoined(ArrayRef<Value> ofDirections, int64_t dim,
                   ArrayRef<int64_t> order) {
    Value joined = c.b.createOrFold<nn::ConcatOp>(ofDirections, dim);
    c.outputs.push_back(
        {{isBatchFirst ? c.b.transpose(joined, order) : joined}, false});
  }

  NodeConversion &c;
  int64_t gates;
  Step step;
  int64_t directions = 1, size = 0, batch = 0, steps = 0;
  bool isReversed = false, isRectified = false;
  bool isBatchFirst = false; ///< The attribute layout is 1.
  Value sequence; ///< The operand with the steps first, if it has the batch.
};

} // namespace

static LogicalResult lstm(NodeConversion &c) {
  return Layer(c, 4, stepLstm).convert();
}
static LogicalResult gru(NodeConversion &c) {
  return Layer(c, 3, stepGru).convert();
}
static LogicalResult rnn(NodeConversion &c) {
  return Layer(c, 1, stepPlain).convert();
}

ArrayRef<OperatorEntry> gpuopt::recurrentOperators() {
  static const char limits[] =
      "at most 65536 steps; default activations, no clip, whole sequences";
  static const OperatorEntry entries[] = {
      {"GRU", gru, limits},
      {"LSTM", lstm,
       "at most 65536 steps; default activations, no clip, no coupled gates, "
       "whole sequences"},
      {"RNN", rnn,
       "at most 65536 steps; Tanh or Relu, no clip, whole sequences"}};
  return entries;
}
