//===- DifferentiableOpInterface.cpp - Reverse-mode rules -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Interfaces/DifferentiableOpInterface.h"

#include "gpuopt/Interfaces/DifferentiableOpInterface.cpp.inc"
