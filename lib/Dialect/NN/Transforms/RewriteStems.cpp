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
// of a product, where windows do not overlap, and with channels of zeros
// elsewhere.
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

/// Returns how many channels an image of a few gets.
static int64_t paddedChannels(int64_t channels) {
  return channels <= kLeastVector ? kLeastVector : kVector;
}

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

/// Returns an image with channels of zeros behind its own: each channel that is
/// written selects the one that it is. So one kernel loads a pixel's numbers
/// and stores the pixel as a vector, where an nn.pad would be a kernel for the
/// channels and one for the zeros.
static Value withZeros(TensorBuilder &b, Value image) {
  SmallVector<int64_t> shape(b.shape(image));
  int64_t channels = shape.back();
  shape.back() = paddedChannels(channels);
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1),
      one(shape);
  one.back() = 1;
  RankedTensorType type = b.type(image).clone(shape),
                   ofIndices = type.clone(b.getI64Type());
  Value index = b.create<IotaOp>(ofIndices, int64_t(shape.size()) - 1),
        result = b.splat(0, type);
  for (int64_t channel = 0; channel < channels; ++channel) {
    offsets.back() = channel;
    Value own = b.createOrFold<SliceOp>(image, offsets, one, strides);
    result = b.select(b.compare(arith::CmpIPredicate::eq, index,
                                b.splat(double(channel), ofIndices)),
                      b.broadcast(own, shape), result);
  }
  return result;
}

/// Returns the convolution of a whole vector of channels, of which the last are
/// zeros.
static Value padChannels(ConvOp conv) {
  TensorBuilder b(conv.getLoc(), conv);
  SmallVector<int64_t> none(4, 0), zeros = none;
  int64_t channels = TensorBuilder::shape(conv.getInput()).back();
  zeros[1] = paddedChannels(channels) - channels;
  Type element = TensorBuilder::type(conv.getWeights()).getElementType();
  Value weights = b.create<PadOp>(conv.getWeights(), none, zeros, none,
                                  b.getFloatAttr(element, 0));
  return b.create<ConvOp>(withZeros(b, conv.getInput()), weights,
                          conv.getStrides(), conv.getPads(),
                          conv.getDilations(), conv.getGroups());
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
    } else if (int64_t channels = TensorBuilder::shape(conv.getInput()).back();
               channels >= kLeastPaddedChannels && channels < kVector &&
               channels != kLeastVector) {
      replace(conv, padChannels(conv));
      ++paddedCount;
    }
  }

  void replace(ConvOp conv, Value result) {
    conv.replaceAllUsesWith(result);
    conv.erase();
  }
};

} // namespace
