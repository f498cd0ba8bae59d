//===- StepPrinter.h - Steps as C++ functions -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H
#define GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H

#include "Names.h"
#include "Step/Calls.h"
#include "Step/Shapes.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::cxx {

/// Prints a step as a function `name`, or as several functions if it makes more
/// than `callsPerFunction` calls. With `allowsTf32`, calls whose kernels are
/// compiled for products in TF32 name it. The buffers that its loops have in
/// each iteration are printed to `tables`, and the shapes that it uses are
/// added to `shapes`. If the trainer runs the step again and again, its calls
/// are appended to `calls`, with marks of their lines. Fails, with an error at
/// the op, if an op has no C++ form.
mlir::LogicalResult printStep(device::StepOp step, llvm::StringRef name,
                              ProgramNames &names, ShapeTable &shapes,
                              std::vector<OpCalls> &calls, LineMarks &marks,
                              llvm::raw_ostream &tables,
                              llvm::raw_ostream &stream,
                              unsigned callsPerFunction, bool allowsTf32);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H
