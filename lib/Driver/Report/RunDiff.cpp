//===- RunDiff.cpp - In what two runs or plans differ ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/RunDiff.h"

#include "Files/Distance.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace gpuopt;

static std::string number(double value) {
  return formatv("{0}", format("%.9g", value));
}

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

static bool isSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// Prints the first difference of a number, and the greatest one.
static bool printCurve(StringRef name, ArrayRef<AtStep> first,
                       ArrayRef<AtStep> second, raw_ostream &os) {
  size_t count = 0, at = 0;
  double most = 0, mostStep = 0;
  std::string begin;
  size_t i = 0, k = 0;
  while (i < first.size() && k < second.size()) {
    if (first[i].step != second[k].step) {
      ++(first[i].step < second[k].step ? i : k);
      continue;
    }
    double a = first[i].value, b = second[k].value;
    ++at;
    if (!isSame(a, b)) {
      if (count++ == 0)
        begin = formatv("step {0} is the first to differ, {1} and {2}",
                        int64_t(first[i].step), number(a), number(b))
                    .str();
      if (double distance = distanceOf(a, b); distance > most) {
        most = distance;
        mostStep = first[i].step;
      }
    }
    ++i, ++k;
  }
  if (count == 0) {
    if (at > 0)
      os << name << ": the same in all " << at << " steps of both\n";
    return false;
  }
  os << name << ": " << begin << "; " << count << " of " << at
     << " differ, by at most " << number(most) << " in step "
     << int64_t(mostStep) << "\n";
  return true;
}

static std::vector<AtStep> curveOf(const RunMetrics &metrics,
                                   StepMetric metric) {
  std::vector<AtStep> curve;
  for (size_t i = 0; i < metrics.steps.size(); ++i)
    curve.push_back({metrics.steps[i], metrics.of(metric)[i]});
  return curve;
}

