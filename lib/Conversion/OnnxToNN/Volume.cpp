//===- Volume.cpp - The depth of three spatial dimensions -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Volume.h"

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;
using nn::TensorBuilder;

/// Adds zeros before, after and between the planes of [batch, depth, ...].
static Value padDepth(TensorBuilder &b, Value x, int64_t low, int64_t high,
                      int64_t between) {
  if (!low && !high && !between)
    return x;
  SmallVector<int64_t> lows(b.type(x).getRank(), 0), highs(lows), inner(lows);
  lows[1] = low;
  highs[1] = high;
  inner[1] = between;
  return b.create<nn::PadOp>(x, lows, highs, inner,
                             b.getFloatAttr(b.type(x).getElementType(), 0));
}

Value gpuopt::gatherDepth(TensorBuilder &b, Value x, int64_t batch,
                          const Span &depth, int64_t groups) {
  SmallVector<int64_t> plane(b.shape(x));
  int64_t height = plane[1], width = plane[2], channels = plane[3];
  int64_t length = plane[0] / std::max<int64_t>(batch, 1);
  Value volume = b.reshape(x, {batch, length, height, width, channels});
  volume = padDepth(b, volume, depth.low, depth.high, 0);
  int64_t count = depth.count(length);
  SmallVector<Value> taken;
  for (int64_t k = 0; k < depth.size; ++k) {
    Value planes =
        partOf(b, volume, 1, k * depth.dilation, count, depth.stride);
    taken.push_back(b.reshape(
        planes, {batch * count, height, width, groups, channels / groups}));
  }
  Value joined = b.createOrFold<nn::ConcatOp>(taken, 4);
  return b.reshape(joined,
                   {batch * count, height, width, depth.size * channels});
}

Value gpuopt::scatterDepth(TensorBuilder &b, Value x, int64_t batch,
                           const Span &depth, int64_t groups, int64_t extra) {
  SmallVector<int64_t> plane(b.shape(x));
  int64_t height = plane[1], width = plane[2], channels = plane[3] / depth.size;
  int64_t count = plane[0] / std::max<int64_t>(batch, 1);
  Value split =
      b.reshape(x, {batch * count, height, width, groups, plane[3] / groups});
  int64_t whole = (count - 1) * depth.stride + depth.covered() + extra;
  Value sum;
  for (int64_t k = 0; k < depth.size; ++k) {
    Value part =
        partOf(b, split, 4, k * (channels / groups), channels / groups, 1);
    part = b.reshape(part, {batch, count, height, width, channels});
    int64_t low = k * depth.dilation,
            reached = low + (count - 1) * depth.stride + 1;
    part = padDepth(b, part, low, whole - reached, depth.stride - 1);
    sum = sum ? b.add(sum, part) : part;
  }
  int64_t length = whole - depth.low - depth.high;
  sum = partOf(b, sum, 1, depth.low, length, 1);
  return b.reshape(sum, {batch * length, height, width, channels});
}

Value gpuopt::foldWeights(TensorBuilder &b, Value weights) {
  SmallVector<int64_t> shape(b.shape(weights));
  Value turned = b.transpose(weights, {0, 2, 1, 3, 4});
  return b.reshape(turned, {shape[0], shape[2] * shape[1], shape[3], shape[4]});
}
