//===- RewriteStems.cpp - Forms of the convolutions that read images ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The stem of a model, the convolution that reads its images, has three
// channels. Kernels for tensor cores load four or eight numbers in half
// precision that lie side by side, so tensor cores stay idle there. What a stem
// reads is cast and laid out by a kernel in any case, and nothing asks for its
// gradient, so this kernel can lay it out as tensor cores need it: as the rows
// of a product, where windows do not overlap; with the pixels of a stride as
// channels (space to depth); and with channels of zeros elsewhere.
// docs/rationale/rows.md has the times.
//
// Runs before the steps are built, so that the gradient is that of the new
// form. The parameter keeps its shape: what changes its shape stands between it
// and the convolution.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <optional>

namespace gpuopt::nn {
#define GEN_PASS_DEF_REWRITESTEMS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Tensor cores read vectors of so many numbers in half precision.
static constexpr int64_t kVector = 8;

/// The least vector that kernels for tensor cores load. Their time grows with
/// the channels, so three become four, not eight (docs/rationale/rows.md).
static constexpr int64_t kLeastVector = 4;

/// With fewer channels, zeros would be most of what is read.
static constexpr int64_t kLeastPaddedChannels = 3;

/// Returns whether a value follows from the inputs of the function and from
/// constants, so that no parameter needs its gradient.
static bool isData(Value value) {
  SmallVector<Value> left = {value};
  DenseSet<Value> seen;
  while (!left.empty()) {
    Value next = left.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second || matchPattern(op, m_Constant()))
      continue;
    // Reads of parameters have no operands; what has regions may read outside.
    if (op->getNumOperands() == 0 || op->getNumRegions() > 0)
      return false;
    llvm::append_range(left, op->getOperands());
  }
  return true;
}

/// Returns whether each pixel of the input is in one window, so that the
/// windows are the rows of a matrix, and these rows are whole vectors.
static bool readsPatches(ConvOp conv) {
  ArrayRef<int64_t> input = TensorBuilder::shape(conv.getInput()),
                    window = TensorBuilder::shape(conv.getWeights());
  if (window[1] * window[2] * window[3] % kVector != 0)
    return false;
  for (int i : {0, 1})
    if (conv.getStrides()[i] != window[2 + i] ||
        input[1 + i] % window[2 + i] != 0 ||
        (window[2 + i] > 1 && conv.getDilations()[i] != 1))
      return false;
  return llvm::all_of(conv.getPads(), [](int64_t pad) { return pad == 0; });
}

/// Returns the convolution as a product of patches and weights.
static Value multiplyPatches(ConvOp conv) {
  TensorBuilder b(conv.getLoc(), conv);
  ArrayRef<int64_t> input = TensorBuilder::shape(conv.getInput()),
                    weights = TensorBuilder::shape(conv.getWeights());
  int64_t rows = input[1] / weights[2], columns = input[2] / weights[3],
          inner = weights[1] * weights[2] * weights[3];
  // n (h kh) (w kw) c -> n h w (c kh kw), the order of the weights.
  Value patches = b.reshape(conv.getInput(), {input[0], rows, weights[2],
                                              columns, weights[3], input[3]});
  patches = b.transpose(patches, {0, 1, 3, 5, 2, 4});
  patches = b.reshape(patches, {input[0], rows, columns, inner});
  Value matrix = b.reshape(conv.getWeights(), {weights[0], inner});
  return b.create<ContractOp>("nhwk,dk->nhwd", patches, matrix);
}

namespace {

/// The blocks of pixels, one stride high and wide, that become channels. Those
/// of one pixel get channels of zeros alone.
struct Blocks {
  /// The pixels of a block.
  int64_t height, width;
  /// The channels of a pixel, of which the last are zeros.
  int64_t channels;
  /// How windows lie over blocks, for each of the two dimensions: the zeros
  /// before a window that begins within a block, the blocks that it reads, and
  /// those before and behind the image.
  std::array<int64_t, 2> lead, window, low, high;

  int64_t depth() const { return height * width * channels; }
  /// The numbers that are multiplied for each one of the result.
  int64_t inner() const { return window[0] * window[1] * depth(); }
};

} // namespace

/// Returns blocks of one pixel each, with a whole vector of channels.
static Blocks pixelsOf(ConvOp conv, int64_t vector) {
  ArrayRef<int64_t> window = TensorBuilder::shape(conv.getWeights()),
                    pads = conv.getPads();
  int64_t channels = TensorBuilder::shape(conv.getInput()).back();
  Blocks blocks{1, 1, int64_t(llvm::alignTo(channels, vector)), {}, {}, {}, {}};
  for (int i : {0, 1}) {
    blocks.window[i] = window[2 + i];
    blocks.low[i] = pads[i];
    blocks.high[i] = pads[2 + i];
  }
  return blocks;
}

/// Returns blocks of a stride's pixels, or none where they do not tile the
/// image.
static std::optional<Blocks> stridesOf(ConvOp conv) {
  ArrayRef<int64_t> input = TensorBuilder::shape(conv.getInput()),
                    window = TensorBuilder::shape(conv.getWeights()),
                    output = TensorBuilder::shape(conv.getResult()),
                    strides = conv.getStrides(), pads = conv.getPads();
  if (strides[0] * strides[1] == 1)
    return std::nullopt;
  Blocks blocks{strides[0], strides[1], input[3], {}, {}, {}, {}};
  while (blocks.depth() % kVector != 0)
    ++blocks.channels;
  for (int i : {0, 1}) {
    if (input[1 + i] % strides[i] != 0 || conv.getDilations()[i] != 1)
      return std::nullopt;
    blocks.low[i] = llvm::divideCeil(pads[i], strides[i]);
    blocks.lead[i] = blocks.low[i] * strides[i] - pads[i];
    blocks.window[i] =
        llvm::divideCeil(blocks.lead[i] + window[2 + i], strides[i]);
    // What the last window reads behind the image. Where it ends before the
    // image does, blocks would have to be left out.
    blocks.high[i] = output[1 + i] - 1 + blocks.window[i] - blocks.low[i] -
                     input[1 + i] / strides[i];
    if (blocks.high[i] < 0)
      return std::nullopt;
  }
  return blocks;
}

