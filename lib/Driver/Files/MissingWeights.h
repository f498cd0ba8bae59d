//===- MissingWeights.h - Why a run has no weights --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_MISSINGWEIGHTS_H
#define GPUOPT_LIB_DRIVER_FILES_MISSINGWEIGHTS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// Returns why a run or a checkpoint does not have the file of its weights, or
/// that of its averages, and what has some. Empty if the file is there, or if
/// the folder is neither a run nor a checkpoint.
std::string whyNoWeights(llvm::StringRef folder, bool averages);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_MISSINGWEIGHTS_H
