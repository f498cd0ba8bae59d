//===- TrainedPictures.h - How a run has seen its pictures ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_TRAINEDPICTURES_H
#define GPUOPT_LIB_DRIVER_FILES_TRAINEDPICTURES_H

#include "llvm/Support/Error.h"
#include <string>

namespace gpuopt {

/// Returns what the run in a folder, or the run of a checkpoint, has done to
/// pictures where it validated or, if it was not told, where it trained: then
/// without what augments them. Empty if that is nothing, or not known, of which
/// it warns. Fails where it trained on random crops, which a prediction cannot
/// repeat.
llvm::Expected<std::string> transformOfRun(llvm::StringRef folder);

/// Returns the file with the names of a run's classes; empty if there is none.
std::string classNamesOfRun(llvm::StringRef folder);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_TRAINEDPICTURES_H
