//===- EvaluationFormOpInterface.cpp - Ops that training changes ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Interfaces/EvaluationFormOpInterface.h"

#include "gpuopt/Interfaces/EvaluationFormOpInterface.cpp.inc"
