//===- RunFolderFlags.cpp - The flags of commands that look at runs -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/FlagGroups.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::adviseCategory() {
  static cl::OptionCategory category("Plans with other flags");
  return category;
}

cl::OptionCategory &gpuopt::reportCategory() {
  static cl::OptionCategory category("The page");
  return category;
}

cl::OptionCategory &gpuopt::watchCategory() {
  static cl::OptionCategory category("The terminal");
  return category;
}

namespace {
cl::opt<std::string> profiled(cl::Positional, cl::desc("<RUN|PROGRAM>"),
                              cl::Required, cl::sub(profileCommand()));
cl::list<std::string> arguments(cl::ConsumeAfter,
                                cl::desc("[flags of the trainer ...]"),
                                cl::sub(profileCommand()));
cl::opt<std::string> advised(cl::Positional, cl::desc("<RUN>"), cl::Required,
                             cl::sub(adviseCommand()));
Flag<int64_t> adviceSeconds("time-limit", 20,
                            "how long to plan with other flags; 0: not at all",
                            cl::value_desc("SECONDS"),
                            cl::cat(adviseCategory()),
                            cl::sub(adviseCommand()));
Switch plansOnly("plans-only",
                 cl::desc("print the plans with other flags alone, if any"),
                 cl::cat(adviseCategory()), cl::sub(adviseCommand()));
cl::list<std::string> reported(cl::Positional, cl::desc("<RUN> [RUN ...]"),
                               cl::OneOrMore, cl::sub(reportCommand()));
CheckedOpt<std::string> page("o", cl::desc("the page to write"),
                             cl::init("report.html"),
                             cl::value_desc("FILE.html"),
                             cl::cat(reportCategory()),
                             cl::sub(reportCommand()));
CheckedOpt<std::string>
    curve("plan",
          cl::desc("what a budget costs: a file that gpuopt plan --curve "
                   "--json printed"),
          cl::value_desc("FILE.json"), cl::cat(reportCategory()),
          cl::sub(reportCommand()));
Flag<int64_t> curveSeconds(
    "time-limit", 20,
    "how long to plan what budgets cost, of all runs; 0: not at all",
    cl::value_desc("SECONDS"), cl::cat(reportCategory()),
    cl::sub(reportCommand()));
cl::opt<std::string> watched(cl::Positional, cl::desc("<RUN>"), cl::Required,
                             cl::sub(watchCommand()));
Switch once("once", cl::desc("print the curves once, and do not follow"),
            cl::cat(watchCategory()), cl::sub(watchCommand()));
cl::list<std::string> compared(cl::Positional, cl::desc("<A> <B>"),
                               cl::ZeroOrMore, cl::sub(diffCommand()));
cl::opt<std::string> shell(cl::Positional, cl::desc("<bash|zsh|fish>"),
                           cl::Required, cl::sub(completionCommand()));
} // namespace

ProfileOptions gpuopt::collectProfile() {
  return {profiled, {arguments.begin(), arguments.end()}};
}

/// Fails if a limit is not a time that a person would wait.
static Error checkTimeLimit(int64_t seconds) {
  constexpr int64_t kMost = 86400;
  return seconds >= 0 && seconds <= kMost
             ? Error::success()
             : createStringError("--time-limit must be at least 0 and at most "
                                 "86400, but is " +
                                 std::to_string(seconds));
}

Expected<AdviseOptions> gpuopt::collectAdvise() {
  if (Error error = checkTimeLimit(adviceSeconds))
    return std::move(error);
  return AdviseOptions{advised, adviceSeconds, plansOnly};
}

Expected<ReportOptions> gpuopt::collectReport() {
  if (Error error = checkTimeLimit(curveSeconds))
    return std::move(error);
  return ReportOptions{
      {reported.begin(), reported.end()}, page, curve, curveSeconds};
}

WatchOptions gpuopt::collectWatch() { return {watched, once}; }

std::optional<DiffOptions> gpuopt::collectDiff() {
  if (compared.size() != 2)
    return std::nullopt;
  return DiffOptions{compared[0], compared[1]};
}

std::string gpuopt::collectCompletion() { return shell; }
