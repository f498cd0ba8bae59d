//===- Resume.h - Whether a training may go on ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_RESUME_H
#define GPUOPT_LIB_DRIVER_COMMANDS_RESUME_H

#include "gpuopt/Driver/Driver.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace gpuopt {

/// Checks, before a training is compiled, that it may go on from the checkpoint
/// that --resume names, as far as the flags tell. The trainer would say the
/// same, but only after it was built.
llvm::Error checkResume(const DriverOptions &options);

/// Checks the same for a compiled program, of which everything is known, and
/// the file that --init-from names. `classNames` has those of the labels, a
/// line each; empty: none.
llvm::Error checkStart(const DriverOptions &options, mlir::ModuleOp module,
                       const EmissionOptions &emission,
                       const std::string &classNames);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_RESUME_H
