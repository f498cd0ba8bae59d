//===- Completion.h - Flags for shells and for man --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of it is made from the flags that the commands have, so that no list of
// them is written twice.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_COMPLETION_H
#define GPUOPT_LIB_DRIVER_REPORT_COMPLETION_H

#include "llvm/Support/raw_ostream.h"

namespace gpuopt {

/// Prints what makes a shell complete gpuopt's commands, flags and their
/// values. Returns false for a shell that is not bash, zsh or fish.
bool printCompletion(llvm::StringRef shell, llvm::raw_ostream &os);

/// Prints the manual page gpuopt(1).
void printManual(llvm::raw_ostream &os);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_COMPLETION_H
