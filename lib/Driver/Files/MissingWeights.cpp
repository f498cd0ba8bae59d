//===- MissingWeights.cpp - Why a run has no weights ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/MissingWeights.h"

#include "Files/JoinPath.h"
#include "Files/ResultsLock.h"
#include "Files/RunFiles.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "gpuopt/trainer/folder_marks.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace gpuopt;

/// Says what has become of a run that has left no weights.
static std::string describeEnd(StringRef run) {
  if (areResultsLocked(run.str()))
    return "it still goes on";
  Expected<RunMetrics> metrics = readMetrics(run);
  if (!metrics) {
    consumeError(metrics.takeError());
    return "it was killed before its first step ended";
  }
  if (std::string text = describeDivergence(*metrics); !text.empty())
    return "it " + text;
  if (std::string text = describeError(*metrics); !text.empty())
    return text;
  return metrics->steps.empty()
             ? "no step has ended"
             : "it was interrupted or killed after step " +
                   std::to_string(int64_t(metrics->steps.back()));
}

std::string gpuopt::whyNoWeights(StringRef folder, bool averages) {
  if (hasFile(folder, averages ? kAveragesFile : kModelFile))
    return "";
  std::string name = "'" + folder.str() + "'";
  if (averages && hasFile(folder, kModelFile))
    return name + " has no " + kAveragesFile +
           ": its run kept no averages, as a run with --ema-decay does; leave "
           "out --averages";
  if (Error error = checkIsRun(folder)) {
    consumeError(std::move(error));
    return "";
  }
  std::string text = name + " has no " + kModelFile +
                     ", which a run writes at "
                     "its end: " +
                     describeEnd(folder);
  auto checkpoints = finished_checkpoints_in(folder.str());
  text += checkpoints.empty()
              ? "; it has no checkpoints, either, which --save-steps "
                "has a run write"
              : "; give its last checkpoint in place of the run: '" +
                    checkpoints.back().path + "'";
  std::string earlier = joinPath(folder, kEarlierFolder);
  if (hasFile(earlier, kModelFile))
    text +=
        "; '" + earlier + "' has the results of the training before that one";
  return text;
}

std::string gpuopt::describeLaterCheckpoint(StringRef run,
                                            const TrainedWeights &weights,
                                            bool averages) {
  const char *file = averages ? kAveragesFile : kModelFile;
  std::vector<CheckpointFolder> checkpoints =
      finished_checkpoints_in(run.str());
  llvm::erase_if(checkpoints, [&](const CheckpointFolder &checkpoint) {
    return !hasFile(checkpoint.path, file);
  });
  std::optional<int64_t> step = weights.step();
  if (!step || checkpoints.empty() || checkpoints.back().step <= *step)
    return "";
  return "'" + joinPath(run, file) + "' has the weights of step " +
         std::to_string(*step) +
         ", but the run has a checkpoint of a later step: give '" +
         checkpoints.back().path +
         "' in place of the run for the weights of step " +
         std::to_string(checkpoints.back().step);
}

std::string gpuopt::describeOtherAverages(StringRef run,
                                          const TrainedWeights &averages) {
  std::string file = joinPath(run, kModelFile);
  TrainedWeights weights;
  if (!hasFile(run, kModelFile) || !weights.load(file).empty())
    return "";
  std::optional<int64_t> step = averages.step(), ofWeights = weights.step();
  if (!step || !ofWeights || *step == *ofWeights)
    return "";
  return "'" + joinPath(run, kAveragesFile) + "' has the averages of step " +
         std::to_string(*step) + ", but '" + file + "' the weights of step " +
         std::to_string(*ofWeights) +
         ": the run that wrote these kept no averages; leave out --averages "
         "for its weights";
}
