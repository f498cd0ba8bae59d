//===- RepeatedElements.h - What constants repeat ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_REPEATEDELEMENTS_H
#define GPUOPT_DIALECT_NN_IR_REPEATEDELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace gpuopt::nn {

/// Returns the constant with size 1 in each dimension along which all its
/// entries are the same, bit for bit. nn.broadcast turns the result into the
/// constant again.
mlir::DenseElementsAttr withoutRepeats(mlir::DenseElementsAttr value);

} // namespace gpuopt::nn

#endif // GPUOPT_DIALECT_NN_IR_REPEATEDELEMENTS_H
