//===- FlagDiff.h - In which flags two commands differ ----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_FLAGDIFF_H
#define GPUOPT_LIB_DRIVER_REPORT_FLAGDIFF_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <string>
#include <vector>

namespace gpuopt {

/// Returns the words of a command as plan.json has it.
std::vector<std::string> wordsOf(const llvm::json::Array &command);

/// Returns the flags of a command of gpuopt, such as `gpuopt train m.onnx
/// --seed 1`, each with its value in one word: "--seed=1". The model is left
/// out.
std::vector<std::string> flagWords(llvm::ArrayRef<std::string> command);

/// The values of flags by their names, "--seed" among them; those of a flag
/// that was given more than once stand in a row, and a switch has none.
using GivenFlags = std::map<std::string, std::string>;

/// Returns the flags of what made a plan and of the trainer that ran it, which
/// may be empty. Folders that were written to are left out.
GivenFlags givenFlags(const llvm::json::Object &plan,
                      const std::vector<std::string> &trainer);

/// Prints the flags that differ, if any, with both values. They are no
/// difference of what was computed.
void printFlagsDiff(const GivenFlags &first, const GivenFlags &second,
                    llvm::raw_ostream &os);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_FLAGDIFF_H
