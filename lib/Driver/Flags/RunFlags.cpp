//===- RunFlags.cpp - The run of a trainer, and its data ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/DataFiles.h"
#include "Files/DataShapes.h"
#include "Files/InitialWeights.h"
#include "Files/MissingWeights.h"
#include "Flags/FlagGroups.h"
#include "Flags/SettingFlags.h"
#include "gpuopt/device/attention_library.h"
#include "gpuopt/device/wait_policy_names.h"
#include "gpuopt/settings/flag_rules.h"
#include "gpuopt/settings/metric_names.h"
#include "gpuopt/settings/output_files.h"
#include "gpuopt/settings/profile_schedule.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::runCategory() {
  static cl::OptionCategory category("The run and the data");
  return category;
}

namespace {
// These have no member of TrainingSettings: a program opens the files by input
// as it parses the flags, and the driver looks into them.
cl::list<std::string> data(FromSetting("data"), cl::cat(runCategory()));
cl::list<std::string> evalData(FromSetting("eval-data"),
                               cl::cat(runCategory()));
} // namespace

/// Returns the flags that the trainer gets when it runs: those that were given,
/// under their own names.
static std::vector<std::string> runArguments() {
  std::vector<std::string> arguments;
  auto pass = [&](const cl::list<std::string> &list) {
    for (const std::string &value : list)
      arguments.push_back(("--" + list.ArgStr + "=" + value).str());
  };
  pass(data);
  pass(evalData);
  llvm::append_range(arguments,
                     givenRunFlags(predictCommand() ? kPredict : kTrain));
  return arguments;
}

/// Checks what a flag names, which may be a part of a file.
static Error checkNamed(StringRef flag, StringRef text) {
  for (const std::string &file : filesNamedBy(text.str()))
    if (!sys::fs::is_directory(file))
      if (Error error = checkReadable(flag, file))
        return error;
  return Error::success();
}

static Error checkFiles(const cl::list<std::string> &option) {
  StringSet<> inputs;
  for (StringRef value : option) {
    auto [input, file] = value.split('=');
    if (input.empty() || file.empty())
      return createStringError("--" + option.ArgStr +
                               " needs INPUT=FILE, but is '" + value + "'");
    if (!inputs.insert(input).second)
      return createStringError("--" + option.ArgStr + " gives '" + input +
                               "' twice");
    if (Error error = checkNamed(option.ArgStr, file))
      return error;
  }
  return Error::success();
}

/// Whether there are data to validate on.
static bool validates(const TrainingSettings &settings) {
  return !evalData.empty() || !settings.eval_labels.empty() ||
         !settings.eval_tokens.empty();
}

/// Replaces the folder of a run, or of a checkpoint, by the file of its
/// weights.
static Error findInitWeights(std::string &path) {
  std::string given = path;
  path = weights_at(given);
  if (!path.empty())
    return Error::success();
  std::string why = whyNoWeights(given, /*averages=*/false);
  return createStringError("--init-from: " +
                           (why.empty() ? no_weights_text(given) : why));
}

/// Checks the files that the program will read, so that errors in them are
/// reported before anything is compiled.
static Error checkNamedFiles(const TrainingSettings &settings) {
  if (Error error = joinErrors(checkFiles(data), checkFiles(evalData)))
    return error;
  for (const char *name : {"labels", "tokens", "eval-labels", "eval-tokens",
                           "init-from", "weights", "prompts", "class-names"})
    if (isGiven(name)) {
      std::string file = settings.*find_setting(name)->field.text;
      if (StringRef(name) == "init-from")
        if (Error error = findInitWeights(file))
          return error;
      if (Error error = StringRef(name).ends_with("labels")
                            ? checkNamed(name, file)
                            : checkReadable(name, file))
        return error;
    }
  std::string why;
  if (isGiven("init-from"))
    why = whyNoWeightsIn(weights_at(settings.init_from), "--init-from");
  else if (isGiven("weights"))
    why = whyNoWeightsIn(settings.weights, "--weights");
  if (why.empty() && isGiven("prompts"))
    why = countPrompts(settings.prompts).problem;
  return why.empty() ? Error::success() : createStringError(why);
}

