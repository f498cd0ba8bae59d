//===- ParseErrors.h - What is wrong with a command line --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_PARSEERRORS_H
#define GPUOPT_LIB_DRIVER_PARSEERRORS_H

#include "llvm/Support/CommandLine.h"
#include <string>

namespace gpuopt {

/// The first error that LLVM's parser tells of the flags of `command`: what
/// follows mostly comes of it. A flag that there is not has the name of one
/// that is meant: under another name in PyTorch or Hugging Face's Trainer, or
/// misspelt.
std::string describeParseErrors(llvm::StringRef errors,
                                llvm::cl::SubCommand &command);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_PARSEERRORS_H
