//===- Rotary.cpp - Positions as rotations --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"

using namespace mlir;
using namespace gpuopt;

/// Returns elements of the last dimension.
static Value lastPart(nn::TensorBuilder &b, Value x, int64_t offset,
                      int64_t size, int64_t stride = 1) {
  SmallVector<int64_t> offsets(b.type(x).getRank(), 0), sizes(b.shape(x)),
      strides(b.type(x).getRank(), 1);
  offsets.back() = offset;
  sizes.back() = size;
  strides.back() = stride;
  return b.createOrFold<nn::SliceOp>(x, offsets, sizes, strides);
}

/// Returns cosines or sines as [batch, positions, 1, half]; null, and notes the
/// problem, if they do not fit.
static Value anglesOf(NodeConversion &c, unsigned operand, int64_t batch,
                      int64_t positions, int64_t half) {
  Value table = c.input(operand);
  if (c.has(3)) {
    bool fits = c.type(operand).getRank() == 2 &&
                c.type(operand).getDimSize(0) > 0 &&
                c.type(3).getShape() == ArrayRef<int64_t>{batch, positions};
    if (!fits) {
      c.problem = "caches must have shape [positions, half of the rotated "
                  "part], and position_ids [batch, sequence]";
      return {};
    }
    int64_t rows = c.type(operand).getDimSize(0);
    Value ids = inRange(c, normalised(c, c.input(3), rows), rows);
    table = c.b.create<nn::TakeOp>(table, ids);
  }
  if (c.b.shape(table) != ArrayRef<int64_t>{batch, positions, half}) {
    c.problem = "caches must have half of the rotated part for each position";
    return {};
  }
  return c.b.reshape(table, {batch, positions, 1, half});
}

/// Rotates pairs of elements [batch, positions, heads, ...]: element i with
/// that half of the part further on, or, interleaved, with its neighbour.
static Value rotate(nn::TensorBuilder &b, Value x, Value cosine, Value sine,
                    bool isInterleaved) {
  int64_t half = b.shape(cosine).back();
  int64_t stride = isInterleaved ? 2 : 1;
  Value first = lastPart(b, x, 0, half, stride),
        second = lastPart(b, x, isInterleaved ? 1 : half, half, stride);
  SmallVector<Value> parts{b.sub(b.mul(cosine, first), b.mul(sine, second)),
                           b.add(b.mul(sine, first), b.mul(cosine, second))};
  if (!isInterleaved)
    return b.createOrFold<nn::ConcatOp>(parts, 3);
  SmallVector<int64_t> pair(b.shape(first));
  pair.push_back(1);
  for (Value &part : parts)
    part = b.reshape(part, pair);
  Value pairs = b.createOrFold<nn::ConcatOp>(parts, 4);
  return b.reshape(pairs, b.shape(x));
}

static LogicalResult rotaryEmbedding(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  int64_t rank = type.getRank(), heads = c.node.getInt("num_heads", 0);
  bool isFlat = rank == 3;
  if (rank != 4 && !(isFlat && heads > 0 && type.getDimSize(2) % heads == 0))
    return c.fail("operand 0 must have rank 4, or rank 3 and heads (attribute "
                  "num_heads) that divide its last dimension");
  Value x = c.input(0);
  if (isFlat)
    x = c.b.reshape(x, {type.getDimSize(0), type.getDimSize(1), heads,
                        type.getDimSize(2) / heads});
  else
    x = c.b.transpose(x, {0, 2, 1, 3}); // [batch, positions, heads, size]
  SmallVector<int64_t> shape(c.b.shape(x));
  int64_t size = shape[3];
  int64_t rotated = c.node.getInt("rotary_embedding_dim", 0);
  rotated = rotated == 0 ? size : rotated;
  if (rotated < 2 || rotated > size || rotated % 2)
    return c.fail("the rotated part of " + Twine(rotated) +
                  " elements must be even and within the head's " +
                  Twine(size));
  Value cosine = anglesOf(c, 1, shape[0], shape[1], rotated / 2),
        sine =
            cosine ? anglesOf(c, 2, shape[0], shape[1], rotated / 2) : Value();
  if (!sine)
    return failure();
  Value turned = rotate(c.b, lastPart(c.b, x, 0, rotated), cosine, sine,
                        c.node.getInt("interleaved", 0) != 0);
  if (rotated < size) {
    SmallVector<Value> parts{turned, lastPart(c.b, x, rotated, size - rotated)};
    turned = c.b.createOrFold<nn::ConcatOp>(parts, 3);
  }
  if (isFlat)
    return c.yield(c.b.reshape(turned, type.getShape()));
  return c.yield(c.b.transpose(turned, {0, 2, 1, 3}));
}

ArrayRef<OperatorEntry> gpuopt::rotaryOperators() {
  static const OperatorEntry entries[] = {{"RotaryEmbedding", rotaryEmbedding}};
  return entries;
}
