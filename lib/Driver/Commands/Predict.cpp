//===- Predict.cpp - Compile, build and run a forward ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build/BuildCache.h"
#include "Commands/Process.h"
#include "Files/DataFiles.h"
#include "Files/JoinPath.h"
#include "Files/OutputDirectory.h"
#include "Files/TrainedWeights.h"
#include "Flags/CudaDriver.h"
#include "gpuopt/Driver/Driver.h"
#include "gpuopt/predictor/result_folder.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace gpuopt;

/// Returns why the folder of the results cannot be written to, or nothing: it
/// holds the files of somebody else, or the data that are read.
static std::string whyNoResults(const DriverOptions &options) {
  const std::string &folder = options.outputDir;
  try {
    if (std::string why = why_no_results(folder); !why.empty())
      return "output directory " + why;
    std::vector<std::string> data;
    for (StringRef file : options.data.files)
      data.push_back(file.split('=').second.str());
    return why_not_beside_data(folder, data, options.data.tokens,
                               options.emission.settings.prompts);
  } catch (const std::exception &error) {
    return error.what();
  }
}

/// Locks the folder of the results, which is created. Returns what is in the
/// way, or nothing.
static std::string lockFolder(const std::string &folder,
                              std::unique_ptr<FolderLock> &lock) {
  if (std::error_code error = sys::fs::create_directories(folder))
    return "cannot create '" + folder + "': " + error.message();
  try {
    lock = std::make_unique<FolderLock>(folder, "another prediction");
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

/// Returns the names of the tensors in a file of weights if a training has
/// written it; else none. What is wrong with the file is told by its readers.
static std::vector<std::string> namesOfTrained(const DriverOptions &options) {
  const std::string &given = options.emission.settings.weights,
                    &file = given.empty() ? options.weights : given;
  TrainedWeights weights;
  if (file.empty() || !weights.load(file).empty() ||
      (weights.graphHash().empty() && !weights.step()))
    return {};
  return weights.names();
}

int gpuopt::predictModel(const DriverOptions &options) {
  if (llvm::Error error = expectGpu(*options.target))
    return failure(std::move(error));
  const std::string cache = buildCacheFolder(options.outputDir);
  if (llvm::Error error = checkBuildPaths(options.outputDir, cache))
    return failure(std::move(error));
  if (std::string why = whyNoResults(options); !why.empty())
    return failure(why);
  // The predictor takes the place of this program, and locks the folder itself.
  std::unique_ptr<FolderLock> lock;
  bool isNew = !sys::fs::exists(options.outputDir);
  if (std::string problem = lockFolder(options.outputDir, lock);
      !problem.empty())
    return failure(problem);
  DriverOptions compile = options;
  std::string program = joinPath(options.outputDir, kPredictorFolder);
  compile.outputDir = program;
  // The training may have been told to train constants of the file.
  compile.pipeline.legalise.storedWeights =
      llvm::to_vector(namesOfTrained(options));
  if (int status = compileModel(compile)) {
    if (isNew)
      sys::fs::remove(options.outputDir); // unless something is in it
    return status;
  }
  auto executable = buildProgram(program, *options.target, cache,
                                 {kPredictorExecutable, "the predictor",
                                  namesParquet(options.data),
                                  options.emission.settings.quiet});
  if (!executable)
    return failure(executable.takeError());
  std::vector<std::string> command{*executable};
  if (options.emission.settings.weights.empty()) // else an argument names them
    command.push_back("--weights=" + (options.weights.empty()
                                          ? joinPath(program, kModelFile)
                                          : options.weights));
  command.push_back("--output-dir=" + options.outputDir);
  if (std::string constants = joinPath(program, kConstantsFile);
      sys::fs::exists(constants))
    command.push_back("--constants=" + constants);
  command.insert(command.end(), options.runArguments.begin(),
                 options.runArguments.end());
  return become(command);
}
