//===- TrainedModel.h - Trained weights and their model ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_FILES_TRAINEDMODEL_H
#define GPUOPT_LIB_DRIVER_FILES_TRAINEDMODEL_H

#include "Files/TrainedWeights.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace gpuopt {

/// A file of weights that a run has saved, and the model that gets them.
struct TrainedModel {
  std::string weights;
  std::string model;
  /// Whether the model is the one that the program beside the weights names,
  /// which must be the one that was trained.
  bool findsModel = false;
  /// Whether the user has named the file of weights, so that its step is meant.
  bool namesWeights = false;
  bool averages = false; ///< Whether the weights are those of --ema-decay.
  std::string remedy;    ///< How another model is named, for an error.
};

/// Loads the weights. Warns if their run has a checkpoint of a later step, and
/// notes if it has an earlier one that validated better.
/// If the model was found beside them, `graphHash` is called for the hash of
/// its graph, which must be that of the graph that was trained. Returns what is
/// wrong; empty if nothing is.
std::string loadTrained(const TrainedModel &trained, TrainedWeights &weights,
                        llvm::function_ref<std::string()> graphHash);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_FILES_TRAINEDMODEL_H
