//===- StepPrinter.h - Steps as C++ functions -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H
#define GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H

#include "Calls.h"
#include "Names.h"
#include "Shapes.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"

namespace gpuopt::cxx {

/// Prints a step as a function `name`, or as several where it makes more than
/// `callsPerFunction` calls, and to `tables` the buffers of its loops' turns.
/// Shapes that it uses go to the table, and to `calls`, of the steps that a
/// trainer runs again and again, what is called. Fails, with an error at the
/// op, for an op that has no C++ form.
mlir::LogicalResult printStep(device::StepOp step, llvm::StringRef name,
                              ProgramNames &names, ShapeTable &shapes,
                              std::vector<OpCalls> &calls,
                              llvm::raw_ostream &tables,
                              llvm::raw_ostream &stream,
                              unsigned callsPerFunction);

} // namespace gpuopt::cxx

#endif // GPUOPT_LIB_TARGET_CXX_STEPPRINTER_H
