//===- RunFiles.cpp - What a training has left of itself ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/RunFiles.h"

#include "Files/JoinPath.h"
#include "gpuopt/trainer/folder_marks.h"
#include "gpuopt/trainer/profiling/profile_files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace gpuopt;

static constexpr StringLiteral kMetrics = "metrics.jsonl", kPlan = "plan.json";

static std::string profileOf(StringRef run) {
  return joinPath(joinPath(run, kProfileFolder), kProfileFile);
}

static Expected<json::Value> readJson(const std::string &file) {
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return createStringError("cannot read '" + file +
                             "': " + buffer.getError().message());
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
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

Error gpuopt::checkIsRun(StringRef folder) {
  if (!sys::fs::is_directory(folder))
    return createStringError("there is no folder '" + folder + "'");
  if (!sys::fs::exists(joinPath(folder, kResultsMark)) &&
      !sys::fs::exists(joinPath(folder, kMetrics)))
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
  traits.batch_size = integer("batch_size");
  traits.accumulation_steps = integer("accumulation_steps");
  traits.is_half = object->getBoolean("is_half").value_or(false);
  traits.launches = integer("launches");
  traits.limit_ms = numberIn(*object, "limit_ms");
  traits.memory_ms = numberIn(*object, "memory_ms");
  traits.optimizer_ms = numberIn(*object, "optimizer_ms");
  description.command.folder = stringIn(*object, "folder");
  if (const json::Array *command = object->getArray("command"))
    for (const json::Value &argument : *command)
      description.command.arguments.push_back(
          argument.getAsString().value_or("").str());
  return description;
}

Expected<RunFigures> gpuopt::readFigures(StringRef run) {
  std::string file = joinPath(run, kMetrics);
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return createStringError("cannot read '" + file +
                             "': " + buffer.getError().message());
  RunFigures figures;
  bool isFirst = true;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', /*MaxSplit=*/-1,
                               /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    Expected<json::Value> value = json::parse(line);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    const json::Object *object = value->getAsObject();
    if (!object)
      continue;
    figures.checkpoint_ms += numberIn(*object, "checkpoint_stall_ms");
    std::optional<double> time = object->getNumber("step_ms");
    if (!time)
      continue;
    if (!isFirst) {
      ++figures.steps;
      figures.step_ms += *time;
      figures.data_wait_ms += numberIn(*object, "data_wait_ms");
    }
    isFirst = false;
  }
  if (figures.steps == 0)
    return createStringError("'" + file +
                             "' has fewer than two steps, which are too few to "
                             "judge a run");
  for (double *sum :
       {&figures.step_ms, &figures.data_wait_ms, &figures.checkpoint_ms})
    *sum /= double(figures.steps);
  return figures;
}

double gpuopt::readBudgetCost(StringRef run) {
  Expected<json::Value> value = readJson(joinPath(run, kPlan));
  if (!value) {
    consumeError(value.takeError());
    return 0;
  }
  double most = 0;
  const json::Object *plan = value->getAsObject();
  if (const json::Object *schedules =
          plan ? plan->getObject("schedules") : nullptr)
    for (const auto &[step, schedule] : *schedules)
      if (const json::Object *members = schedule.getAsObject())
        most = std::max(most, numberIn(*members, "added_percent"));
  return most;
}