bool gpuopt::printMetricsDiff(const RunMetrics &first, const RunMetrics &second,
                              raw_ostream &os) {
  bool differs = false;
  std::tuple<StringLiteral, size_t, size_t> counts[] = {
      {"steps", first.steps.size(), second.steps.size()},
      {"validations", first.evaluations.size(), second.evaluations.size()}};
  for (auto [what, before, after] : counts)
    if (before != after) {
      os << what << ": " << before << " and " << after << "\n";
      differs = true;
    }
  for (StepMetric metric :
       {StepMetric::Loss, StepMetric::LearningRate, StepMetric::GradNorm,
        StepMetric::LossScale, StepMetric::SkippedSteps})
    differs |= printCurve(nameOf(metric), curveOf(first, metric),
                          curveOf(second, metric), os);
  differs |= printCurve("eval_loss", first.evaluations, second.evaluations, os);
  for (const auto &[name, values] : first.evalMetrics)
    if (auto other = second.evalMetrics.find(name);
        other != second.evalMetrics.end())
      differs |= printCurve("eval_" + name, values, other->second, os);
  return differs;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {

/// Prints the differences of two lists of things by their names, the first
/// few of each kind, and counts all. Kinds stand in the order in which they
/// were added first.
class DifferencePrinter {
public:
  explicit DifferencePrinter(raw_ostream &os) : os(os) {}

  void add(const std::string &kind, const std::string &text) {
    constexpr size_t kMostLines = 10;
    Lines &ofKind = lines[kind];
    if (++ofKind.count <= kMostLines)
      ofKind.texts.push_back(text);
  }
  bool print() {
    for (auto &[kind, ofKind] : lines) {
      os << kind << ": " << ofKind.count << "\n";
      for (const std::string &text : ofKind.texts)
        os << "  " << text << "\n";
      if (ofKind.count > ofKind.texts.size())
        os << "  and " << ofKind.count - ofKind.texts.size() << " more\n";
    }
    return !lines.empty();
  }

private:
  struct Lines {
    std::vector<std::string> texts;
    size_t count = 0;
  };
  raw_ostream &os;
  MapVector<std::string, Lines, std::map<std::string, unsigned>> lines;
};

} // namespace

static std::string textOf(const json::Value *value) {
  if (!value)
    return "none";
  if (std::optional<StringRef> text = value->getAsString())
    return text->str();
  return formatv("{0}", *value);
}

/// Returns the objects of a list by a name; a name that comes again has a
/// number behind it.
static std::map<std::string, const json::Object *>
byName(const json::Object &plan, StringRef list,
       function_ref<std::string(const json::Object &)> nameOf) {
  std::map<std::string, const json::Object *> found;
  std::map<std::string, int> counts;
  if (const json::Array *array = plan.getArray(list))
    for (const json::Value &value : *array)
      if (const json::Object *object = value.getAsObject()) {
        std::string name = nameOf(*object);
        if (int count = ++counts[name]; count > 1)
          name += " (" + std::to_string(count) + ")";
        found[name] = object;
      }
  return found;
}

/// Adds what two lists of objects have in one alone, and members that differ.
static void diffLists(const json::Object &first, const json::Object &second,
                      StringRef list, StringRef what,
                      ArrayRef<StringRef> members,
                      function_ref<std::string(const json::Object &)> nameOf,
                      DifferencePrinter &printer) {
  auto a = byName(first, list, nameOf), b = byName(second, list, nameOf);
  for (auto &[name, object] : a)
    if (!b.count(name))
      printer.add((what + " only in the first").str(), name);
  for (auto &[name, object] : b)
    if (!a.count(name))
      printer.add((what + " only in the second").str(), name);
  for (StringRef member : members)
    for (auto &[name, object] : a) {
      auto other = b.find(name);
      if (other == b.end())
        continue;
      std::string before = textOf(object->get(member)),
                  after = textOf(other->second->get(member));
      if (before != after)
        printer.add((what + " with another " + member).str(),
                    name + ": " + before + " and " + after);
    }
}

static std::string nameOfOrigin(const json::Object &object) {
  std::string name = object.getString("origin").value_or("").str();
  if (std::optional<int64_t> result = object.getInteger("result"))
    name += "#" + std::to_string(*result);
  if (std::optional<StringRef> which = object.getString("which"))
    name += " (" + which->str() + ")";
  return name;
}

/// Prints the members that differ, a line each. Returns whether any does.
static bool printMembers(const json::Object &first, const json::Object &second,
                         ArrayRef<StringRef> names, raw_ostream &os) {
  bool differs = false;
  for (StringRef name : names) {
    std::string before = textOf(first.get(name)),
                after = textOf(second.get(name));
    if (before == after)
      continue;
    os << name << ": " << before << " and " << after << "\n";
    differs = true;
  }
  return differs;
}

bool gpuopt::printSourceDiff(const json::Object &first,
                             const json::Object &second, raw_ostream &os) {
  return printMembers(first, second, {"gpuopt", "model"}, os);
}

bool gpuopt::printMemoryDiff(const json::Object &first,
                             const json::Object &second, raw_ostream &os) {
  bool differs = printMembers(first, second,
                              {"total_bytes", "persistent_bytes", "arena_bytes",
                               "host_bytes", "precision"},
                              os);
  DifferencePrinter printer(os);
  const json::Object none, *schedules[] = {first.getObject("schedules"),
                                           second.getObject("schedules")};
  for (StringRef step : {"micro_step", "update", "evaluate", "forward"})
    for (StringRef member : {"added_percent", "lower_bound_percent"}) {
      std::string texts[2];
      for (int i = 0; i < 2; ++i) {
        const json::Object *schedule =
            schedules[i] ? schedules[i]->getObject(step) : nullptr;
        texts[i] = textOf((schedule ? *schedule : none).get(member));
      }
      if (texts[0] != texts[1])
        printer.add("schedules with another " + member.str(),
                    step.str() + ": " + texts[0] + " and " + texts[1]);
    }
  return printer.print() || differs;
}

bool gpuopt::printTensorsDiff(const json::Object &first,
                              const json::Object &second, raw_ostream &os) {
  DifferencePrinter printer(os);
  diffLists(first, second, "tensors", "tensors for the backward",
            {"decision", "type"}, nameOfOrigin, printer);
  diffLists(first, second, "precisions", "tensors", {"type", "computed_in"},
            nameOfOrigin, printer);
  diffLists(
      first, second, "buffers", "buffers", {"bytes", "lifetime", "offset"},
      [](const json::Object &buffer) {
        return (buffer.getString("step").value_or("state") + "/" +
                buffer.getString("name").value_or(""))
            .str();
      },
      printer);
  return printer.print();
}
