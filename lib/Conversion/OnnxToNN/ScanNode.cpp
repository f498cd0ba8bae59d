//===- ScanNode.cpp - Scan ------------------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Scan nodes: loops that read one entry of their operands in each iteration.
// ControlFlow.cpp says when they stay loops.
//
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"

#include "LongLoop.h"

using namespace mlir;
using namespace gpuopt;

/// Returns entry `index` of a dimension, without that dimension.
static Value entryOf(nn::TensorBuilder &b, Value x, int64_t dim,
                     int64_t index) {
  SmallVector<int64_t> shape(b.shape(x)), offsets(shape.size(), 0),
      ones(shape.size(), 1);
  offsets[dim] = index;
  shape[dim] = 1;
  Value slice = b.createOrFold<nn::SliceOp>(x, offsets, shape, ones);
  shape.erase(shape.begin() + dim);
  return b.reshape(slice, shape);
}

namespace {

/// A Scan node, whose iterations read one entry each of some of its operands.
class Scan {
public:
  explicit Scan(NodeConversion &c) : c(c) {}

  LogicalResult convert() {
    bool isBatched = c.node.getOpset() < 9;
    first = isBatched ? 1 : 0;
    Region *body = c.node.getSubgraph("body");
    read = c.node.getInt("num_scan_inputs", 0);
    int64_t operands = int64_t(c.inputCount()) - first;
    if (!body || read < 1 || read > operands)
      return c.fail("attributes body and num_scan_inputs must say which of the "
                    "operands the iterations read");
    states = operands - read;
    for (int64_t index = 0; index < operands; ++index)
      if (!c.has(first + index) || c.sequence(first + index).isSequence)
        return c.fail("operands must be tensors");
    return isBatched ? convertBatch() : convertOnce();
  }

private:
  /// Returns an attribute with a number for each of `count` values, 0 if there
  /// is none.
  SmallVector<int64_t> numbersOf(StringRef name, size_t count) {
    auto numbers = c.node.getInts(name, SmallVector<int64_t>(count, 0));
    numbers.resize(count);
    return numbers;
  }

  LogicalResult convertOnce() {
    SmallVector<Value> operands;
    for (int64_t index = 0; index < states + read; ++index)
      operands.push_back(c.input(first + index));
    SmallVector<Value> results;
    if (failed(run(operands, numbersOf("scan_input_axes", read), results)))
      return failure();
    for (Value result : results)
      c.outputs.push_back({{result}, false});
    return success();
  }

  /// Before opset 9, the first dimension of all operands is a batch.
  LogicalResult convertBatch() {
    if (c.has(0))
      return c.fail("operand 0 (the lengths of sequences) is not supported");
    if (llvm::any_of(llvm::seq(states + read), [&](int64_t index) {
          RankedTensorType type = c.type(1 + index);
          return type.getRank() < 1 || type.getDimSize(0) < 1 ||
                 type.getDimSize(0) != c.type(1).getDimSize(0);
        }))
      return c.fail("operands must have the same first dimension, the batch");
    SmallVector<SmallVector<Value>> samples;
    for (int64_t sample = 0; sample < c.type(1).getDimSize(0); ++sample) {
      SmallVector<Value> operands, results;
      for (int64_t index = 0; index < states + read; ++index)
        operands.push_back(entryOf(c.b, c.input(1 + index), 0, sample));
      if (failed(run(operands, SmallVector<int64_t>(read, 0), results)))
        return failure();
      samples.resize(results.size());
      for (auto [result, all] : llvm::zip(results, samples))
        all.push_back(result);
    }
    for (ArrayRef<Value> all : samples) {
      Value result = stacked(c, all, 0);
      if (!result)
        return failure();
      c.outputs.push_back({{result}, false});
    }
    return success();
  }

