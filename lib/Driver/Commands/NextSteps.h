//===- NextSteps.h - How to build and run a program -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_NEXTSTEPS_H
#define GPUOPT_LIB_DRIVER_COMMANDS_NEXTSTEPS_H

#include "gpuopt/Driver/Driver.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

/// Prints the commands that build and run the program of `module`, with the
/// data that it needs.
void printNextSteps(const DriverOptions &options, mlir::ModuleOp module,
                    llvm::raw_ostream &os);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_NEXTSTEPS_H
