//===- NNWindowOps.cpp - Convolution and pooling --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Support/TensorType.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {
/// The sliding window of a convolution or pooling over two spatial dimensions.
struct Window {
  ArrayRef<int64_t> kernel, strides, pads, dilations;

  bool isWellFormed() const {
    auto atLeast = [](ArrayRef<int64_t> values, size_t count, int64_t least) {
      return values.size() == count &&
             llvm::all_of(values, [&](int64_t v) { return v >= least; });
    };
    return atLeast(kernel, 2, 1) && atLeast(strides, 2, 1) &&
           atLeast(pads, 4, 0) && atLeast(dilations, 2, 1);
  }
  /// Returns the number of windows along spatial dimension `dim`; 0 or less if
  /// none fits.
  int64_t outputSize(int64_t dim, int64_t inputSize) const {
    int64_t room = inputSize + pads[dim] + pads[dim + 2] -
                   dilations[dim] * (kernel[dim] - 1) - 1;
    return room < 0 ? 0 : room / strides[dim] + 1;
  }
};
} // namespace

static const int64_t kNoDilation[] = {1, 1};

/// Returns the type of a window op's result, [N, OH, OW, channels]; by default
/// it has the channels of the operand.
static FailureOr<RankedTensorType>
windowResult(std::optional<Location> loc, StringRef name,
             RankedTensorType input, const Window &window,
             std::optional<int64_t> channels = {}) {
  if (input.getRank() != 4)
    return emitOptionalError(
        loc, "'", name, "' op expects an operand of rank 4 (NHWC), but got ",
        input);
  if (!window.isWellFormed())
    return emitOptionalError(
        loc, "'", name,
        "' op expects two kernel sizes, strides and dilations of at least 1 "
        "and four pads of at least 0");
  int64_t height = window.outputSize(0, input.getDimSize(1)),
          width = window.outputSize(1, input.getDimSize(2));
  if (height < 1 || width < 1)
    return emitOptionalError(
        loc, "'", name,
        "' op expects a window that fits into the padded operand ", input);
  return RankedTensorType::get({input.getDimSize(0), height, width,
                                channels.value_or(input.getDimSize(3))},
                               input.getElementType());
}

/// Returns the type of the convolution of `input` with `weights`.
static FailureOr<RankedTensorType>
convResult(std::optional<Location> loc, StringRef name, RankedTensorType input,
           RankedTensorType weights, ArrayRef<int64_t> strides,
           ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations,
           int64_t groups) {
  if (input.getRank() != 4 || weights.getRank() != 4 ||
      input.getElementType() != weights.getElementType()) // (C1)
    return emitOptionalError(
        loc, "'", name,
        "' op expects operands of rank 4 and one element type, but got ", input,
        " and ", weights);
  int64_t channels = input.getDimSize(3);
  if (groups < 1 || channels % groups || weights.getDimSize(0) % groups ||
      weights.getDimSize(1) != channels / groups) // (C2)
    return emitOptionalError(loc, "'", name, "' op expects weights for ",
                             channels, " input channels in ", groups,
                             " groups, but got ", weights);
  Window window{weights.getShape().drop_front(2), strides, pads, dilations};
  return windowResult(loc, name, input, window,
                      weights.getDimSize(0)); // (C3) (C4)
}

/// Returns the type of the result of a convolution's operands and attributes.
template <typename AdaptorT>
static FailureOr<RankedTensorType> convResult(std::optional<Location> loc,
                                              StringRef op, AdaptorT adaptor) {
  return convResult(loc, op, tensorType(adaptor.getInput()),
                    tensorType(adaptor.getWeights()), adaptor.getStrides(),
                    adaptor.getPads(), adaptor.getDilations(),
                    adaptor.getGroups());
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto type = convResult(loc, getOperationName(), adaptor);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult ConvWithSumsOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  auto type = convResult(loc, getOperationName(), adaptor);
  if (failed(type))
    return failure();
  Type element = type->getElementType();
  if (element.getIntOrFloatBitWidth() == 16)
    element = Float32Type::get(context);
  auto sums = RankedTensorType::get({1, 1, 1, type->getDimSize(3)}, element);
  types.append({*type, sums, sums});
  return success();
}

LogicalResult ConvBatchNormOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput()),
                   weights = tensorType(adaptor.getWeights());
  if (input.getRank() != 4 || weights.getRank() != 4 ||
      weights.getShape().drop_front() !=
          ArrayRef<int64_t>{input.getDimSize(3), 1, 1} ||
      weights.getElementType() != input.getElementType()) // (C1)
    return emitOptionalError(loc,
                             "'nn.conv_batch_norm' op expects an input of rank "
                             "4 and weights for one pixel of it, but got ",
                             input, " and ", weights);
  int64_t inputs = input.getDimSize(3), outputs = weights.getDimSize(0);
  RankedTensorType perChannel = input.clone({outputs});
  for (Value parameter :
       {adaptor.getScale(), adaptor.getBias(), adaptor.getRunningMean(),
        adaptor.getRunningVariance()})
    if (parameter.getType() != perChannel) // (C2)
      return emitOptionalError(
          loc, "'nn.conv_batch_norm' op expects parameters of type ",
          perChannel, ", but got ", parameter.getType());
  SmallVector<int64_t> result(input.getShape());
  result.back() = outputs;
  types.assign({input.clone(result), perChannel, perChannel,
                input.clone({outputs, 1}), input.clone({outputs, 1}),
                input.clone({1, inputs}), input.clone({outputs, inputs})});
  return success();
}

/// Checks (C1) of the gradients: the forward op gives the gradient's type.
static LogicalResult verifyForward(Operation *op,
                                   FailureOr<RankedTensorType> forward,
                                   Type gradient) {
  if (failed(forward))
    return failure();
  if (*forward != gradient)
    return op->emitOpError("expects a gradient of type ")
           << *forward << ", but got " << gradient;
  return success();
}

LogicalResult ConvInputGradOp::verify() {
  return verifyForward(*this,
                       convResult(getLoc(), getOperationName(), getType(),
                                  tensorType(getWeights()), getStrides(),
                                  getPads(), getDilations(), getGroups()),
                       getGradient().getType());
}

LogicalResult ConvWeightGradOp::verify() {
  return verifyForward(*this,
                       convResult(getLoc(), getOperationName(),
                                  tensorType(getInput()), getType(),
                                  getStrides(), getPads(), getDilations(),
                                  getGroups()),
                       getGradient().getType());
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  Window window{adaptor.getKernel(), adaptor.getStrides(), adaptor.getPads(),
                adaptor.getDilations()};
  auto type = windowResult(loc, getOperationName(), input, window);
  if (failed(type))
    return failure();
  types.push_back(*type);
  types.push_back(type->clone(IntegerType::get(context, 32)));
  return success();
}

LogicalResult MaxPoolGradOp::verify() {
  Window window{getKernel(), getStrides(), getPads(), getDilations()};
  return verifyForward(
      *this, windowResult(getLoc(), getOperationName(), getType(), window),
      getGradient().getType());
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  Window window{adaptor.getKernel(), adaptor.getStrides(), adaptor.getPads(),
                kNoDilation};
  auto type = windowResult(loc, getOperationName(), input, window);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult AvgPoolGradOp::verify() {
  Window window{getKernel(), getStrides(), getPads(), kNoDilation};
  return verifyForward(
      *this, windowResult(getLoc(), getOperationName(), getType(), window),
      getGradient().getType());
}