  LogicalResult run(ArrayRef<Value> operands, SmallVector<int64_t> axes,
                    SmallVectorImpl<Value> &finals) {
    StringRef name =
        c.node.getOpset() < 9 ? "directions" : "scan_input_directions";
    auto directions = numbersOf(name, read);
    std::optional<int64_t> iterations;
    for (int64_t index = 0; index < read; ++index) {
      RankedTensorType type = c.b.type(operands[states + index]);
      auto axis = c.axis(axes[index], type.getRank());
      if (!axis)
        return failure();
      axes[index] = *axis;
      if (iterations && *iterations != type.getDimSize(*axis))
        return c.fail("the operands have " + Twine(*iterations) + " and " +
                      Twine(type.getDimSize(*axis)) + " entries");
      iterations = type.getDimSize(*axis);
    }
    if (*iterations < 1 || *iterations > kMostLoopSteps)
      return c.fail("a scan of " + Twine(*iterations) +
                    " entries is not supported, only of 1 to " +
                    Twine(kMostLoopSteps));
    std::string why;
    if (*iterations > kMostUnrolledSteps) {
      LongLoop loop(c, *iterations, isReversed(directions));
      if (convertLoop(loop, operands, axes, directions))
        return yieldLoop(loop, isReversed(directions), finals);
      why = loop.why;
    }
    SmallVector<Converted> state;
    for (Value operand : operands.take_front(states))
      state.push_back({{operand}, false});
    SmallVector<SmallVector<Value>> joined;
    for (int64_t iteration = 0; iteration < *iterations; ++iteration) {
      SmallVector<Converted> arguments(state), results;
      for (int64_t index = 0; index < read; ++index)
        arguments.push_back(
            {{entryOf(c.b, operands[states + index], axes[index],
                      directions[index] ? *iterations - 1 - iteration
                                        : iteration)},
             false});
      if (failed(runGraph(c, "body", arguments, results)))
        return failure();
      if ((int64_t)results.size() < states)
        return c.fail("the graph body must give as many results as the scan "
                      "has states, " +
                      Twine(states));
      state.assign(results.begin(), results.begin() + states);
      if (failed(collect(c, ArrayRef(results).drop_front(states), joined)))
        return failure();
      // What is wrong with the body is told first.
      if (*iterations > kMostIterations)
        return failTooLong(c, why);
    }
    noteUnrolled(c, *iterations, why);
    for (const Converted &value : state) {
      if (value.isSequence || value.tensors.size() != 1)
        return c.fail("a state must be a tensor");
      finals.push_back(value.tensors.front());
    }
    return join(joined, finals);
  }

  /// A loop begins at the end if all of its operands do.
  static bool isReversed(ArrayRef<int64_t> directions) {
    return llvm::all_of(directions,
                        [](int64_t direction) { return direction; });
  }
  /// Returns the entries of the first dimension in the other order.
  static Value flipped(nn::TensorBuilder &b, Value x) {
    auto order =
        llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, b.shape(x)[0])));
    return pick(b, x, 0, order);
  }

  bool convertLoop(LongLoop &loop, ArrayRef<Value> operands,
                   ArrayRef<int64_t> axes, ArrayRef<int64_t> directions) {
    for (Value operand : operands.take_front(states))
      loop.states.push_back({{operand}, false});
    for (auto [operand, axis, direction] :
         llvm::zip(operands.drop_front(states), axes, directions)) {
      auto order = llvm::to_vector(llvm::seq(c.b.type(operand).getRank()));
      order.erase(order.begin() + axis);
      order.insert(order.begin(), axis);
      Value slice = c.b.transpose(operand, order);
      bool isFlipped = bool(direction) != isReversed(directions);
      loop.slices.push_back(isFlipped ? flipped(c.b, slice) : slice);
    }
    return loop.convert();
  }

  LogicalResult yieldLoop(LongLoop &loop, bool isReversed,
                          SmallVectorImpl<Value> &finals) {
    finals.append(loop.finals);
    auto axes = numbersOf("scan_output_axes", loop.stacked.size()),
         directions = numbersOf("scan_output_directions", loop.stacked.size());
    for (auto [all, axis, direction] :
         llvm::zip(loop.stacked, axes, directions)) {
      auto dim = c.axis(axis, c.b.type(all).getRank());
      if (!dim)
        return failure();
      SmallVector<int64_t> order =
          llvm::to_vector(llvm::seq<int64_t>(1, c.b.type(all).getRank()));
      order.insert(order.begin() + *dim, 0);
      bool isFlipped = bool(direction) != isReversed;
      finals.push_back(
          c.b.transpose(isFlipped ? flipped(c.b, all) : all, order));
    }
    return success();
  }

  LogicalResult join(MutableArrayRef<SmallVector<Value>> joined,
                     SmallVectorImpl<Value> &finals) {
    auto axes = numbersOf("scan_output_axes", joined.size()),
         directions = numbersOf("scan_output_directions", joined.size());
    for (auto [all, axis, isReversed] : llvm::zip(joined, axes, directions)) {
      if (isReversed)
        std::reverse(all.begin(), all.end());
      finals.push_back(stacked(c, all, axis));
      if (!finals.back())
        return failure();
    }
    return success();
  }

  NodeConversion &c;
  int64_t first = 0, read = 0, states = 0;
};

} // namespace

LogicalResult gpuopt::scanNode(NodeConversion &c) { return Scan(c).convert(); }
