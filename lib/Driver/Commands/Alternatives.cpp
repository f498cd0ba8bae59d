//===- Alternatives.cpp - What other flags would make of a run ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Alternatives.h"

#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;
using planning::formatBytes;

namespace {

/// What a plan says, of those of its numbers that are compared.
struct PlanFigures {
  bool fits = false;
  double milliseconds = 0; ///< Of a step, estimated.
  double addedPercent = 0, recomputePercent = 0, lowerBoundPercent = 0;
  int64_t totalBytes = 0;
  int64_t deviceBytes = 0; ///< What the device has of memory; 0: not known.
};

/// Plans alternatives one after the other, until the time is over.
class Planning {
public:
  Planning(const PlannedRun &run, const RunPlanner &planner)
      : run(run), planner(planner) {}

  Alternatives plan();

private:
  std::optional<PlanFigures> figuresOf(ArrayRef<std::string> flags);
  int64_t memoryOfHost() const;
  void tryPrecision();
  void tryBatch(int64_t times);
  void tryLargerBatch();
  void tryAccumulation();
  void tryBudget();
  void tryLargerWithin(int64_t bytes);
  void tryWithoutBudget();
  void add(std::string flags, std::string text) {
    result.found.push_back({std::move(flags), std::move(text)});
  }

  /// Returns what a step would take of the time that was measured. Waits for
  /// data stay as they are.
  double scaled(double milliseconds) const {
    double wait = run.figures.data_wait_ms;
    return wait +
           (run.figures.step_ms - wait) * milliseconds / now.milliseconds;
  }
  /// Returns the time of a step now and with a plan; nothing where the
  /// estimates say nothing of the measured time.
  std::string changeOf(const PlanFigures &figures) const {
    return timeText(figures, 1, " a step");
  }
  std::string timeText(const PlanFigures &figures, double times,
                       const std::string &of) const {
    if (!result.hasTimes)
      return "";
    return ms_text(run.figures.step_ms) + " -> " +
           ms_text(scaled(figures.milliseconds) / times) + of;
  }
  std::string costText(const PlanFigures &figures) const;
  std::string samplesText() const {
    return " for " + std::to_string(samples()) + " samples";
  }
  std::string memoryOf(const PlanFigures &figures) const {
    return formatBytes(now.totalBytes) + " -> " +
           formatBytes(figures.totalBytes);
  }
  /// Returns what a plan may take of the device, on which others have a part;
  /// 0: not known.
  int64_t usableBytes() const { return now.deviceBytes / 10 * 9; }
  bool fitsDevice(const PlanFigures &figures) const {
    return figures.fits &&
           (usableBytes() == 0 || figures.totalBytes <= usableBytes());
  }
  int64_t samples() const {
    return run.traits.batch_size * run.traits.accumulation_steps;
  }

  const PlannedRun &run;
  const RunPlanner &planner;
  PlanFigures now; ///< The plan of the run itself.
  Alternatives result;
};

} // namespace

/// Returns a flag of a budget that a person can read: "--memory-budget=12GiB".
/// It is at most `bytes`, and less by a sixteenth at most.
static std::string budgetFlag(int64_t bytes) {
  for (auto [unit, size] :
       {std::pair("GiB", int64_t(1) << 30), std::pair("MiB", int64_t(1) << 20),
        std::pair("KiB", int64_t(1) << 10)})
    if (bytes >= 16 * size || bytes % size == 0)
      return formatv("--memory-budget={0}{1}", bytes / size, unit).str();
  return formatv("--memory-budget={0}B", bytes).str();
}

/// Returns two texts with a separator between them, or the one that is there.
static std::string joined(const std::string &first, StringRef separator,
                          const std::string &second) {
  return first.empty() || second.empty() ? first + second
                                         : first + separator.str() + second;
}

std::string Planning::costText(const PlanFigures &figures) const {
  if (!result.hasTimes)
    return "what is recomputed costs time";
  return formatv("recomputing costs {0:f1} % (at least {1:f1} %, proven)",
                 figures.recomputePercent, figures.lowerBoundPercent)
      .str();
}

/// Returns what is free on this machine for a run on the host; else 0.
int64_t Planning::memoryOfHost() const {
  if (run.traits.target != "host")
    return 0;
  Expected<FreeMemory> memory = measureFreeMemory(*find_target("host"));
  if (memory)
    return memory->budgetInBytes;
  consumeError(memory.takeError());
  return 0;
}

std::optional<PlanFigures> Planning::figuresOf(ArrayRef<std::string> flags) {
  if (!result.problem.empty() && planner.isOver())
    return std::nullopt;
  Expected<json::Object> plan = planner.plan(flags);
  if (!plan) {
    std::string words;
    for (const std::string &flag : flags)
      words += flag + " ";
    std::string problem = toString(plan.takeError());
    result.problem = planner.isOver() || words.empty()
                         ? problem
                         : StringRef(words).rtrim().str() + ": " + problem;
    return std::nullopt;
  }
  PlanFigures figures;
  figures.fits = plan->getBoolean("fits").value_or(false);
  figures.milliseconds = plan->getNumber("step_ms").value_or(0);
  if (const json::Object *memory = plan->getObject("memory")) {
    auto bytes = [&](StringRef name) {
      return memory->getInteger(name).value_or(0);
    };
    figures.totalBytes = bytes("total_bytes");
    figures.addedPercent = memory->getNumber("added_percent").value_or(0);
    figures.recomputePercent =
        memory->getNumber("recompute_percent").value_or(0);
    figures.lowerBoundPercent =
        memory->getNumber("lower_bound_percent").value_or(0);
  }
  figures.deviceBytes =
      plan->getInteger("device_memory_bytes").value_or(memoryOfHost());
  if (result.device.empty())
    result.device = plan->getString("device").value_or("").str();
  return figures;
}

