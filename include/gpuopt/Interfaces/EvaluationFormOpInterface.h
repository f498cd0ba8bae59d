//===- EvaluationFormOpInterface.h - Ops that training changes --*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_EVALUATIONFORMOPINTERFACE_H
#define GPUOPT_INTERFACES_EVALUATIONFORMOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

#include "gpuopt/Interfaces/EvaluationFormOpInterface.h.inc"

#endif // GPUOPT_INTERFACES_EVALUATIONFORMOPINTERFACE_H
