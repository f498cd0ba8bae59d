//===- MissingWeights.h - Why a run has no weights --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_MISSINGWEIGHTS_H
#define GPUOPT_LIB_DRIVER_FILES_MISSINGWEIGHTS_H

#include "Files/TrainedWeights.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuopt {

/// Returns why a run or a checkpoint does not have the file of its weights, or
/// that of its averages, and what has some. Empty if the file is there, or if
/// the folder is neither a run nor a checkpoint.
std::string whyNoWeights(llvm::StringRef folder, bool averages);

/// Says that a run has written a checkpoint since it wrote its weights or their
/// averages: they are those of an interruption, and the run was resumed. Empty
/// if it has not, or if the weights do not tell their step.
std::string describeLaterCheckpoint(llvm::StringRef run,
                                    const TrainedWeights &weights,
                                    bool averages);

/// Says which checkpoint of a run has weights that validated best, if those of
/// the run, which are of its last step, did not. What is better is told by the
/// metric of --metric-for-best-model. Empty if the weights are the best that
/// are kept, or if the run's files do not tell.
std::string describeBetterCheckpoint(llvm::StringRef run,
                                     const TrainedWeights &weights);

/// Says that the averages of a run are of another step than its weights: those
/// of a later run, which kept none, stand beside them. Empty if they are not,
/// or if one of both does not tell its step.
std::string describeOtherAverages(llvm::StringRef run,
                                  const TrainedWeights &averages);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_MISSINGWEIGHTS_H
