//===- Windows.h - Sums over windows of any rank ----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_WINDOWS_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_WINDOWS_H

#include "Converters.h"
#include "Volume.h"

namespace gpuopt {

/// Pads the end for a last window that does not fit completely, unless that
/// would begin in the padding.
void roundUp(Span &span, int64_t length);

/// Pads so that there are as many windows as strides, half of it at each end,
/// as auto_pad SAME_UPPER and SAME_LOWER say.
void padToSame(Span &span, int64_t length, bool moreAtEnd);

/// Averages over the windows of a pooling node that nn.avg_pool has no form
/// for: those with dilations, or that are rounded up and count the padding.
mlir::LogicalResult averageWindows(NodeConversion &c);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_WINDOWS_H
