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
/// that one of its commands takes. Once, before the command line is parsed.
void declareSettingFlags();

/// Whether the command line has the flag of a row.
bool isGiven(llvm::StringRef name);

/// Whether the command line has the flag of a row and does not switch it off:
/// `--nesterov=false` asks for nothing.
bool asksFor(llvm::StringRef name);

/// Sets what the command line has; fails where a value is out of its range.
llvm::Error readSettingFlags(TrainingSettings &settings);

/// The flags of a run that the command line has, as the trainer takes them.
std::vector<std::string> givenRunFlags();

/// The help of a row whose flag is declared by hand.
llvm::StringRef helpOfSetting(llvm::StringRef name);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FLAGS_SETTINGFLAGS_H
