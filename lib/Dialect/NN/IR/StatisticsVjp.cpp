//===- StatisticsVjp.cpp - Gradients of a batch's statistics --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatisticsVjp.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

Value nn::sumOfGradients(TensorBuilder &b, Value first, Value second) {
  return first && second ? b.add(first, second) : first ? first : second;
}

Value nn::scaledGradient(TensorBuilder &b, Value gradient, double factor) {
  return gradient ? b.mul(gradient, factor) : Value();
}

Value nn::varianceVjp(TensorBuilder &b, Value ofRstd, Value rstd) {
  if (!ofRstd)
    return Value();
  return b.mul(ofRstd, b.mul(b.mul(b.mul(rstd, rstd), rstd), -0.5));
}

Value nn::statisticsVjp(TensorBuilder &b, StatisticsGradients of, Value x,
                        Value mean, double n) {
  Value ofVariance;
  if (of.variance)
    ofVariance = b.mul(b.sub(x, mean), b.mul(of.variance, 2 / n));
  Value ofMean = scaledGradient(b, of.mean, 1 / n);
  Value sum = sumOfGradients(b, ofVariance, ofMean);
  return sum ? b.broadcast(sum, b.shape(x)) : Value();
}

StatisticsGradients nn::gradientsOfStatistics(TensorBuilder &b,
                                              ArrayRef<Value> gradients,
                                              Value rstd, double momentum,
                                              double n) {
  auto ofBlended = [&](Value gradient, double factor) {
    return gradient ? b.reshape(b.mul(gradient, factor), b.shape(rstd))
                    : Value();
  };
  return {sumOfGradients(b, ofBlended(gradients[1], momentum), gradients[3]),
          sumOfGradients(b,
                         ofBlended(gradients[2], momentum * unbiasedFactor(n)),
                         varianceVjp(b, gradients[4], rstd))};
}
