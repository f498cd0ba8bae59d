//===- CostOpInterface.h - How much arithmetic an op is ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_COSTOPINTERFACE_H
#define GPUOPT_INTERFACES_COSTOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

#include "gpuopt/Interfaces/CostOpInterface.h.inc"

namespace gpuopt {

/// What an exponential, a division or a root counts beside an addition: they
/// are sequences of about as many instructions on every device.
constexpr double kOperationsOfElementaryFunction = 16;

/// Floating-point operations of one execution: the op's own answer, or one per
/// element of its largest result, more for the elementary functions.
double floatingPointOperations(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_COSTOPINTERFACE_H
