//===- PlanVersion.h - The memory plan of a program -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TARGET_CXX_PLANVERSION_H
#define GPUOPT_TARGET_CXX_PLANVERSION_H

#include "llvm/ADT/StringRef.h"

namespace gpuopt {

/// The file of a program's memory plan.
constexpr llvm::StringLiteral kPlanFile = "plan.json";
/// The version that it names. A reader of another one refuses it.
constexpr int kPlanVersion = 1;

} // namespace gpuopt

#endif // GPUOPT_TARGET_CXX_PLANVERSION_H
