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

namespace {

/// The folder of a training's results, and where its program goes.
struct ResultsFolder {
  std::string path;
  /// Is held until the trainer takes the place of this program, and then locks
  /// the folder itself.
  std::shared_ptr<void> lock;
  /// Removes what an overwriting run has written if this program ends.
  std::shared_ptr<void> next;
  std::string base; ///< Where the program and its plan go.

  std::string program() const { return OutputDirectory::programBelow(base); }
};

} // namespace

/// Takes the folder of the results. Has the settings start a killed run anew
/// where --resume=auto means that.
static Error takeFolder(TrainingSettings &settings, ResultsFolder &folder) {
  if (Error error = OutputDirectory::checkResults(folder.path, settings))
    return error;
  bool restarts = false;
  if (std::string problem =
          lockResults(folder.path, settings.resume, folder.lock, restarts);
      !problem.empty())
    return createStringError(problem);
  if (restarts) {
    settings.resume.clear();
    settings.overwrite_output_dir = true;
  }
  // What a killed run had set aside may have been put back.
  if (Error error = OutputDirectory::checkResults(folder.path, settings))
    return error;
  folder.base = folder.path;
  std::string problem;
  if (is_overwriting(folder.path, settings.resume,
                     settings.overwrite_output_dir))
    folder.base = createNextFolder(folder.path, restarts, folder.next, problem);
  return problem.empty() ? Error::success() : createStringError(problem);
}

/// Writes the plan beside the program, where commands look for that of a run.
static Error writePlan(const ResultsFolder &folder) {
  std::string from = joinPath(folder.program(), kPlanFile),
              plan = joinPath(folder.base, kPlanFile);
  auto text = MemoryBuffer::getFile(from);
  if (!text)
    return createStringError("cannot read '" + from +
                             "': " + text.getError().message());
  if (Error error = writeFile(plan, (*text)->getBuffer()))
    return createStringError("cannot write '" + plan +
                             "': " + toString(std::move(error)));
  return Error::success();
}

/// Fails if the program would replace a user's files in the place that it
/// takes.
static Error checkProgramsPlace(const ResultsFolder &folder) {
  if (!folder.next)
    return Error::success();
  return OutputDirectory::checkReplaced(
      OutputDirectory::programBelow(folder.path),
      files_of_program(folder.program()));
}

int gpuopt::trainModel(const DriverOptions &options) {
  const std::string cache = buildCacheFolder(options.outputDir);
  if (!options.compileTo) {
    if (llvm::Error error = expectGpu(*options.target))
      return failure(std::move(error));
    if (llvm::Error error = checkBuildPaths(options.outputDir, cache))
      return failure(std::move(error));
  }
  DriverOptions compile = options;
  compile.resultsDir = options.outputDir;
  TrainingSettings &settings = compile.emission.settings;
  if (std::string why = whyNotInData(options.outputDir, dataOf(options));
      !why.empty())
    return failure(why);
  ResultsFolder folder;
  folder.path = options.outputDir;
  if (Error error = options.compileTo ? OutputDirectory::checkResults(
                                            options.outputDir, settings)
                                      : takeFolder(settings, folder))
    return failure(std::move(error));
  if (Error error = checkResume(compile))
    return failure(std::move(error));
  compile.outputDir = folder.program();
  if (int status = compileModel(compile); status || options.compileTo)
    return status;
  if (Error error = checkProgramsPlace(folder))
    return failure(std::move(error));
  auto executable = buildProgram(
      folder.program(), *options.target, cache,
      {kTrainerExecutable, "the trainer",
       namesParquet(options.data) || namesParquet(options.evalData),
       settings.quiet});
  if (!executable)
    return failure(executable.takeError());
  if (Error error = writePlan(folder))
    return failure(std::move(error));
  std::vector<std::string> command{
      *executable, "--weights=" + joinPath(folder.program(), kModelFile),
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
