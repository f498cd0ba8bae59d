//===- RunFiles.cpp - What a training has left of itself ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/RunFiles.h"

#include "Files/JoinPath.h"
#include "gpuopt/Target/Cxx/PlanVersion.h"
#include "gpuopt/device/missing_path.h"
#include "gpuopt/trainer/folder_marks.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace llvm;
using namespace gpuopt;

static std::string profileOf(StringRef run) {
  return joinPath(joinPath(run, kProfileFolder), kProfileFile);
}

Error gpuopt::unreadable(StringRef file, std::error_code code) {
  if (is_missing(code.value()))
    return createStringError(describe_missing(file.str()));
  return createStringError("cannot read '" + file + "': " + code.message());
}

Expected<json::Value> gpuopt::readJson(const std::string &file) {
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return unreadable(file, buffer.getError());
  // A command may have bytes that are not UTF-8, and no reader of JSON takes
  // them.
  Expected<json::Value> value =
      json::parse(json::fixUTF8((*buffer)->getBuffer()));
  if (!value)
    return createStringError("'" + file +
                             "': is not JSON: " + toString(value.takeError()));
  return value;
}

/// Fails if a file is of a version that this gpuopt does not read.
static Error checkVersion(const json::Object *object, int version,
                          const std::string &file) {
  std::optional<int64_t> found =
      object ? object->getInteger("version") : std::nullopt;
  if (!found)
    return createStringError("'" + file +
                             "': expects an object with a 'version'");
  if (*found != version)
    return createStringError(
        "'" + file + "' is of version " + std::to_string(*found) +
        ", but this gpuopt reads version " + std::to_string(version) +
        "; run the trainer again, with a program that this gpuopt compiled");
  return Error::success();
}

bool gpuopt::hasFile(StringRef run, StringRef name) {
  return sys::fs::exists(joinPath(run, name));
}

