//===- NNWindowVjp.cpp - Gradients of convolution and pooling -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatisticsVjp.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

void ConvOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                      ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  if (wanted[0])
    result[0] = b.create<ConvInputGradOp>(getInput().getType(), gradients[0],
                                          getWeights(), getStrides(), getPads(),
                                          getDilations(), getGroups());
  if (wanted[1])
    result[1] = b.create<ConvWeightGradOp>(
        getWeights().getType(), getInput(), gradients[0], getStrides(),
        getPads(), getDilations(), getGroups());
}

void ConvInputGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                               ArrayRef<bool> wanted,
                               MutableArrayRef<Value> result) {
  // The op is linear in each operand and the adjoint of the convolution.
  TensorBuilder b(getLoc(), builder);
  if (wanted[0])
    result[0] = b.create<ConvOp>(gradients[0], getWeights(), getStrides(),
                                 getPads(), getDilations(), getGroups());
  if (wanted[1])
    result[1] = b.create<ConvWeightGradOp>(
        getWeights().getType(), gradients[0], getGradient(), getStrides(),
        getPads(), getDilations(), getGroups());
}

/// Returns w^T diag(t / n) w as a product of two matrices that half precision
/// can hold: those of w times rstd, whose rows make channels of variance 1, and
/// a power of n each, since t / n is small. `factor` is -t / rstd^2.
static ContractOp squareOfWeights(TensorBuilder &b, Value normalised,
                                  Value factor, double n) {
  const double quarter = std::pow(n, -0.25);
  Value left = b.mul(normalised, b.mul(factor, -quarter * quarter * quarter)),
        right = b.mul(normalised, quarter);
  return b.create<ContractOp>("oc,od->cd", left, right);
}

/// With y = x w^T and y' = (y - mean) rstd, of n pixels, and dz the gradient of
/// scale y' + bias, each channel of y has the gradient
///
///   dy = p dz + (t y + u) / n   where   p = scale rstd,
///   t = -p rstd dscale + 2 dvariance,  u = -p dbias - t mean + dmean,
///
/// with the gradients of the mean and the variance that the statistics to keep
/// give, mostly none.
///
/// Its products with x and w are those of dz, and of y = x w^T, whose product
/// with x has been computed for the variance of y. That product is of sums over
/// the pixels, n times the mean, which overflows in f16: Decompose keeps it in
/// f32. The mean of x is a mean.
void ConvBatchNormOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                               ArrayRef<bool> wanted,
                               MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  Value x = getInput(),
        dz = gradients[0] ? gradients[0] : b.splat(0, b.type(getResult()));
  const int64_t outputs = b.shape(getMean())[0], inputs = b.shape(x)[3];
  const double n = double(b.type(x).getNumElements()) / double(inputs);
  Value w = b.reshape(getWeights(), {outputs, inputs}),
        scale = b.reshape(getScale(), {outputs, 1});
  auto product = b.create<ContractOp>("nhwo,nhwc->oc", dz, x);
  product.setWide(true);
  Value dbias = b.reshape(b.sumTo(dz, {outputs}), {outputs, 1});
  Value dscale = b.mul(
      b.sub(b.sum(b.mul(product, w), 1), b.mul(dbias, getMean())), getRstd());
  const double momentum = getMomentum().convertToDouble();
  auto [dmean, dvariance] =
      gradientsOfStatistics(b, gradients, getRstd(), momentum, n);
  Value p = b.mul(scale, getRstd());
  Value factor = b.mul(scale, dscale); // -t / rstd^2
  Value t = b.neg(b.mul(b.mul(p, getRstd()), dscale));
  if (dvariance) {
    Value twice = b.mul(dvariance, 2);
    factor = b.sub(factor, b.div(twice, b.mul(getRstd(), getRstd())));
    t = b.add(t, twice);
  }
  Value u = b.neg(b.add(b.mul(p, dbias), b.mul(t, getMean())));
  if (dmean)
    u = b.add(u, dmean);
  if (wanted[0]) {
    ContractOp square = squareOfWeights(b, b.mul(w, getRstd()), factor, n);
    auto ofGradient = b.create<ContractOp>("nhwo,oc->nhwc", dz, b.mul(w, p));
    auto ofInput = b.create<ContractOp>("nhwc,cd->nhwd", x, square);
    for (ContractOp pixels : {ofGradient, ofInput})
      NNDialect::FromAttrHelper(getContext())
          .setAttr(pixels, b.getStringAttr("conv_batch_norm"));
    // One row of a product: the library would be slower at it than a sum.
    Value ofShift = b.sum(b.mul(w, b.mul(u, 1 / n)), 0);
    result[0] = b.add(b.add(ofGradient, ofInput), b.reshape(ofShift, {inputs}));
  }
  if (wanted[1]) {
    Value ofOutput = b.mul(getMoments(), b.mul(t, 1 / n)),
          ofShift = b.mul(getInputMean(), u);
    Value dw = b.add(b.add(b.mul(product, p), ofOutput), ofShift);
    result[1] = b.reshape(dw, b.shape(getWeights()));
  }
  if (wanted[2])
    result[2] = b.reshape(dscale, {outputs});
  if (wanted[3])
    result[3] = b.reshape(dbias, {outputs});
  for (unsigned statistic : {4u, 5u})
    if (wanted[statistic])
      result[statistic] =
          scaledGradient(b, gradients[statistic - 3], 1 - momentum);
}

void MaxPoolOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  if (gradients[0])
    result[0] = b.create<MaxPoolGradOp>(getInput().getType(), gradients[0],
                                        getArgmax(), getKernel(), getStrides(),
                                        getPads(), getDilations());
}

void AvgPoolOp::buildVjp(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<bool> wanted, MutableArrayRef<Value> result) {
  TensorBuilder b(getLoc(), builder);
  result[0] =
      b.create<AvgPoolGradOp>(getInput().getType(), gradients[0], getKernel(),
                              getStrides(), getPads(), getCountIncludePad());
}
