//===- Sequences.cpp - Lists of tensors, optional values ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The length of a sequence, and whether an optional value is there, are known
// while the model is converted, so neither exists in programs.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

static LogicalResult sequenceConstruct(NodeConversion &c) {
  Converted sequence{{}, true};
  for (unsigned index = 0; index < c.inputCount(); ++index)
    sequence.tensors.push_back(c.input(index));
  c.outputs.push_back(sequence);
  return success();
}

static LogicalResult sequenceEmpty(NodeConversion &c) {
  c.outputs.push_back({{}, true});
  return success();
}

static LogicalResult sequenceAt(NodeConversion &c) {
  auto position = c.constantInt(1);
  if (!position)
    return failure();
  auto index = c.axis(*position, c.sequence(0).tensors.size());
  if (!index)
    return c.fail("position " + Twine(*position) +
                  " is outside of a sequence of " +
                  Twine(c.sequence(0).tensors.size()) + " tensors");
  return c.yield(c.sequence(0).tensors[*index]);
}

static LogicalResult sequenceInsert(NodeConversion &c) {
  Converted sequence = c.sequence(0);
  int64_t length = sequence.tensors.size(), position = length;
  if (c.has(2)) {
    auto given = c.constantInt(2);
    if (!given)
      return failure();
    position = *given < 0 ? *given + length : *given;
    if (position < 0 || position > length)
      return c.fail("position " + Twine(*given) +
                    " is outside of a sequence of " + Twine(length) +
                    " tensors");
  }
  sequence.tensors.insert(sequence.tensors.begin() + position, c.input(1));
  c.outputs.push_back(sequence);
  return success();
}

static LogicalResult sequenceErase(NodeConversion &c) {
  Converted sequence = c.sequence(0);
  int64_t length = sequence.tensors.size(), given = -1;
  if (c.has(1)) {
    auto position = c.constantInt(1);
    if (!position)
      return failure();
    given = *position;
  }
  auto position = c.axis(given, length);
  if (!position)
    return c.fail("position " + Twine(given) + " is outside of a sequence of " +
                  Twine(length) + " tensors");
  sequence.tensors.erase(sequence.tensors.begin() + *position);
  c.outputs.push_back(sequence);
  return success();
}

static LogicalResult sequenceLength(NodeConversion &c) {
  return c.yield(makeInts(c, c.sequence(0).tensors.size(), /*isScalar=*/true));
}

static LogicalResult concatFromSequence(NodeConversion &c) {
  ArrayRef<Value> tensors = c.sequence(0).tensors;
  if (tensors.empty())
    return c.fail("the sequence is empty, so that the result has no type");
  RankedTensorType type = c.b.type(tensors.front());
  bool isNew = c.node.getInt("new_axis", 0);
  auto axis = c.axis(c.node.getInt("axis", 0), type.getRank() + isNew);
  if (!axis)
    return failure();
  SmallVector<Value> parts;
  for (Value tensor : tensors) {
    SmallVector<int64_t> shape(c.b.shape(tensor)), like(type.getShape());
    if (!isNew && shape.size() == like.size())
      like[*axis] = shape[*axis];
    if (c.b.type(tensor) != type.clone(like))
      return c.fail("the tensors differ in more than the dimension that is "
                    "joined");
    if (isNew)
      shape.insert(shape.begin() + *axis, 1);
    parts.push_back(c.b.reshape(tensor, shape));
  }
  return c.yield(c.b.createOrFold<nn::ConcatOp>(parts, *axis));
}

//===----------------------------------------------------------------------===//
// Optional values
//===----------------------------------------------------------------------===//

/// An optional value that is there is the value itself; one that is not is as
/// an operand that is left out.
static LogicalResult optional(NodeConversion &c) {
  c.outputs.push_back(c.inputCount() ? c.sequence(0) : Converted());
  return success();
}

static LogicalResult hasElement(NodeConversion &c) {
  bool has = c.inputCount() && (c.has(0) || c.sequence(0).isSequence);
  return c.yield(c.b.splat(has, RankedTensorType::get({}, c.b.getI1Type())));
}

static LogicalResult getElement(NodeConversion &c) {
  if (!c.inputCount() || !(c.has(0) || c.sequence(0).isSequence))
    return c.fail("the optional value is not there");
  c.outputs.push_back(c.sequence(0));
  return success();
}

ArrayRef<OperatorEntry> gpuopt::sequenceOperators() {
  static const char position[] = "constant position";
  static const OperatorEntry entries[] = {
      {"ConcatFromSequence", concatFromSequence},
      {"Optional", optional},
      {"OptionalGetElement", getElement},
      {"OptionalHasElement", hasElement},
      {"SequenceAt", sequenceAt, position},
      {"SequenceConstruct", sequenceConstruct},
      {"SequenceEmpty", sequenceEmpty},
      {"SequenceErase", sequenceErase, position},
      {"SequenceInsert", sequenceInsert, position},
      {"SequenceLength", sequenceLength}};
  return entries;
}
