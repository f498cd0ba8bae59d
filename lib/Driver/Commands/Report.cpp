//===- Report.cpp - A page that shows runs --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Process.h"
#include "Commands/RunPlanner.h"
#include "Report/RunPage.h"
#include "gpuopt/Driver/Runs.h"
#include "gpuopt/Support/CheckOutput.h"
#include "gpuopt/Support/WriteFile.h"
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

/// Plans what budgets cost a run's program; a note says why that is not known.
static void planCurve(ShownRun &run, int64_t seconds) {
  if (!run.plan || seconds <= 0)
    return;
  RunCommand command;
  if (run.description)
    command = run.description->command;
  Expected<json::Object> plan = [&]() -> Expected<json::Object> {
    Expected<RunPlanner> planner =
        RunPlanner::create(run.folder, *run.plan, command, seconds);
    if (!planner)
      return planner.takeError();
    return planner->planWith("--curve");
  }();
  if (!plan) {
    run.notes.push_back("What other budgets cost is not shown: " +
                        toString(plan.takeError()));
    return;
  }
  if (json::Array *curve = plan->getArray("curve"))
    run.curve = std::move(*curve);
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
