//===- RunMetrics.cpp - What a run has measured of its steps --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/RunMetrics.h"

#include "Files/JoinPath.h"
#include "Files/RunFiles.h"
#include "gpuopt/trainer/advice.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <limits>

using namespace llvm;
using namespace gpuopt;

static constexpr std::array<StringLiteral, kStepMetricCount> kNames = {
    StringLiteral("loss"),          StringLiteral("learning_rate"),
    StringLiteral("grad_norm"),     StringLiteral("loss_scale"),
    StringLiteral("skipped_steps"), StringLiteral("step_ms"),
    StringLiteral("data_wait_ms")};

StringRef gpuopt::nameOf(StepMetric metric) { return kNames[size_t(metric)]; }

static double numberIn(const json::Object &object, StringRef name) {
  return object.getNumber(name).value_or(
      std::numeric_limits<double>::quiet_NaN());
}

void gpuopt::addLine(StringRef line, RunMetrics &metrics) {
  Expected<json::Value> value = json::parse(line);
  if (!value)
    consumeError(value.takeError());
  const json::Object *object = value ? value->getAsObject() : nullptr;
  std::optional<double> step =
      object ? object->getNumber("step") : std::nullopt;
  if (!step) {
    ++metrics.unreadLines;
    return;
  }
  if (object->get("step_ms")) {
    metrics.memory.clear(); // a run that was resumed has not ended yet
    metrics.endedBy.clear();
    metrics.steps.push_back(*step);
    for (size_t i = 0; i < kStepMetricCount; ++i)
      metrics.values[i].push_back(numberIn(*object, kNames[i]));
  } else if (object->get("eval_loss")) {
    metrics.evaluations.push_back({*step, numberIn(*object, "eval_loss")});
    for (const auto &[key, value] : *object)
      if (StringRef name = key; name.consume_front("eval_") && name != "loss")
        metrics.evalMetrics[name.str()].push_back(
            {*step, numberIn(*object, key)});
  } else if (object->get("checkpoint_stall_ms")) {
    metrics.stalls.push_back({*step, numberIn(*object, "checkpoint_stall_ms")});
  } else if (std::optional<StringRef> by = object->getString("ended_by")) {
    metrics.endedBy = by->str();
    metrics.endedAt = *step;
  } else if (object->get("peak_bytes")) {
    metrics.endedBy.clear(); // the run was resumed, and has come to its end
    for (const auto &[name, bytes] : *object)
      if (std::optional<double> number = bytes.getAsNumber();
          number && StringRef(name).ends_with("_bytes"))
        metrics.memory[StringRef(name).str()] = *number;
  }
}

std::string gpuopt::describeDivergence(const RunMetrics &metrics) {
  if (metrics.endedBy != kEndedByDivergence)
    return "";
  return "diverged in step " + std::to_string(int64_t(metrics.endedAt)) +
         ": its loss or gradients became infinite or NaN; try " +
         kHelpAgainstDivergence;
}

std::string gpuopt::describeError(const RunMetrics &metrics) {
  if (metrics.endedBy != kEndedByError)
    return "";
  return "an error has ended the run after step " +
         std::to_string(int64_t(metrics.endedAt)) +
         "; the trainer has told it on standard error";
}

Expected<RunMetrics> gpuopt::readMetrics(StringRef run) {
  std::string file = joinPath(run, kMetricsFile);
  auto buffer = MemoryBuffer::getFile(file);
  if (!buffer)
    return unreadable(file, buffer.getError());
  RunMetrics metrics;
  StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (!line.empty())
      addLine(line, metrics);
  }
  return metrics;
}
