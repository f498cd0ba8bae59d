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
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace gpuopt {

/// A modifier of LLVM's options that makes an option the flag of a row of
/// kSettings, except for its heading. It is for the flags that
/// declareSettingFlags leaves to the code that reads them.
class FromSetting {
public:
  explicit FromSetting(llvm::StringRef name);
  void apply(llvm::cl::Option &option) const;

private:
  const SettingInfo &setting;
};

/// Declares a flag of the driver for each row of kSettings that a command of
/// the driver takes, but for those whose values the driver reads in its own
/// way: rows that no member has the value of, and rows with a short name. It is
/// called once, before the command line is parsed.
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
