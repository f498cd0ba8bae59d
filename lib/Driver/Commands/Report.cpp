//===- Report.cpp - A page that shows runs --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/BudgetCurve.h"
#include "Commands/Process.h"
#include "Files/JoinPath.h"
#include "Files/SourceModel.h"
#include "Report/RunPage.h"
#include "gpuopt/Driver/Runs.h"
#include "gpuopt/Support/CheckOutput.h"
#include "gpuopt/Support/WriteFile.h"
#include "gpuopt/Target/Cxx/PlanVersion.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

/// Reads the points of `gpuopt plan --curve --json`.
static Expected<json::Array> readCurve(const std::string &file) {
  Expected<json::Value> value = readJson(file);
  if (!value)
    return value.takeError();
  json::Object *plan = value->getAsObject();
  json::Array *curve = plan ? plan->getArray("curve") : nullptr;
  auto isPoint = [](const json::Value &point) {
    const json::Object *object = point.getAsObject();
    return object && object->getInteger("budget_bytes") &&
           object->getNumber("added_percent") &&
           object->getNumber("lower_bound_percent");
  };
  if (!curve || !all_of(*curve, isPoint))
    return createStringError("--plan: '" + file +
                             "' has no curve; make one: gpuopt plan MODEL.onnx "
                             "--curve --json > FILE.json");
  return std::move(*curve);
}

/// Plans what budgets cost a run's program; a note says what is not known.
static void planCurve(ShownRun &run, int64_t seconds) {
  if (!run.plan || seconds <= 0)
    return;
  RunCommand command;
  if (run.description)
    command = run.description->command;
  int missing = 0;
  std::vector<std::string> failures;
  Expected<json::Array> points = [&]() -> Expected<json::Array> {
    Expected<RunPlanner> planner =
        RunPlanner::create(run.folder, *run.plan, command, seconds);
    if (!planner)
      return planner.takeError();
    BudgetCurve curve(*planner);
    Expected<json::Array> points = curve.plan();
    missing = curve.missing();
    failures = curve.failures();
    return points;
  }();
  if (!points) {
    run.notes.push_back("What other budgets cost is not shown: " +
                        toString(points.takeError()));
    return;
  }
  run.curve = std::move(*points);
  if (!failures.empty())
    run.notes.push_back("Budgets of the curve that cannot be planned: " +
                        std::to_string(failures.size()) + "; the first is " +
                        failures.front());
  if (missing > 0)
    run.notes.push_back("The curve of budgets lacks " +
                        std::to_string(missing) +
                        " of its points: planning took --time-limit, " +
                        std::to_string(seconds) + " s.");
}

/// Plans the curves of all runs within a time, each within what is left of it.
static void planCurves(std::vector<ShownRun> &runs, int64_t seconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (ShownRun &run : runs)
    planCurve(run, std::chrono::ceil<std::chrono::seconds>(
                       end - std::chrono::steady_clock::now())
                       .count());
}

/// Tells runs of one name apart by more of their paths.
static void nameApart(std::vector<ShownRun> &runs) {
  for (ShownRun &run : runs)
    if (count_if(runs, [&](const ShownRun &other) {
          return sys::path::filename(other.folder) ==
                 sys::path::filename(run.folder);
        }) > 1)
      run.name = run.folder;
}

/// Fails if the page would replace a file of the runs that it shows.
static Error checkPage(const ReportOptions &options) {
  for (const std::string &folder : options.runs) {
    std::string model;
    if (Expected<std::string> found = findSourceModel(folder))
      model = *found;
    else
      consumeError(found.takeError());
    if (Error error = checkOutput(
            options.file,
            {joinPath(folder, kMetricsFile), joinPath(folder, kRunTraitsFile),
             joinPath(folder, kPlanFile),
             joinPath(joinPath(folder, kProfileFolder), kProfileFile), model}))
      return createStringError("-o: " + toString(std::move(error)));
  }
  return Error::success();
}

int gpuopt::reportRuns(const ReportOptions &options) {
  if (Error error = checkOutput(options.file, {options.plan}))
    return failure("-o: " + toString(std::move(error)));
  RunPage page;
  for (const std::string &folder : options.runs) {
    Expected<ShownRun> run = readRun(folder);
    if (!run)
      return failure(run.takeError());
    page.runs.push_back(std::move(*run));
  }
  if (Error error = checkPage(options))
    return failure(std::move(error));
  if (Error error = checkReplaced(options.file, ".html"))
    return failure("-o: " + toString(std::move(error)));
  nameApart(page.runs);
  if (!options.plan.empty()) {
    Expected<json::Array> curve = readCurve(options.plan);
    if (!curve)
      return failure(curve.takeError());
    for (ShownRun &run : page.runs)
      run.curve = *curve;
  } else {
    planCurves(page.runs, options.seconds);
  }
  std::string text;
  raw_string_ostream stream(text);
  page.print(stream);
  if (Error error = writeFile(options.file, text))
    return failure("cannot write '" + options.file +
                   "': " + toString(std::move(error)));
  outs() << "report: " << options.file << "\n";
  for (const ShownRun &run : page.runs)
    for (const std::string &note : run.notes)
      errs() << "gpuopt: note: " << run.folder << ": " << note << "\n";
  return 0;
}
