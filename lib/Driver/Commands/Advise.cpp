//===- Advise.cpp - What limits a run, and what would help ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Alternatives.h"
#include "Commands/Process.h"
#include "Files/CommandText.h"
#include "gpuopt/Driver/Runs.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

/// Prints what else takes time, beside what the verdict names.
static void printOthers(const RunFigures &figures, double budgetCost) {
  constexpr double kMuchOfAStep = 0.03, kMuchInPercent = 3;
  if (figures.checkpoint_ms > kMuchOfAStep * figures.step_ms)
    outs() << formatv("checkpoints: training stands still for {0:f1} % of its "
                      "time; --save-steps: a larger number\n",
                      100 * figures.checkpoint_ms / figures.step_ms);
  if (budgetCost > kMuchInPercent)
    outs() << formatv("memory budget: what is computed again takes {0:f1} % "
                      "more of a step by estimate; --memory-budget: more\n",
                      budgetCost);
}

/// Plans the run's program with other flags and prints what they would do.
static void printPlans(const AdviseOptions &options, const json::Object &plan,
                       const RunDescription &description,
                       const RunFigures &figures, const Verdict &verdict) {
  Expected<RunPlanner> planner = RunPlanner::create(
      options.run, plan, description.command, options.seconds);
  Alternatives alternatives;
  if (planner)
    alternatives =
        planAlternatives({description.traits, figures, verdict}, *planner);
  else
    alternatives.problem = toString(planner.takeError());
  if (options.isBrief) // nobody has asked for plans
    alternatives.problem.clear();
  printAlternatives(alternatives, outs());
}

int gpuopt::adviseRun(const AdviseOptions &options) {
  const std::string &run = options.run;
  if (Error error = checkIsRun(run))
    return failure(std::move(error));
  Expected<RunDescription> description = readRunDescription(run);
  if (!description)
    return failure(description.takeError());
  Expected<RunMetrics> metrics = readMetrics(run);
  if (!metrics)
    return failure(metrics.takeError());
  Expected<RunFigures> figures =
      figuresOf(*metrics, run, description->traits.begun_at);
  if (!figures)
    return failure(figures.takeError());
  bool isProfiled = hasProfile(run);
  if (isProfiled) {
    Expected<KeyAverages> profile = readProfile(run);
    if (!profile)
      return failure(profile.takeError());
    add_profile(*profile, *figures);
  }
  if (!options.isBrief)
    outs() << formatv(
        "{0} steps of {1:f1} ms on average, {2:f2} ms of them wait "
        "for data\n",
        figures->steps, figures->step_ms, figures->data_wait_ms);
  Verdict judged = judge(description->traits, *figures);
  std::string verdict = describe(judged);
  outs() << (verdict.empty() ? "verdict: none: the program has no estimates "
                               "and the run no profile; --profile active=3"
                             : verdict)
         << "\n";
  Expected<json::Object> plan = readPlan(run, description->command);
  if (!options.isBrief)
    printOthers(*figures, plan ? budgetCostOf(*plan) : 0);
  outs().flush();
  if (plan && options.seconds > 0)
    printPlans(options, *plan, *description, *figures, judged);
  else if (!plan) // a run of a trainer that was moved away
    consumeError(plan.takeError());
  if (!options.isBrief && !isProfiled && !verdict.empty())
    outs() << "to judge by measured times: gpuopt profile " << shellWord(run)
           << "\n";
  return 0;
}
