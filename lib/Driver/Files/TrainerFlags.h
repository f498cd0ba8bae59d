//===- TrainerFlags.h - Flags as a trainer was given them -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_TRAINERFLAGS_H
#define GPUOPT_LIB_DRIVER_FILES_TRAINERFLAGS_H

#include "gpuopt/settings/settings_table.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace gpuopt {

/// Returns the name of a flag without its value, in the spelling of the table
/// of settings: "--learning-rate" of "--learning_rate=0.1", "--output-dir" of
/// "-o".
std::string flagNameOf(llvm::StringRef flag);

/// Returns the setting that a flag has a value for; null if it has none, or
/// none is known.
const SettingInfo *settingWithValue(llvm::StringRef flag);

/// Returns how many arguments the first flag takes: a value is part of the
/// flag, or the argument behind it.
size_t sizeOfFirst(llvm::ArrayRef<std::string> flags);

/// Returns the value that a flag, "--output-dir", has among others: the last
/// one.
std::optional<std::string> valueOf(llvm::StringRef name,
                                   llvm::ArrayRef<std::string> flags);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_TRAINERFLAGS_H
