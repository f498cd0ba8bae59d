//===- SettingFlags.h - The flags of the runtime's table --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FLAGS_SETTINGFLAGS_H
#define GPUOPT_LIB_DRIVER_FLAGS_SETTINGFLAGS_H

#include "gpuopt/settings/settings_table.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace gpuopt {

/// Declares a flag of the driver for each row of kSettings that has a field and
/// that a command of the driver takes. It is called once, before the command
/// line is parsed.
void declareSettingFlags();

/// Returns whether the command line has the flag of a row.
bool isGiven(llvm::StringRef name);

/// Returns whether the command line has the flag of a row and does not switch
/// it off, as `--nesterov=false` does.
bool asksFor(llvm::StringRef name);

/// Sets the fields whose flags the command line has; fails if a value is out of
/// its range.
llvm::Error readSettingFlags(TrainingSettings &settings);

/// Returns the flags that `command`, train or predict, hands to its program,
/// as far as the command line has them.
std::vector<std::string> givenRunFlags(Takers command);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_SETTINGFLAGS_H
