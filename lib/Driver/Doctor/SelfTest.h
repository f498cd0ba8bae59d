//===- SelfTest.h - A training that shows whether all works -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_DOCTOR_SELFTEST_H
#define GPUOPT_LIB_DRIVER_DOCTOR_SELFTEST_H

#include "Doctor/Finding.h"

namespace gpuopt {

/// Trains a small perceptron for `target` as `gpuopt train` does, in a folder
/// that is removed afterwards, and says whether it has learned.
Finding trainPerceptron(const TargetInfo &target);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_DOCTOR_SELFTEST_H