void Planning::tryPrecision() {
  constexpr double kGain = 0.99;
  if (run.traits.is_half)
    return;
  std::optional<PlanFigures> half = figuresOf({"--precision=bf16"});
  if (!half || !half->fits)
    return;
  bool helps = half->milliseconds < kGain * now.milliseconds;
  add("--precision bf16", (helps || !result.hasTimes ? "" : "gains no time: ") +
                              joined(changeOf(*half), ", ", memoryOf(*half)));
}

void Planning::tryBatch(int64_t times) {
  int64_t size = times * run.traits.batch_size;
  std::optional<PlanFigures> larger =
      figuresOf({"--batch-size=" + std::to_string(size)});
  if (larger && larger->fits)
    add("--batch-size " + std::to_string(size),
        joined(timeText(*larger, double(times), samplesText()), ", ",
               memoryOf(*larger)));
}

void Planning::tryAccumulation() {
  constexpr int64_t kTimes = 4;
  int64_t steps = kTimes * run.traits.accumulation_steps;
  std::optional<PlanFigures> longer =
      figuresOf({"--gradient-accumulation-steps=" + std::to_string(steps)});
  if (longer && longer->fits)
    add("--gradient-accumulation-steps " + std::to_string(steps),
        joined(timeText(*longer, double(kTimes), samplesText()), ", ",
               memoryOf(*longer)));
}

/// A budget costs time, so one is proposed only where the program takes more
/// than the device has.
void Planning::tryBudget() {
  if (fitsDevice(now))
    return;
  std::string flag = budgetFlag(usableBytes());
  std::optional<PlanFigures> smaller = figuresOf({flag});
  if (!smaller || !smaller->fits)
    return;
  std::string words = flag;
  std::replace(words.begin(), words.end(), '=', ' ');
  add(words, joined(costText(*smaller), ": ",
                    joined(changeOf(*smaller), ", ", memoryOf(*smaller))));
}

/// A larger batch is proposed where it gains time for each sample. Where it
/// does not fit the device, the budget with which it does is proposed.
void Planning::tryLargerBatch() {
  constexpr double kGain = 0.97;
  int64_t size = 2 * run.traits.batch_size;
  std::optional<PlanFigures> larger =
      figuresOf({"--batch-size=" + std::to_string(size)});
  if (!larger)
    return;
  if (!fitsDevice(*larger))
    return tryLargerWithin(usableBytes());
  if (result.hasTimes &&
      scaled(larger->milliseconds) / 2 > kGain * run.figures.step_ms)
    return;
  add("--batch-size " + std::to_string(size),
      joined(timeText(*larger, 2, samplesText()), ", ", memoryOf(*larger)));
}

void Planning::tryLargerWithin(int64_t bytes) {
  if (bytes <= 0)
    return;
  int64_t batch = run.traits.batch_size;
  std::string budget = budgetFlag(bytes);
  for (int64_t size : {2 * batch, batch + batch / 2}) {
    if (size <= batch)
      return;
    std::optional<PlanFigures> larger =
        figuresOf({budget, "--batch-size=" + std::to_string(size)});
    if (!larger)
      return;
    if (!larger->fits)
      continue;
    double times = double(size) / double(batch);
    std::string words = budget + " --batch-size " + std::to_string(size);
    words[words.find('=')] = ' ';
    add(words, "would fit, " + joined(costText(*larger), ": ",
                                      timeText(*larger, times, samplesText())));
    return;
  }
}

void Planning::tryWithoutBudget() {
  constexpr double kMuchInPercent = 1;
  if (now.addedPercent < kMuchInPercent)
    return;
  std::optional<PlanFigures> free =
      figuresOf({"--memory-budget", "--activation-budget", "--allow-offload",
                 "--offload-bandwidth"});
  if (free && fitsDevice(*free))
    add("no --memory-budget", joined(changeOf(*free), ", ", memoryOf(*free)));
}

Alternatives Planning::plan() {
  std::optional<PlanFigures> same = figuresOf({});
  if (!same || !same->fits || same->milliseconds <= 0) {
    if (result.problem.empty())
      result.problem = "the program cannot be planned again";
    return result;
  }
  now = *same;
  result.hasTimes = estimates_hold(run.traits, run.figures);
  constexpr int64_t kMoreSamples = 4;
  if (run.verdict.bound == "launch-bound")
    tryBatch(kMoreSamples);
  if (run.verdict.bound == "optimizer-bound")
    tryAccumulation();
  tryPrecision();
  tryWithoutBudget();
  if (now.addedPercent == 0) { // else there is a budget already
    tryBudget();
    if (fitsDevice(now) && run.verdict.bound != "launch-bound")
      tryLargerBatch();
  }
  return result;
}

Alternatives gpuopt::planAlternatives(const PlannedRun &run,
                                      const RunPlanner &planner) {
  return Planning(run, planner).plan();
}

void gpuopt::printAlternatives(const Alternatives &alternatives,
                               raw_ostream &os) {
  if (!alternatives.found.empty())
    os << "planned with other flags; estimates by the rates of '"
       << alternatives.device
       << (alternatives.hasTimes
               ? "', scaled to the measured step:\n"
               : "' are too far from the measured step to tell times:\n");
  for (const Alternative &each : alternatives.found)
    os << "  " << each.flags << ": " << each.text << "\n";
  if (!alternatives.problem.empty())
    os << (alternatives.found.empty() ? "no other flags were planned: "
                                      : "not planned: ")
       << alternatives.problem << "\n";
}