/// Returns an image of blocks. Each channel that is written selects the number
/// of the block that it is, or zero. So one kernel loads the numbers and stores
/// vectors, where an nn.pad would be a kernel for the numbers and one for the
/// zeros.
static Value gatherBlocks(TensorBuilder &b, Value image, const Blocks &blocks) {
  SmallVector<int64_t> shape(b.shape(image));
  int64_t channels = shape[3];
  shape[1] /= blocks.height;
  shape[2] /= blocks.width;
  shape[3] = blocks.depth();
  SmallVector<int64_t> one(shape);
  one.back() = 1;
  RankedTensorType type = b.type(image).clone(shape),
                   ofIndices = type.clone(b.getI64Type());
  Value index = b.create<IotaOp>(ofIndices, int64_t(shape.size()) - 1),
        result = b.splat(0, type);
  for (int64_t pixel = 0; pixel < blocks.height * blocks.width; ++pixel)
    for (int64_t channel = 0; channel < channels; ++channel) {
      Value own = b.createOrFold<SliceOp>(
          image,
          ArrayRef<int64_t>{0, pixel / blocks.width, pixel % blocks.width,
                            channel},
          one, ArrayRef<int64_t>{1, blocks.height, blocks.width, 1});
      int64_t place = pixel * blocks.channels + channel;
      result = b.select(b.compare(arith::CmpIPredicate::eq, index,
                                  b.splat(double(place), ofIndices)),
                        b.broadcast(own, shape), result);
    }
  return result;
}

/// Returns the weights for an image of blocks: zeros are around each filter,
/// and in the channels that the image does not have.
static Value weightsOfBlocks(TensorBuilder &b, Value weights,
                             const Blocks &blocks) {
  ArrayRef<int64_t> shape = b.shape(weights);
  const int64_t filters = shape[0], rows = blocks.window[0] * blocks.height,
                columns = blocks.window[1] * blocks.width;
  SmallVector<int64_t> low = {0, 0, blocks.lead[0], blocks.lead[1]},
                       high = {0, blocks.channels - shape[1],
                               rows - blocks.lead[0] - shape[2],
                               columns - blocks.lead[1] - shape[3]},
                       none(4, 0);
  Type element = b.type(weights).getElementType();
  weights =
      b.create<PadOp>(weights, low, high, none, b.getFloatAttr(element, 0));
  if (blocks.height * blocks.width == 1)
    return weights;
  weights = b.reshape(weights, {filters, blocks.channels, blocks.window[0],
                                blocks.height, blocks.window[1], blocks.width});
  weights = b.transpose(weights, {0, 3, 5, 1, 2, 4});
  return b.reshape(
      weights, {filters, blocks.depth(), blocks.window[0], blocks.window[1]});
}

/// Returns the convolution of an image whose pixels are blocks of the one that
/// it has now.
static Value convolveBlocks(ConvOp conv, const Blocks &blocks) {
  TensorBuilder b(conv.getLoc(), conv);
  SmallVector<int64_t> pads = {blocks.low[0], blocks.low[1], blocks.high[0],
                               blocks.high[1]},
                       strides = {conv.getStrides()[0] / blocks.height,
                                  conv.getStrides()[1] / blocks.width};
  Value weights = weightsOfBlocks(b, conv.getWeights(), blocks),
        image = gatherBlocks(b, conv.getInput(), blocks);
  return b.create<ConvOp>(image, weights, strides, pads, conv.getDilations(),
                          conv.getGroups());
}

namespace {

class RewriteStems : public gpuopt::nn::impl::RewriteStemsBase<RewriteStems> {
private:
  void runOnOperation() override {
    SmallVector<ConvOp> stems;
    getOperation()->walk([&](ConvOp conv) {
      int64_t channels = TensorBuilder::shape(conv.getInput()).back();
      if (conv.getGroups() == 1 && channels % kVector != 0 &&
          isData(conv.getInput()))
        stems.push_back(conv);
    });
    for (ConvOp conv : stems)
      rewrite(conv);
  }

  void rewrite(ConvOp conv) {
    if (!isPointwise(conv) && readsPatches(conv)) {
      replace(conv, multiplyPatches(conv));
      ++productCount;
      return;
    }
    int64_t channels = TensorBuilder::shape(conv.getInput()).back();
    std::optional<Blocks> strides = stridesOf(conv);
    if (strides && strides->inner() <= pixelsOf(conv, kVector).inner()) {
      replace(conv, convolveBlocks(conv, *strides));
      ++blockCount;
    } else if (channels >= kLeastPaddedChannels && channels < kVector &&
               channels != kLeastVector) {
      replace(conv, convolveBlocks(conv, pixelsOf(conv, kLeastVector)));
      ++paddedCount;
    }
  }

  void replace(ConvOp conv, Value result) {
    conv.replaceAllUsesWith(result);
    conv.erase();
  }
};

} // namespace
