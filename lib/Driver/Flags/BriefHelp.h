//===- BriefHelp.h - What --help shows first --------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_BRIEFHELP_H
#define GPUOPT_LIB_DRIVER_FLAGS_BRIEFHELP_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace gpuopt {

/// Keeps the flags that few users need out of --help of the commands that have
/// many; --help-all shows them.
void hideRareFlags();

/// Words the help of LLVM's own flags by gpuopt's names, and keeps those that
/// stand for the same out of all help.
void nameHelpFlags();

/// Returns the command line with --help-all in the words of LLVM's parser, and
/// makes --help of the given command end with an example and where the other
/// flags are.
std::vector<const char *> prepareHelp(int argc, char **argv);

/// Returns a command line of a command that does something; empty for one that
/// needs no example.
llvm::StringRef exampleOf(llvm::StringRef command);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_BRIEFHELP_H
