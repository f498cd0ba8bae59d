//===- FlagList.h - The flags of a command ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_FLAGLIST_H
#define GPUOPT_LIB_DRIVER_REPORT_FLAGLIST_H

#include "llvm/Support/CommandLine.h"
#include <string>
#include <vector>

namespace gpuopt {

/// A flag as --help has it.
struct ListedFlag {
  std::string name; ///< "batch-size", without dashes; "o" of -o.
  std::string help, value, heading;
  bool needsValue = false;
  std::vector<std::string> choices; ///< Of the value; empty for anything.

  std::string dashed() const { return (name.size() == 1 ? "-" : "--") + name; }
};

/// Returns the flags of a command by their headings, and within these by their
/// names. Those of the libraries below are left out.
std::vector<ListedFlag> flagsOf(llvm::cl::SubCommand &command);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_FLAGLIST_H
