//===- PlanKey.h - What tells plans apart -----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_BUILD_PLANKEY_H
#define GPUOPT_LIB_DRIVER_BUILD_PLANKEY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// Returns a hash of all that the plan of a model depends on: this gpuopt and
/// this machine, what gpuopt calibrate has measured here, the model, and the
/// flags with the files that they name. `words` are the model and the flags,
/// each with its value in one word; files are sought from `folder`. The
/// contents of files count, but of a model's external data only when they were
/// written, since they may be large.
std::string planKey(llvm::StringRef folder, llvm::ArrayRef<std::string> words);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_BUILD_PLANKEY_H
