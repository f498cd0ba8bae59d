//===- TrainedModel.cpp - Trained weights and their model -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/TrainedModel.h"

#include "Files/MissingWeights.h"
#include "Files/ModelHash.h"
#include "Flags/Notes.h"
#include "gpuopt/trainer/checkpoints/model_hash.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace gpuopt;

std::string gpuopt::loadTrained(const TrainedModel &trained,
                                TrainedWeights &weights,
                                llvm::function_ref<std::string()> graphHash) {
  if (std::string problem = weights.load(trained.weights); !problem.empty())
    return problem;
  llvm::StringRef run = llvm::sys::path::parent_path(trained.weights);
  std::string other;
  if (!trained.namesWeights) {
    other = describeLaterCheckpoint(run, weights, trained.averages);
    // Validations are of the weights, not of averages.
    if (other.empty() && !trained.averages)
      if (std::string better = describeBetterCheckpoint(run, weights);
          !better.empty())
        addNote(better);
  }
  if (other.empty() && trained.averages)
    other = describeOtherAverages(run, weights);
  if (!other.empty())
    llvm::errs() << "gpuopt: warning: " << other << "\n";
  if (!trained.findsModel || weights.graphHash().empty())
    return "";
  std::string now = graphHash();
  if (have_other_versions(weights.graphHash(), now))
    llvm::errs() << "gpuopt: warning: '" << trained.weights
                 << "' is of another version of gpuopt, which hashes models in "
                    "another way: only the names and shapes of its tensors are "
                    "compared with those of '"
                 << trained.model << "'\n";
  std::string why =
      whyOtherGraph(trained.weights, weights.graphHash(), trained.model, now);
  return why.empty() ? "" : why + "; restore it, or " + trained.remedy;
}