Error gpuopt::checkIsRun(StringRef folder) {
  if (!sys::fs::exists(folder))
    return createStringError(describe_missing(folder.str()));
  if (!sys::fs::is_directory(folder))
    return createStringError("'" + folder +
                             "' is a file, but a run is a folder");
  if (!sys::fs::exists(joinPath(folder, kResultsMark)) &&
      !sys::fs::exists(joinPath(folder, kMetricsFile)))
    return createStringError("'" + folder +
                             "' holds no run of a trainer; give the folder "
                             "that gpuopt train wrote by -o, or a trainer by "
                             "--output-dir");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The profile
//===----------------------------------------------------------------------===//

bool gpuopt::hasProfile(StringRef run) {
  return sys::fs::exists(profileOf(run));
}

static double numberIn(const json::Object &object, StringRef name) {
  return object.getNumber(name).value_or(0);
}
static std::string stringIn(const json::Object &object, StringRef name) {
  return object.getString(name).value_or("").str();
}

static KeyAverage rowOf(const json::Object &object) {
  KeyAverage row;
  row.name = stringIn(object, "name");
  row.nodes = stringIn(object, "nodes");
  row.section = stringIn(object, "section");
  row.calls = object.getInteger("calls").value_or(0);
  row.nanoseconds = numberIn(object, "ns");
  row.bytes = numberIn(object, "bytes");
  row.operations = numberIn(object, "flops");
  row.limit_ns = numberIn(object, "limit_ns");
  row.line = int(object.getInteger("line").value_or(0));
  row.lines = object.getInteger("lines").value_or(0);
  return row;
}

Expected<KeyAverages> gpuopt::readProfile(StringRef run) {
  std::string file = profileOf(run);
  Expected<json::Value> value = readJson(file);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object || object->getString("format") != StringRef(kProfileFormat))
    return createStringError("'" + file + "' is no profile of a run");
  if (Error error = checkVersion(object, kProfileVersion, file))
    return error;
  KeyAverages averages;
  averages.program = stringIn(*object, "program");
  averages.target = stringIn(*object, "target");
  averages.device = stringIn(*object, "device");
  averages.limits_device = stringIn(*object, "limits_device");
  averages.times_by = stringIn(*object, "times_by");
  averages.steps = object->getInteger("steps").value_or(0);
  averages.step_ns = numberIn(*object, "step_ns");
  averages.data_wait_ns = numberIn(*object, "data_wait_ns");
  const json::Array *rows = object->getArray("rows");
  if (!rows || averages.steps < 1)
    return createStringError("'" + file +
                             "': expects 'steps', at least 1, and 'rows'");
  for (const json::Value &row : *rows)
    if (const json::Object *members = row.getAsObject())
      averages.rows.push_back(rowOf(*members));
  return averages;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

Expected<RunDescription> gpuopt::readRunDescription(StringRef run) {
  std::string file = joinPath(run, kRunTraitsFile);
  if (!sys::fs::exists(file))
    return createStringError("'" + run + "' has no " + kRunTraitsFile +
                             ", which a trainer writes after its first step: "
                             "the run ended before it, or an older gpuopt "
                             "compiled the trainer");
  Expected<json::Value> value = readJson(file);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (Error error = checkVersion(object, kRunTraitsVersion, file))
    return error;
  auto integer = [&](StringRef name) {
    return object->getInteger(name).value_or(0);
  };
  RunDescription description;
  RunTraits &traits = description.traits;
  traits.target = stringIn(*object, "target");
  traits.num_workers = integer("num_workers");
  traits.finds_workers = object->getBoolean("finds_workers").value_or(false);
  traits.batch_size = integer("batch_size");
  traits.accumulation_steps = integer("accumulation_steps");
  traits.is_half = object->getBoolean("is_half").value_or(false);
  traits.begun_at = integer("begun_at");
  traits.launches = integer("launches");
  traits.limit_ms = numberIn(*object, "limit_ms");
  traits.memory_ms = numberIn(*object, "memory_ms");
  traits.optimizer_ms = numberIn(*object, "optimizer_ms");
  traits.wait_policy = stringIn(*object, "wait_policy");
  traits.cores = integer("cores");
  traits.other_cores = numberIn(*object, "other_cores");
  traits.preemptions = numberIn(*object, "preemptions");
  description.command.folder = stringIn(*object, "folder");
  if (const json::Array *command = object->getArray("command"))
    for (const json::Value &argument : *command)
      description.command.arguments.push_back(
          argument.getAsString().value_or("").str());
  return description;
}

Expected<RunFigures> gpuopt::figuresOf(const RunMetrics &metrics, StringRef run,
                                       int64_t begunAt) {
  size_t first = 0; // step of the process that ran last
  while (first < metrics.steps.size() &&
         metrics.steps[first] <= double(begunAt))
    ++first;
  RunFigures figures;
  figures.steps = int64_t(metrics.steps.size() - first) - 1;
  if (figures.steps < 1)
    return createStringError("'" + joinPath(run, kMetricsFile) +
                             "' has fewer than two steps, which are too few to "
                             "judge a run");
  auto meanOf = [&](StepMetric metric) {
    double sum = 0; // a line may lack a number
    for (double value : ArrayRef(metrics.of(metric)).drop_front(first + 1))
      sum += std::isnan(value) ? 0 : value;
    return sum / double(figures.steps);
  };
  figures.step_ms = meanOf(StepMetric::StepMilliseconds);
  figures.data_wait_ms = meanOf(StepMetric::DataWaitMilliseconds);
  for (const AtStep &stall : metrics.stalls)
    if (stall.step > double(begunAt))
      figures.checkpoint_ms += stall.value / double(figures.steps);
  return figures;
}

/// Returns the place of a run's plan, which need not be there. A trainer that
/// was built by hand has it in its program's folder, above that of the
/// executable.
static std::string planOf(StringRef run, const RunCommand &command) {
  std::string file = joinPath(run, kPlanFile);
  if (sys::fs::exists(file) || command.arguments.empty())
    return file;
  StringRef folder = sys::path::parent_path(command.arguments.front());
  return joinPath(sys::path::parent_path(folder), kPlanFile);
}

bool gpuopt::hasPlan(StringRef run, const RunCommand &command) {
  return sys::fs::exists(planOf(run, command));
}

Expected<json::Object> gpuopt::readPlanFile(const std::string &file) {
  Expected<json::Value> value = readJson(file);
  if (!value)
    return value.takeError();
  json::Object *plan = value->getAsObject();
  if (Error error = checkVersion(plan, kPlanVersion, file))
    return error;
  return std::move(*plan);
}

Expected<json::Object> gpuopt::readPlan(StringRef run,
                                        const RunCommand &command) {
  return readPlanFile(planOf(run, command));
}

double gpuopt::budgetCostOf(const json::Object &plan) {
  double most = 0;
  if (const json::Object *schedules = plan.getObject("schedules"))
    for (const auto &[step, schedule] : *schedules)
      if (const json::Object *members = schedule.getAsObject())
        most = std::max(most, numberIn(*members, "added_percent"));
  return most;
}
