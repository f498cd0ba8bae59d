//===- Train.cpp - Compile, build and run in one go -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/BuildCache.h"
#include "Commands/Process.h"
#include "Commands/Resume.h"
#include "Files/DataFiles.h"
#include "Files/FolderContents.h"
#include "Files/JoinPath.h"
#include "Files/OutputDirectory.h"
#include "Files/ResultsLock.h"
#include "Flags/CudaDriver.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/Support/WriteFile.h"
#include "gpuopt/trainer/advice.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace gpuopt;

static ProgramKind kindOf(const PipelineOptions &options) {
  ProgramKind kind;
  const OptimizerInfo *optimizer = find_optimizer(options.step.optimizer);
  kind.optimizer = optimizer->name;
  for (const std::string &state : options.step.optimizerStates)
    kind.states |= optimizer->state_bit(state);
  kind.scales_loss = options.lossScaling.enabled;
  return kind;
}

/// Returns the path of this program.
static std::string ownPath() {
  static int anchor; // an address in it
  return sys::fs::getMainExecutable("gpuopt", &anchor);
}

/// Returns all data that a training reads, by the flags that name them.
static std::vector<NamedData> dataOf(const DriverOptions &options) {
  std::vector<NamedData> named;
  auto add = [&](const DataGiven &data, const std::string &prefix) {
    for (StringRef file : data.files)
      named.push_back({prefix + "data", file.split('=').second.str()});
    named.push_back({prefix + "labels", data.labels});
    named.push_back({prefix + "tokens", data.tokens});
  };
  add(options.data, "--");
  add(options.evalData, "--eval-");
  return named;
}

int gpuopt::trainModel(const DriverOptions &options) {
  if (!options.compileTo)
    if (llvm::Error error = expectGpu(*options.target))
      return failure(std::move(error));
  DriverOptions compile = options;
  compile.resultsDir = options.outputDir;
  if (std::string why = whyNotInData(options.outputDir, dataOf(options));
      !why.empty())
    return failure(why);
  if (Error error = OutputDirectory::checkResults(options.outputDir,
                                                  options.emission.settings))
    return failure(std::move(error));
  std::shared_ptr<void> lock;
  // The lock is held until the trainer takes the place of this program, and
  // then locks the folder itself.
  if (std::string problem =
          options.compileTo ? "" : lockResults(options.outputDir, lock);
      !problem.empty())
    return failure(problem);
  // Results that a killed run had moved away may have come back.
  if (Error error = OutputDirectory::checkResults(options.outputDir,
                                                  options.emission.settings))
    return failure(std::move(error));
  if (Error error = checkResume(compile))
    return failure(std::move(error));
  std::string program = OutputDirectory::programBelow(options.outputDir);
  compile.outputDir = program;
  if (int status = compileModel(compile); status || options.compileTo)
    return status;
  auto executable = buildProgram(
      program, *options.target, buildCacheFolder(options.outputDir),
      {kTrainerExecutable, "the trainer",
       namesParquet(options.data) || namesParquet(options.evalData)});
  if (!executable)
    return failure(executable.takeError());
  std::string plan = joinPath(options.outputDir, kPlanFile);
  auto text = MemoryBuffer::getFile(joinPath(program, kPlanFile));
  if (!text)
    return failure("cannot read '" + program +
                   "/plan.json': " + text.getError().message());
  if (Error error = writeFile(plan, (*text)->getBuffer()))
    return failure("cannot write '" + plan +
                   "': " + toString(std::move(error)));
  std::vector<std::string> command{*executable,
                                   "--weights=" + joinPath(program, kModelFile),
                                   "--output-dir=" + options.outputDir};
  // The executable may have been built with other defaults.
  for (std::string &flag :
       defaultFlags(options.emission.settings, kindOf(options.pipeline)))
    command.push_back(std::move(flag));
  command.insert(command.end(), options.runArguments.begin(),
                 options.runArguments.end());
  setenv(kAdvisorVariable, ownPath().c_str(), /*replace=*/1);
  return become(command);
}
