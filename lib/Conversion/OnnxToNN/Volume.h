//===- Volume.h - The depth of three spatial dimensions ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Volumes are stored as planes, [batch * depth, height, width, channels].
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
  /// Returns the number of windows; at most 0 if none fits.
  int64_t count(int64_t length) const {
    int64_t room = length + low + high - covered();
    return room < 0 ? 0 : room / stride + 1;
  }
};

/// Gives each window of the depth the planes that it covers as channels.
/// Channels are ordered by group, then by plane.
mlir::Value gatherDepth(nn::TensorBuilder &b, mlir::Value x, int64_t batch,
                        const Span &depth, int64_t groups);
/// The adjoint: adds such channels to the planes that they came from. `extra`
/// planes, which no window covers, follow.
mlir::Value scatterDepth(nn::TensorBuilder &b, mlir::Value x, int64_t batch,
                         const Span &depth, int64_t groups, int64_t extra);
/// Reshapes weights [a, b, depth, height, width] to match these channels: [a,
/// depth * b, height, width].
mlir::Value foldWeights(nn::TensorBuilder &b, mlir::Value weights);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_VOLUME_H
