//===- ParseErrors.h - What is wrong with a command line --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_PARSEERRORS_H
#define GPUOPT_LIB_DRIVER_FLAGS_PARSEERRORS_H

#include "llvm/Support/CommandLine.h"
#include <string>
#include <vector>

namespace gpuopt {

/// Describes the first error that LLVM's parser reports about the flags of
/// `command`; most later errors follow from it. For an unknown flag, names the
/// flag that was probably meant: its name in gpuopt if the given one is that of
/// PyTorch or the Hugging Face Trainer, or the nearest spelling.
std::string describeParseErrors(llvm::StringRef errors,
                                llvm::cl::SubCommand &command);

/// Describes the name of no command, and the one that was probably meant.
std::string describeUnknownCommand(llvm::StringRef name);

/// Makes "help", a word in place of the command, the flag --help of the command
/// that follows it, or of gpuopt. Returns an error if that is no command.
std::string takeHelpCommand(std::vector<char *> &arguments);

/// Where a flag asks for help, leaves nothing beside it but the command: help
/// needs no model, and no run starts. Arguments behind "--" are no flags.
/// Returns an error if there is no such command.
std::string keepHelpAlone(std::vector<char *> &arguments);

/// Returns what a value of type T must be; nothing if `text` is such a value.
template <class T>
llvm::StringRef whatIsNeeded(llvm::StringRef text);

/// Replaces underscores in the names of flags by dashes where that makes them
/// flags of the command: --learning_rate is --learning-rate, as others spell
/// it.
void acceptUnderscores(std::vector<char *> &arguments);

/// Keeps the error unless there is an earlier one. Returns true, as LLVM's
/// parsers do when they fail.
bool noteValueError(const std::string &error);
/// Returns the first error of a value; nothing if all values are valid.
const std::string &valueError();

/// Returns an error that LLVM's parser would not find, or would tell in other
/// words: a flag lacks its value, since it is the last argument or another flag
/// follows; or a flag that there is not begins with the letter of a short one.
/// Else nothing.
std::string findFlagError(int argc, char **argv);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_PARSEERRORS_H
