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
#include "gpuopt/device/loss_text.h"
#include "gpuopt/settings/metric_names.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "gpuopt/trainer/folder_marks.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>

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

/// Returns the finished checkpoints of a run that have a file, the first step
/// first.
static std::vector<CheckpointFolder> checkpointsWith(StringRef file,
                                                     StringRef run) {
  std::vector<CheckpointFolder> checkpoints =
      finished_checkpoints_in(run.str());
  llvm::erase_if(checkpoints, [&](const CheckpointFolder &checkpoint) {
    return !hasFile(checkpoint.path, file);
  });
  return checkpoints;
}

std::string gpuopt::describeLaterCheckpoint(StringRef run,
                                            const TrainedWeights &weights,
                                            bool averages) {
  const char *file = averages ? kAveragesFile : kModelFile;
  std::vector<CheckpointFolder> checkpoints = checkpointsWith(file, run);
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

/// Returns the metric by which a checkpoint's run compares validations.
static std::string metricOf(const CheckpointFolder &checkpoint) {
  Expected<json::Value> value =
      readJson(joinPath(checkpoint.path, kRunStateFile));
  if (!value)
    consumeError(value.takeError());
  const json::Object *state = value ? value->getAsObject() : nullptr,
                     *settings = state ? state->getObject("settings") : nullptr;
  std::optional<StringRef> metric =
      settings ? settings->getString("metric-for-best-model") : std::nullopt;
  return metric.value_or(kLossMetric).str();
}

/// Returns what validations measured, by their steps.
static std::map<int64_t, double> validationsOf(const RunMetrics &metrics,
                                               const std::string &metric) {
  std::map<int64_t, double> validations;
  auto measured = metrics.evalMetrics.find(metric);
  ArrayRef<AtStep> values;
  if (metric == kLossMetric)
    values = metrics.evaluations;
  else if (measured != metrics.evalMetrics.end())
    values = measured->second;
  for (const AtStep &each : values)
    validations[int64_t(each.step)] = each.value;
  return validations;
}

std::string gpuopt::describeBetterCheckpoint(StringRef run,
                                             const TrainedWeights &weights) {
  std::vector<CheckpointFolder> checkpoints = checkpointsWith(kModelFile, run);
  std::optional<int64_t> step = weights.step();
  Expected<RunMetrics> metrics = readMetrics(run);
  if (!metrics)
    consumeError(metrics.takeError());
  if (!step || !metrics)
    return "";
  // Those of another course of the run have no line in its metrics.
  llvm::erase_if(checkpoints, [&](const CheckpointFolder &checkpoint) {
    return llvm::none_of(metrics->stalls, [&](const AtStep &stall) {
      return int64_t(stall.step) == checkpoint.step;
    });
  });
  if (checkpoints.empty())
    return "";
  std::string metric = metricOf(checkpoints.back());
  std::map<int64_t, double> validations = validationsOf(*metrics, metric);
  auto last = validations.find(*step);
  if (last == validations.end())
    return "";
  double best = last->second;
  const CheckpointFolder *better = nullptr;
  for (const CheckpointFolder &checkpoint : checkpoints) {
    auto found = validations.find(checkpoint.step);
    if (found == validations.end() || checkpoint.step >= *step)
      continue;
    double value = found->second;
    if (std::isnan(best) ||
        (is_greater_better(metric) ? value > best : value < best)) {
      best = value;
      better = &checkpoint;
    }
  }
  if (!better || std::isnan(best))
    return "";
  return "'" + joinPath(run, kModelFile) +
         "' has the weights of the last step, " +
         std::to_string(*step) + ", which validated with " + metric + " " +
         loss_text(last->second) + ", but those of '" + better->path +
         "' did with " + loss_text(best) +
         ": give that folder in place of the run for them";
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
