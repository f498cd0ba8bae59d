//===- RunningStatistics.h - State of batch normalisation -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_ONNX_IR_RUNNINGSTATISTICS_H
#define GPUOPT_DIALECT_ONNX_IR_RUNNINGSTATISTICS_H

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"

namespace gpuopt::onnx {

/// Whether an initializer is a running statistic of batch normalisation, which
/// is state without a gradient: training changes it, whatever the file says.
bool isRunningStatistic(InitializerOp op);

} // namespace gpuopt::onnx

#endif // GPUOPT_DIALECT_ONNX_IR_RUNNINGSTATISTICS_H
