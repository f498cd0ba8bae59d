//===- ResumedRun.cpp - The checkpoint that a run goes on from ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ResumedRun.h"

#include "gpuopt/trainer/checkpoints/resume.h"
#include "gpuopt/trainer/class_names.h"

using namespace gpuopt;

std::string gpuopt::firstCheckpoint(const ResumingRun &run) {
  if (run.resume != "auto")
    return run.resume;
  const auto found = finished_checkpoints_in(run.outputDir);
  return found.empty() ? "" : found.back().path;
}

static bool isWhole(const std::string &checkpoint) {
  try {
    check_whole(checkpoint);
    return true;
  } catch (const Error &) {
    return false;
  }
}

std::string gpuopt::whyNotResumed(const ResumingRun &run) {
  const std::string checkpoint = firstCheckpoint(run);
  if (checkpoint.empty())
    return checkpoints_in(run.outputDir).empty()
               ? ""
               : describe_no_whole(run.outputDir);
  try {
    if (run.resume != "auto" && !is_finished_checkpoint(checkpoint))
      find_checkpoint(run.resume, run.outputDir, "gpuopt");
  } catch (const Error &error) {
    return error.what();
  }
  if (!has_run_state(checkpoint))
    return "";
  try {
    const RunState saved = read_run_state(checkpoint + "/" + kRunStateFile);
    RunState now;
    now.optimizer = run.optimizer;
    now.accumulation_steps = run.accumulationSteps;
    now.batch_size = run.batchSize > 0 ? run.batchSize : saved.batch_size;
    now.samples = saved.samples; // which the trainer compares
    now.model = run.model;
    now.settings = run.settings;
    refuse_other_run(checkpoint, saved, now, run.source);
    refuse_other_classes(checkpoint, run.classNames);
  } catch (const Error &error) {
    // All of a checkpoint is read only where it would be refused.
    return isWhole(checkpoint) ? error.what() : "";
  }
  return "";
}
