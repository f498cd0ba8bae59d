//===- StatisticsVjp.h - Gradients of a batch's statistics ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_NN_IR_STATISTICSVJP_H
#define GPUOPT_LIB_DIALECT_NN_IR_STATISTICSVJP_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

namespace gpuopt::nn {

/// Gradients of a batch's mean and biased variance per channel, with the shape
/// of a batch norm's `mean`; null where there is none.
struct StatisticsGradients {
  mlir::Value mean, variance;
};

/// Returns what reaches the statistics of the batch through the results of
/// nn.batch_norm or nn.conv_batch_norm other than the first: through new_mean,
/// new_variance, mean and rstd, in this order. `n` is the number of elements
/// per channel.
StatisticsGradients gradientsOfStatistics(TensorBuilder &b,
                                          llvm::ArrayRef<mlir::Value> gradients,
                                          mlir::Value rstd, double momentum,
                                          double n);

/// Returns the sum of two gradients, each of which may be null.
mlir::Value sumOfGradients(TensorBuilder &b, mlir::Value first,
                           mlir::Value second);

/// Returns the product of a gradient and a number; null if the gradient is.
mlir::Value scaledGradient(TensorBuilder &b, mlir::Value gradient,
                           double factor);

/// Returns the gradient of the variance v that reaches it through
/// rstd = 1 / sqrt(v + epsilon); null if there is none.
mlir::Value varianceVjp(TensorBuilder &b, mlir::Value ofRstd, mlir::Value rstd);

/// Returns what reaches x through its mean and its biased variance over n
/// elements: (dmean + 2 (x - mean) dvariance) / n; null if nothing does.
mlir::Value statisticsVjp(TensorBuilder &b, StatisticsGradients of,
                          mlir::Value x, mlir::Value mean, double n);

} // namespace gpuopt::nn

#endif // GPUOPT_LIB_DIALECT_NN_IR_STATISTICSVJP_H
