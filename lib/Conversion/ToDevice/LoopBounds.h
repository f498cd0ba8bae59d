//===- LoopBounds.h - Bounds and indices of a kernel's loops ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_LOOPBOUNDS_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_LOOPBOUNDS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gpuopt {

/// Returns the bounds of part `i` of `count`, of which each has `span` of
/// `size` elements: [i * span, min((i + 1) * span, size)).
std::pair<mlir::Value, mlir::Value> spanOf(mlir::ImplicitLocOpBuilder &b,
                                           mlir::Value i, int64_t span,
                                           int64_t size, int64_t count);

/// Returns the digits of `linear`, the last one fastest.
llvm::SmallVector<mlir::Value> delinearize(mlir::ImplicitLocOpBuilder &b,
                                           mlir::Value linear,
                                           llvm::ArrayRef<int64_t> sizes);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_LOOPBOUNDS_H
