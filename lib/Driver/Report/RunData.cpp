//===- RunData.cpp - A run as data of a page ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/RunData.h"

#include "Files/CommandText.h"
#include "Report/Buckets.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;
using namespace gpuopt;

/// The most points of a curve.
static constexpr size_t kMostPoints = 800;

/// Writes numbers with the digits that a picture shows; JSON has no NaN.
static void writeNumber(double number, json::OStream &json) {
  if (!std::isfinite(number))
    return json.value(nullptr);
  json.rawValue([&](raw_ostream &os) { os << format("%.6g", number); });
}

static void writeNumbers(StringRef name, ArrayRef<double> numbers,
                         json::OStream &json) {
  json.attributeArray(name, [&] {
    for (double number : numbers)
      writeNumber(number, json);
  });
}

/// Writes a step's number, which has all its digits.
static void writeSteps(StringRef name, ArrayRef<double> steps,
                       json::OStream &json) {
  json.attributeArray(name, [&] {
    for (double step : steps)
      json.rawValue([&](raw_ostream &os) { os << format("%.15g", step); });
  });
}

/// Writes what validations measured of one thing as a curve.
static void writeValidations(ArrayRef<AtStep> values, json::OStream &json) {
  std::vector<double> steps, numbers;
  for (const AtStep &each : values) {
    steps.push_back(each.step);
    numbers.push_back(each.value);
  }
  Buckets buckets = bucketsOf(steps, numbers, kMostPoints);
  writeSteps("x", buckets.x, json);
  writeNumbers("mean", buckets.mean, json);
}

static void writeCurves(const RunMetrics &metrics, json::OStream &json) {
  json.attributeObject("curves", [&] {
    writeSteps("x", bucketsOf(metrics.steps, metrics.steps, kMostPoints).x,
               json);
    for (size_t i = 0; i < kStepMetricCount; ++i) {
      Buckets buckets =
          bucketsOf(metrics.steps, metrics.values[i], kMostPoints);
      json.attributeObject(nameOf(StepMetric(i)), [&] {
        writeNumbers("low", buckets.low, json);
        writeNumbers("mean", buckets.mean, json);
        writeNumbers("high", buckets.high, json);
      });
    }
  });
  json.attribute("is_in_buckets", metrics.steps.size() > kMostPoints);
  json.attributeObject("evaluations",
                       [&] { writeValidations(metrics.evaluations, json); });
  json.attributeObject("eval_metrics", [&] {
    for (const auto &metric : metrics.evalMetrics)
      json.attributeObject(json::fixUTF8(metric.first),
                           [&] { writeValidations(metric.second, json); });
  });
}

static void writeFigures(const ShownRun &run, json::OStream &json) {
  const RunMetrics &metrics = run.metrics;
  auto number = [&](StringRef name, double value) {
    json.attributeBegin(name);
    writeNumber(value, json);
    json.attributeEnd();
  };
  json.attributeObject("figures", [&] {
    if (metrics.steps.empty())
      return;
    json.attribute("last_step", int64_t(metrics.steps.back()));
    number("loss", metrics.of(StepMetric::Loss).back());
    double total = 0;
    for (double time : metrics.of(StepMetric::StepMilliseconds))
      total += std::isfinite(time) ? time : 0;
    number("total_ms", total);
    int64_t begunAt = run.description ? run.description->traits.begun_at : 0;
    if (Expected<RunFigures> figures =
            figuresOf(metrics, run.folder, begunAt)) {
      number("step_ms", figures->step_ms);
      number("data_wait_ms", figures->data_wait_ms);
    } else {
      consumeError(figures.takeError());
    }
    const AtStep *best = nullptr;
    for (const AtStep &evaluation : metrics.evaluations)
      if (std::isfinite(evaluation.value) &&
          (!best || evaluation.value < best->value))
        best = &evaluation;
    if (best) {
      number("best_evaluation", best->value);
      json.attribute("best_step", int64_t(best->step));
    }
  });
}

