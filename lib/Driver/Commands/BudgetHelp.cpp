//===- BudgetHelp.cpp - What would make a budget feasible -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/BudgetHelp.h"

#include "Commands/RunPlanner.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace gpuopt;
using planning::formatBytes;

int64_t gpuopt::guessBatch(int64_t batch, const UnmetReport &unmet,
                           int64_t budget) {
  int64_t persistent = 0;
  for (const auto &[part, bytes] : unmet.persistent)
    persistent += bytes;
  int64_t needed = budget < unmet.lowerLimitBytes ? unmet.lowerLimitBytes
                                                  : unmet.smallestBytes;
  if (needed <= std::max(budget, persistent) || budget <= persistent)
    return 0;
  return int64_t(double(batch) * double(budget - persistent) /
                 double(needed - persistent));
}

namespace {

/// Plans the program of some options with other flags.
class Trials {
public:
  Trials(const DriverOptions &options, const UnmetReport &unmet)
      : options(options), unmet(unmet),
        planner(RunPlanner::of(options.model, options.commandLine, kSeconds)) {}

  BudgetHelp find();

private:
  /// Trials take no longer than a user would wait.
  static constexpr int64_t kSeconds = 20;
  using Flags = std::vector<std::string>;

  /// Returns the bytes of the program with `flags`, and nothing where it does
  /// not fit or cannot be planned so.
  std::optional<int64_t> bytesWith(const Flags &flags);
  /// Returns whether the flags are enough.
  bool attempt(const Flags &flags);
  void tryBatches();
  std::vector<Flags> candidates() const;
  /// Returns what is kept for a purpose beside the arena.
  int64_t bytesOf(StringRef part) const {
    for (const auto &[name, bytes] : unmet.persistent)
      if (name == part)
        return bytes;
    return 0;
  }

  const DriverOptions &options;
  const UnmetReport &unmet;
  RunPlanner planner;
  BudgetHelp help;
  int64_t lowerLimitBytes = 0; ///< Of the last trial, if it did not fit.
};

} // namespace

static bool isBatch(StringRef flag) {
  return flag.starts_with("--batch-size=");
}

std::optional<int64_t> Trials::bytesWith(const Flags &flags) {
  lowerLimitBytes = 0;
  if (planner.isOver())
    return std::nullopt;
  // These ask for more than one plan, or for files.
  Flags all{"-o",
            "--output-dir",
            "--find-batch-size",
            "--curve",
            "--html",
            "--memory-timeline",
            "--kernels",
            "--any-schedule=true"};
  if (int64_t budget = options.pipeline.schedule.memoryBudget)
    // In bytes, as "auto" may stand for others by then.
    all.push_back("--memory-budget=" + std::to_string(budget) + "B");
  if (help.batch && none_of(flags, isBatch))
    all.push_back("--batch-size=" + std::to_string(*help.batch));
  all.insert(all.end(), flags.begin(), flags.end());
  Expected<json::Object> plan = planner.plan(all);
  if (!plan) {
    consumeError(plan.takeError()); // the flag is not for this model
    return std::nullopt;
  }
  if (!plan->getBoolean("fits").value_or(false)) {
    lowerLimitBytes = plan->getInteger("lower_limit_bytes").value_or(0);
    return std::nullopt;
  }
  const json::Object *memory = plan->getObject("memory");
  return memory ? memory->getInteger("total_bytes") : std::nullopt;
}

bool Trials::attempt(const Flags &flags) {
  std::optional<int64_t> bytes = bytesWith(flags);
  if (bytes)
    help.fitting.push_back({flags, *bytes});
  return bytes.has_value();
}

/// Tries the batch that is likely the largest that fits, and smaller ones.
void Trials::tryBatches() {
  constexpr int kMostTrials = 3;
  std::optional<int64_t> batch = options.import.batchSize;
  if (!batch)
    return;
  int64_t guess =
      guessBatch(*batch, unmet, options.pipeline.schedule.memoryBudget);
  for (int i = 0; i < kMostTrials && guess > 0; ++i, guess = guess * 3 / 4)
    if (guess < *batch && attempt({"--batch-size=" + std::to_string(guess)}))
      return;
}

/// Returns flags each of which makes a part of the memory smaller.
std::vector<Trials::Flags> Trials::candidates() const {
  constexpr int64_t kSmallWorkspace = 1 << 20; // products run with it
  std::vector<Flags> found;
  const train::BuildStepOptions &step = options.pipeline.step;
  if (bytesOf("library workspace") > kSmallWorkspace &&
      options.pipeline.workspace.convolutionPlans.empty())
    found.push_back({"--workspace-size=1MiB"});
  if (step.optimizer == "adamw")
    found.push_back({"--optimizer=adamw_8bit"});
  if (options.pipeline.precision.halfType.empty())
    found.push_back({"--precision=bf16"});
  if (step.loss == "cross_entropy" && step.lossChunkCount == 0)
    found.push_back({"--loss-chunks=8"});
  if (options.pipeline.isForGpu && !options.pipeline.schedule.allowOffload)
    found.push_back({"--allow-offload"});
  return found;
}

BudgetHelp Trials::find() {
  if (options.plan.findBatchSize)
    help.batch = options.import.batchSize;
  int64_t budget = options.pipeline.schedule.memoryBudget;
  if (budget > 0 && bytesOf("parameters") > budget) {
    help.parameterBytes = bytesOf("parameters");
    return help;
  }
  Flags all;
  int64_t limit = 0; // with all of them
  for (const Flags &flags : candidates())
    if (!attempt(flags) && lowerLimitBytes > 0 &&
        lowerLimitBytes < unmet.lowerLimitBytes) { // else it does not help
      all.insert(all.end(), flags.begin(), flags.end());
      limit = lowerLimitBytes;
    }
  tryBatches();
  if (!help.fitting.empty())
    return help;
  if (all.size() > 1) {
    if (attempt(all))
      return help;
    limit = lowerLimitBytes;
  }
  if (options.import.batchSize.value_or(1) > 1) {
    all.push_back("--batch-size=1");
    if (attempt(all))
      return help;
    limit = lowerLimitBytes;
  }
  if (limit > 0) { // else nothing helps, or there was no time
    help.tried = join(all, " ");
    help.lowerLimitBytes = limit;
  }
  return help;
}

std::string BudgetHelp::text() const {
  std::string text,
      subject = batch ? "batch size " + std::to_string(*batch) : "it";
  for (size_t i = 0; i < fitting.size(); ++i)
    text += (i == 0                    ? subject + " would fit with "
             : i + 1 == fitting.size() ? " or with "
                                       : ", with ") +
            join(fitting[i].flags, " ") + " (in " +
            formatBytes(fitting[i].totalBytes) + ")";
  if (text.empty() && !tried.empty())
    text = subject + " would not fit even with " + tried +
           (lowerLimitBytes ? ", where the proven lower limit is " +
                                  formatBytes(lowerLimitBytes)
                            : "");
  if (parameterBytes)
    text = "no flag helps: the parameters alone take " +
           formatBytes(parameterBytes);
  return text.empty() ? "" : "  note: " + text + "\n";
}

BudgetHelp gpuopt::findBudgetHelp(const DriverOptions &options,
                                  const UnmetReport &unmet) {
  return Trials(options, unmet).find();
}
