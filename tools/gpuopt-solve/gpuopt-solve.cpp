//===- gpuopt-solve.cpp - The planners as a tool of their own -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "gpuopt/Support/CheckOutput.h"
#include "gpuopt/Version.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;
using namespace gpuopt::solve;

int gpuopt::solve::fail(const std::string &message) {
  llvm::WithColor::error(llvm::errs(), "gpuopt-solve") << message << "\n";
  return Failure;
}

static cl::OptionCategory category("Options of gpuopt-solve");
static cl::SubCommand
    recomputeCommand("recompute", "Plan recomputation under a memory budget");
static cl::SubCommand arenaCommand("arena", "Pack buffers into one arena");
static cl::SubCommand verifyCommand("verify",
                                    "Check a plan (.json) or a packing (.csv)");

static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<problem>"),
                                  cl::sub(cl::SubCommand::getAll()),
                                  cl::cat(category));
static cl::opt<std::string> solution(cl::Positional, cl::Required,
                                     cl::desc("<solution>"),
                                     cl::sub(verifyCommand), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Where the solution goes"),
                                   cl::value_desc("file"),
                                   cl::sub(recomputeCommand),
                                   cl::sub(arenaCommand), cl::cat(category));
static cl::opt<std::string> budget(
    "budget", cl::init("1.0"), cl::sub(recomputeCommand),
    cl::desc(
        "A fraction of the plain peak (0.8), or bytes (4GiB); default 1.0"),
    cl::cat(category));
static cl::opt<bool> curve("curve", cl::sub(recomputeCommand),
                           cl::desc("Solve for many budgets at once"),
                           cl::cat(category));
static cl::opt<double>
    timeLimit("time-limit", cl::init(0), cl::value_desc("seconds"),
              cl::desc("Stop searching after so long; 0, the default: never"),
              cl::sub(recomputeCommand), cl::sub(arenaCommand),
              cl::cat(category));
static cl::opt<long long>
    effort("effort", cl::init(-1), cl::value_desc("steps"),
           cl::desc("Stop searching after so many steps: the same effort gives "
                    "the same plan"),
           cl::sub(recomputeCommand), cl::sub(arenaCommand), cl::cat(category));
static cl::opt<long long>
    capacity("capacity", cl::init(0), cl::value_desc("bytes"),
             cl::desc("Stop at this height; 0, the default: as low as can be"),
             cl::sub(arenaCommand), cl::cat(category));
static constexpr unsigned kMostThreads = 64;
static cl::opt<unsigned>
    threads("threads", cl::init(1),
            cl::desc("Search on so many threads, at most 64; default 1"),
            cl::sub(recomputeCommand), cl::cat(category));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  for (cl::SubCommand *command :
       {&cl::SubCommand::getTopLevel(), &recomputeCommand, &arenaCommand,
        &verifyCommand})
    cl::HideUnrelatedOptions(category, *command);
  gpuopt::setVersionPrinter("gpuopt-solve");
  cl::ParseCommandLineOptions(argc, argv, "gpuopt's planners\n");
  if (effort.getNumOccurrences() && timeLimit.getNumOccurrences())
    return fail("--effort and --time-limit exclude each other: plans of one "
                "effort are the same everywhere");
  if ((effort.getNumOccurrences() && effort < 0) || !(timeLimit >= 0))
    return fail("--effort and --time-limit must be at least 0");
  if (capacity < 0)
    return fail("--capacity must be at least 0");
  if (threads < 1 || threads > kMostThreads)
    return fail("--threads must be from 1 to " + std::to_string(kMostThreads) +
                ", but is " + std::to_string(threads) +
                ": more threads do not end a search sooner");
  CommandOptions options;
  options.input = input;
  options.solution = solution;
  options.output = output;
  options.budget = budget;
  options.curve = curve;
  options.timeLimitInSeconds = timeLimit;
  options.effort = effort;
  options.capacityInBytes = capacity;
  options.threads = threads;
  if (!options.output.empty() && options.output != "-")
    if (llvm::Error error =
            gpuopt::checkOutput(options.output, {options.input}))
      return fail(llvm::toString(std::move(error)));
  if (recomputeCommand)
    return recompute(options);
  if (arenaCommand)
    return packArena(options);
  if (verifyCommand)
    return llvm::StringRef(input).ends_with(".csv") ? verifyArena(options)
                                                    : verifyRecompute(options);
  return fail("expects one of the commands recompute, arena and verify");
}
