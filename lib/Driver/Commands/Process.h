//===- Process.h - How a command of gpuopt ends --------------- -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_PROCESS_H
#define GPUOPT_LIB_DRIVER_COMMANDS_PROCESS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Prints "gpuopt: error: ..." and returns the exit status of a failure. Joined
/// errors have a line each.
int failure(const llvm::Twine &what);
int failure(llvm::Error error);

/// Makes an end of this process tell what could not be written to the standard
/// output. Nothing is told where it is a pipe whose reader has ended, as `head`
/// does after its lines; LLVM would end with an error of its own.
void checkOutputAtExit();

/// Notes which signals this process ignores from its beginning, as nohup has it
/// do: LLVM takes them as soon as it writes a file.
void noteIgnoredSignals();

/// Runs a command in place of this process, so that it gets all signals and its
/// end is that of this process; it ignores those that noteIgnoredSignals() has
/// found. Returns an exit status if it cannot be run.
int become(llvm::ArrayRef<std::string> command);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_PROCESS_H
