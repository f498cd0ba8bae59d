//===- Advise.cpp - What limits a run, and what would help ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/Alternatives.h"
#include "Commands/Process.h"
#include "Commands/ProfileFlags.h"
#include "Files/CommandText.h"
#include "gpuopt/Driver/Runs.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

/// Prints what else takes time, beside what the verdict names.
static void printOthers(const RunFigures &figures, double budgetCost,
                        bool estimatesHold) {
  constexpr double kMuchOfAStep = 0.03, kMuchInPercent = 3;
  if (figures.checkpoint_ms > kMuchOfAStep * figures.step_ms)
    outs() << formatv("checkpoints: training stands still for {0:f1} % of its "
                      "time; --save-steps: a larger number\n",
                      100 * figures.checkpoint_ms /
                          (figures.step_ms + figures.checkpoint_ms));
  if (budgetCost > kMuchInPercent && estimatesHold)
    outs() << formatv("memory budget: a step takes {0:f1} % longer than "
                      "without it by estimate; --memory-budget: more\n",
                      budgetCost);
}

/// Tells what the verdict's flag saves at most if no plan tells what it saves.
static void printGain(const Verdict &verdict,
                      const Alternatives &alternatives) {
  bool isPlanned =
      any_of(alternatives.found, [&](const Alternative &alternative) {
        return StringRef(verdict.help).starts_with(alternative.flags + ":");
      });
  if (verdict.can_be_planned() && !isPlanned)
    outs() << StringRef(verdict.help).split(':').first
           << ", not planned: " << describe_gain(verdict) << "\n";
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
  if (options.plansOnly)
    alternatives.problem.clear();
  printAlternatives(alternatives, outs());
  printGain(verdict, alternatives);
}

namespace {
/// What the files of a run say.
struct JudgedRun {
  RunDescription description;
  RunFigures figures;
  Verdict verdict;
  Verdict estimated; ///< By estimated times; that of a run without a profile.
  std::optional<json::Object> plan; ///< Of its program, if it is known.
  std::string planProblem;          ///< Why a plan that is there is not read.
  std::string divergence;           ///< Empty if the run has not diverged.
  bool isProfiled = false;
};
} // namespace

static Expected<JudgedRun> judgeRun(const std::string &run) {
  JudgedRun judged;
  if (Error error = checkIsRun(run))
    return error;
  Expected<RunDescription> description = readRunDescription(run);
  if (!description)
    return description.takeError();
  judged.description = std::move(*description);
  Expected<RunMetrics> metrics = readMetrics(run);
  if (!metrics)
    return metrics.takeError();
  judged.divergence = describeDivergence(*metrics);
  Expected<RunFigures> figures =
      figuresOf(*metrics, run, judged.description.traits.begun_at);
  if (!figures && judged.divergence.empty())
    return figures.takeError();
  if (!figures) {
    consumeError(figures.takeError());
    return createStringError("'" + run + "' has " + judged.divergence);
  }
  judged.figures = *figures;
  judged.estimated = judge(judged.description.traits, judged.figures);
  judged.isProfiled = hasProfile(run);
  if (judged.isProfiled) {
    Expected<KeyAverages> profile = readProfile(run);
    if (!profile)
      return profile.takeError();
    add_profile(*profile, judged.description.traits, judged.figures);
  }
  judged.verdict = judge(judged.description.traits, judged.figures);
  Expected<json::Object> plan = readPlan(run, judged.description.command);
  if (plan)
    judged.plan = std::move(*plan);
  else if (hasPlan(run, judged.description.command))
    judged.planProblem = toString(plan.takeError());
  else // a run of a trainer that was moved away
    consumeError(plan.takeError());
  return judged;
}

static void printVerdict(const JudgedRun &run, bool plansFollow) {
  if (!run.divergence.empty())
    outs() << "the run has " << run.divergence << "\n";
  outs() << run.figures.steps
         << (run.figures.steps == 1 ? " step of " : " steps of ")
         << ms_text(run.figures.step_ms) << " on average, "
         << ms_text(run.figures.data_wait_ms) << " of them wait for data\n";
  if (std::string note = describe_difference(run.figures); !note.empty())
    outs() << "note: " << note << "\n";
  std::string verdict = describe(run.verdict, plansFollow);
  outs() << (verdict.empty() ? "verdict: none: the program has no estimates "
                               "and the run no profile; --profile active=3"
                             : verdict)
         << "\n";
  if (run.estimated.bound != run.verdict.bound && !run.estimated.bound.empty())
    outs() << "without the profile it would be " << run.estimated.bound << " ("
           << run.estimated.basis << "): " << run.estimated.why
           << "; measured times count more\n";
  printOthers(run.figures, run.plan ? budgetCostOf(*run.plan) : 0,
              estimates_hold(run.description.traits, run.figures));
  outs().flush();
}

int gpuopt::adviseRun(const AdviseOptions &options) {
  Expected<JudgedRun> run = judgeRun(options.run);
  if (!run && options.plansOnly) {
    consumeError(run.takeError());
    return 0;
  }
  if (!run)
    return failure(run.takeError());
  bool plans = run->plan && options.seconds > 0;
  if (!options.plansOnly)
    printVerdict(*run, plans);
  if (plans)
    printPlans(options, *run->plan, run->description, run->figures,
               run->verdict);
  else if (!options.plansOnly && !run->planProblem.empty())
    outs() << "no other flags were planned: " << run->planProblem << "\n";
  if (!options.plansOnly && !run->isProfiled && !run->verdict.bound.empty())
    outs() << "to judge by measured times: gpuopt profile "
           << shellWord(options.run)
           << (nameRemovedArrays(run->description.command.arguments)
                   ? ", with files of the arrays that Python gave it: --data "
                     "INPUT=FILE --labels FILE"
                   : "")
           << "\n";
  return 0;
}
