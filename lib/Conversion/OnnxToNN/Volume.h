//===- Volume.h - The depth of three spatial dimensions ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Volumes are planes here, [batch * depth, height, width, channels].
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_VOLUME_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_VOLUME_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

namespace gpuopt {

/// A window along one dimension.
struct Span {
  int64_t size = 1, stride = 1, low = 0, high = 0, dilation = 1;

  int64_t covered() const { return (size - 1) * dilation + 1; }
  /// The number of windows; at most 0 where none fits.
  int64_t count(int64_t length) const {
    int64_t room = length + low + high - covered();
    return room < 0 ? 0 : room / stride + 1;
  }
};

/// Gives each window of the depth, as channels, the planes that it covers: of
/// each group, those of its first plane, then of its second.
mlir::Value gatherDepth(nn::TensorBuilder &b, mlir::Value x, int64_t batch,
                        const Span &depth, int64_t groups);
/// The adjoint: adds such channels into the planes that they are of. `extra`
/// planes, which no window covers, follow.
mlir::Value scatterDepth(nn::TensorBuilder &b, mlir::Value x, int64_t batch,
                         const Span &depth, int64_t groups, int64_t extra);
/// Weights [a, b, depth, height, width] to go with these channels:
/// [a, depth * b, height, width].
mlir::Value foldWeights(nn::TensorBuilder &b, mlir::Value weights);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_VOLUME_H
