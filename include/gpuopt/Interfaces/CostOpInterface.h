//===- CostOpInterface.h - How much arithmetic an op is ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_COSTOPINTERFACE_H
#define GPUOPT_INTERFACES_COSTOPINTERFACE_H

#include "gpuopt/Interfaces/OpWork.h"
#include "gpuopt/settings/operation_counts.h"
#include "mlir/IR/OpDefinition.h"

#include "gpuopt/Interfaces/CostOpInterface.h.inc"

namespace gpuopt {

/// Returns the floating-point operations of one execution. An op may answer
/// itself; otherwise it is one per element of its largest result, and more for
/// elementary functions.
double floatingPointOperations(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_COSTOPINTERFACE_H