static void writeDescription(const ShownRun &run, json::OStream &json) {
  RunTraits traits;
  if (run.description)
    traits = run.description->traits;
  json.attribute("samples_per_step",
                 traits.batch_size * traits.accumulation_steps);
  if (!run.description)
    return;
  json.attributeObject("traits", [&] {
    json.attribute("target", traits.target);
    json.attribute("num_workers", traits.num_workers);
    json.attribute("batch_size", traits.batch_size);
    json.attribute("accumulation_steps", traits.accumulation_steps);
  });
  const RunCommand &command = run.description->command;
  json.attribute("command", commandText(command.arguments));
  json.attribute("started_in", command.folder);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {

/// The buffers of plan.json that are on the device, as columns.
class BufferColumns {
public:
  explicit BufferColumns(const json::Array &buffers) {
    for (const json::Value &value : buffers)
      if (const json::Object *buffer = value.getAsObject();
          buffer && buffer->getString("kind") != StringRef("host"))
        add(*buffer);
  }

  void write(json::OStream &json) {
    json.attributeArray("steps", [&] {
      for (const std::string &step : steps)
        json.value(step);
    });
    json.attributeObject("buffers", [&] {
      for (auto &[name, column] : columns)
        json.attribute(name, std::move(column));
    });
  }

private:
  void add(const json::Object &buffer) {
    for (StringRef name : {"name", "origin", "kind"})
      columns[name.str()].push_back(buffer.getString(name).value_or("").str());
    for (StringRef name : {"offset", "bytes"})
      columns[name.str()].push_back(buffer.getInteger(name).value_or(0));
    columns["type"].push_back(typeOf(buffer));
    std::optional<int64_t> result = buffer.getInteger("result");
    columns["result"].push_back(result ? json::Value(*result) : nullptr);
    const json::Array *lifetime = buffer.getArray("lifetime");
    bool lives = lifetime && lifetime->size() == 2;
    auto end = [&](size_t i) {
      return lives ? (*lifetime)[i].getAsInteger().value_or(0) : 0;
    };
    columns["from"].push_back(end(0));
    columns["to"].push_back(end(1));
    columns["step"].push_back(
        lives ? stepOf(buffer.getString("step").value_or("")) : -1);
  }
  /// Returns the number of a step, by its name.
  int64_t stepOf(StringRef name) {
    auto found = find(steps, name);
    if (found == steps.end())
      found = steps.insert(found, name.str());
    return found - steps.begin();
  }
  static std::string typeOf(const json::Object &buffer) {
    std::string type = buffer.getString("type").value_or("").str();
    const json::Array *shape = buffer.getArray("shape");
    if (!shape)
      return type;
    std::string sizes;
    for (const json::Value &size : *shape)
      sizes += (sizes.empty() ? "" : ",") +
               std::to_string(size.getAsInteger().value_or(0));
    return type + "[" + sizes + "]";
  }

  std::map<std::string, json::Array> columns;
  std::vector<std::string> steps;
};

} // namespace

static void writePlan(const json::Object &plan, json::OStream &json) {
  json.attributeObject("plan", [&] {
    for (StringRef name :
         {"model", "gpuopt", "total_bytes", "persistent_bytes", "arena_bytes",
          "host_bytes", "schedules", "tensors", "precision", "precisions"})
      if (const json::Value *member = plan.get(name))
        json.attribute(name, *member);
    if (const json::Array *command = plan.getArray("command")) {
      std::vector<std::string> words;
      for (const json::Value &word : *command)
        words.push_back(word.getAsString().value_or("").str());
      json.attribute("command", commandText(words));
    }
    if (const json::Array *buffers = plan.getArray("buffers"))
      BufferColumns(*buffers).write(json);
  });
}

//===----------------------------------------------------------------------===//
// The profile
//===----------------------------------------------------------------------===//

static void writeProfile(const KeyAverages &profile, json::OStream &json) {
  json.attributeObject("profile", [&] {
    json.attribute("device", profile.device);
    json.attribute("limits_device", profile.limits_device);
    json.attribute("steps", profile.steps);
    json.attribute("step_ns", profile.step_ns);
    json.attributeArray("rows", [&] {
      for (const KeyAverage &row : profile.rows)
        json.object([&] {
          json.attribute("name", row.name);
          json.attribute("nodes", row.nodes);
          json.attribute("section", row.section);
          json.attribute("calls", row.calls);
          json.attribute("ns", row.nanoseconds);
          json.attribute("bytes", row.bytes);
          json.attribute("flops", row.operations);
          json.attribute("limit_ns", row.limit_ns);
          json.attribute("line", row.line);
        });
    });
  });
}

void gpuopt::writeRun(const ShownRun &run, json::OStream &json) {
  json.object([&] {
    json.attribute("name", json::fixUTF8(run.name));
    json.attribute("folder", json::fixUTF8(run.folder));
    json.attribute("verdict", run.verdict);
    json.attributeArray("notes", [&] {
      for (const std::string &note : run.notes)
        json.value(json::fixUTF8(note));
    });
    writeDescription(run, json);
    writeFigures(run, json);
    writeCurves(run.metrics, json);
    json.attributeObject("memory", [&] {
      for (const auto &[name, bytes] : run.metrics.memory)
        json.attribute(name, int64_t(bytes));
    });
    if (run.plan)
      writePlan(*run.plan, json);
    json.attribute("curve", json::Array(run.curve));
    if (run.profile)
      writeProfile(*run.profile, json);
  });
}