/// Checks which data the program is given.
static Error checkData(const TrainingSettings &settings,
                       const EmissionOptions &emission) {
  auto isSet = [](const std::string &name) {
    return name == "data" ? !data.empty() : isGiven(name);
  };
  if (std::string error = generation_error(settings, "", isSet);
      predictCommand() && !error.empty())
    return createStringError(error);
  if (settings.generate == 0 && data.empty() && settings.labels.empty() &&
      settings.tokens.empty()) {
    if (Error error = checkModelExists())
      return error;
    return createStringError(StringRef("there is no data: --data INPUT=FILE") +
                             (predictCommand() ? "" : " and --labels FILE") +
                             ", or --tokens FILE");
  }
  if (std::string error = validation_error(settings, "", validates(settings));
      !error.empty())
    return createStringError(error);
  if (trainCommand() && !validates(settings) && !emission.evalMetrics.empty())
    return createStringError(std::string("--eval-metrics") +
                             kNeedsValidationData);
  if (Error error = checkModelExists())
    return error;
  return checkNamedFiles(settings);
}

/// Fails if a flag is given without one that it needs.
static Error checkTogether(const TrainingSettings &settings,
                           const EmissionOptions &emission) {
  if (std::string error =
          missing_flag_error(settings, "", /*trains=*/!predictCommand(),
                             [](const char *name) { return isGiven(name); });
      !error.empty())
    return createStringError(error);
  if (std::string error = best_metric_error(settings.metric_for_best_model,
                                            emission.evalMetrics);
      trainCommand() && !error.empty())
    return createStringError("--metric-for-best-model " + error);
  if (!find_wait_policy(settings.wait_policy))
    return createStringError("--wait-policy must be " +
                             wrong_wait_policy(settings.wait_policy));
  if (!find_attention_library(settings.attention_library))
    return createStringError(
        "--attention-library must be " +
        wrong_attention_library(settings.attention_library));
  ProfileSchedule schedule;
  if (std::string why = parse_profile_schedule(settings.profile, schedule);
      isGiven("profile") && !why.empty())
    return createStringError("--profile " + why);
  return Error::success();
}

/// Returns the weights of a run that --init-from names, and the files of
/// --data.
static std::vector<std::string> filesRead(const TrainingSettings &settings) {
  std::vector<std::string> files{weights_at(settings.init_from)};
  for (const std::vector<std::string> *list : {&data, &evalData})
    for (StringRef value : *list)
      files.push_back(value.split('=').second.str());
  return files;
}

Error gpuopt::collectRun(DriverOptions &options) {
  const TrainingSettings &settings = options.emission.settings;
  if (Error error = checkTogether(settings, options.emission))
    return error;
  if (std::string error = unwritable_error(settings, options.outputDir, "");
      !error.empty())
    return createStringError(error);
  if (std::string error =
          replaced_input_error(settings, filesRead(settings), "");
      !error.empty())
    return createStringError(error);
  if ((trainCommand() || predictCommand()) && !options.compileTo)
    if (Error error = checkData(settings, options.emission))
      return error;
  options.runArguments = runArguments(); // in which folders are folders
  options.emission.settings.init_from = weights_at(settings.init_from);
  const bool skips = settings.on_bad_record == kSkipBadRecord;
  options.data = {data,
                  settings.labels,
                  settings.tokens,
                  settings.token_type,
                  settings.transform,
                  skips,
                  settings.mixup,
                  settings.cutmix};
  if (!validates(settings))
    options.data.evalTransform = settings.eval_transform;
  options.evalData = {evalData,
                      settings.eval_labels,
                      settings.eval_tokens,
                      settings.token_type,
                      settings.eval_transform,
                      skips};
  options.evalData.trainingTransform = settings.transform;
  return Error::success();
}
