//===- RunFolderFlags.cpp - The flags of commands that look at runs -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/FlagGroups.h"

using namespace llvm;
using namespace gpuopt;

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

std::string gpuopt::collectAdvise() { return advised; }

ReportOptions gpuopt::collectReport() {
  return {{reported.begin(), reported.end()}, page, curve};
}

WatchOptions gpuopt::collectWatch() { return {watched, once}; }

std::optional<DiffOptions> gpuopt::collectDiff() {
  if (compared.size() != 2)
    return std::nullopt;
  return DiffOptions{compared[0], compared[1]};
}

std::string gpuopt::collectCompletion() { return shell; }
