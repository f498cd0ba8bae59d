//===- DifferentiableOpInterface.h - Reverse-mode rules ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
#define GPUOPT_INTERFACES_DIFFERENTIABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "gpuopt/Interfaces/DifferentiableOpInterface.h.inc"

#endif // GPUOPT_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
