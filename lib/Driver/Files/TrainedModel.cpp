//===- TrainedModel.cpp - Trained weights and their model -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/TrainedModel.h"

#include "Files/MissingWeights.h"
#include "Files/ModelHash.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace gpuopt;

std::string gpuopt::loadTrained(const TrainedModel &trained,
                                TrainedWeights &weights,
                                llvm::function_ref<std::string()> graphHash) {
  if (std::string problem = weights.load(trained.weights); !problem.empty())
    return problem;
  if (!trained.namesWeights)
    if (std::string later = describeLaterCheckpoint(
            llvm::sys::path::parent_path(trained.weights), weights,
            trained.averages);
        !later.empty())
      llvm::errs() << "gpuopt: warning: " << later << "\n";
  if (!trained.findsModel || weights.graphHash().empty())
    return "";
  std::string why = whyOtherGraph(trained.weights, weights.graphHash(),
                                  trained.model, graphHash());
  return why.empty() ? "" : why + "; restore it, or " + trained.remedy;
}
