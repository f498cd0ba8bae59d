//===- ShownRun.cpp - What is known of a run ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/JoinPath.h"
#include "Report/RunPage.h"
#include "gpuopt/trainer/advice.h"
#include "gpuopt/trainer/profiling/profile_files.h"

using namespace llvm;
using namespace gpuopt;

/// Judges a run by its steps and, where it has one, by its profile.
static void judgeRun(ShownRun &run) {
  if (!run.description)
    return;
  Expected<RunFigures> figures =
      figuresOf(run.metrics, run.folder, run.description->traits.begun_at);
  if (!figures) {
    consumeError(figures.takeError());
    return;
  }
  if (run.profile)
    add_profile(*run.profile, run.description->traits, *figures);
  if (std::string note = describe_difference(*figures); !note.empty())
    run.notes.push_back("T" + note.substr(1) + ".");
  run.verdict = describe(judge(run.description->traits, *figures));
}

/// Says what a run that was killed has not written.
static void noteGaps(ShownRun &run) {
  if (run.metrics.unreadLines > 0)
    run.notes.push_back(
        (run.metrics.unreadLines == 1
             ? std::string("A line")
             : std::to_string(run.metrics.unreadLines) + " lines") +
        " of metrics.jsonl cannot be read, as the last line of "
        "a run that was killed");
  if (std::string text = describeDivergence(run.metrics); !text.empty())
    run.notes.push_back("The run has " + text + ".");
  else if (std::string error = describeError(run.metrics); !error.empty())
    run.notes.push_back("A" + error.substr(1) + ".");
  else if (run.metrics.memory.empty())
    run.notes.push_back(
        "The run has not ended, or it was killed: metrics.jsonl "
        "lacks the last line, which tells the peak of memory.");
}

Expected<ShownRun> gpuopt::readRun(StringRef folder) {
  if (Error error = checkIsRun(folder))
    return error;
  ShownRun run;
  run.folder = folder.str();
  StringRef trimmed = folder.rtrim('/');
  run.name = sys::path::filename(trimmed.empty() ? folder : trimmed).str();
  if (hasFile(folder, kMetricsFile)) {
    Expected<RunMetrics> metrics = readMetrics(folder);
    if (!metrics)
      return metrics.takeError();
    run.metrics = std::move(*metrics);
    noteGaps(run);
  } else {
    run.notes.push_back("There is no metrics.jsonl: no step has ended.");
  }
  RunCommand command;
  if (hasFile(folder, kRunTraitsFile)) {
    Expected<RunDescription> description = readRunDescription(folder);
    if (!description)
      return description.takeError();
    command = description->command;
    run.description = std::move(*description);
  } else {
    run.notes.push_back(
        "There is no run.json, which a trainer writes after its "
        "first step: there is no verdict.");
  }
  if (hasPlan(folder, command)) {
    Expected<json::Object> plan = readPlan(folder, command);
    if (!plan)
      return plan.takeError();
    run.plan = std::move(*plan);
  } else {
    run.notes.push_back("There is no plan.json, neither in the folder nor in "
                        "that of the program: memory is not shown.");
  }
  if (hasProfile(folder)) {
    Expected<KeyAverages> profile = readProfile(folder);
    if (!profile)
      return profile.takeError();
    run.profile = std::move(*profile);
  }
  judgeRun(run);
  return run;
}
