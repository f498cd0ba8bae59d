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

namespace gpuopt {

/// The first error that LLVM's parser tells of the flags of `command`: what
/// follows mostly comes of it. A flag that there is not has the name of one
/// that is meant: under another name in PyTorch or Hugging Face's Trainer, or
/// misspelt.
std::string describeParseErrors(llvm::StringRef errors,
                                llvm::cl::SubCommand &command);

/// What a value of type T must be; empty where `text` is one.
template <class T>
llvm::StringRef whatIsNeeded(llvm::StringRef text);

/// Keeps the first error of a value; returns true, as parsers do then.
bool noteValueError(const std::string &error);
/// Empty where all values are what they must be.
const std::string &valueError();

/// Describes the flag at the end of the line that lacks its value; returns
/// nothing where there is none.
std::string describeMissingValue(int argc, char **argv);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_PARSEERRORS_H
