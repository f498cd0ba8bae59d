//===- ModelFlags.cpp - What is compiled ----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/CommandText.h"
#include "Files/ConstantInputs.h"
#include "Files/DataShapes.h"
#include "Files/JoinPath.h"
#include "Files/MissingWeights.h"
#include "Files/OtherFormats.h"
#include "Files/RunFiles.h"
#include "Files/SourceModel.h"
#include "Files/TrainedPictures.h"
#include "Flags/CompileFlags.h"
#include "Flags/Notes.h"
#include "Flags/SettingFlags.h"
#include "gpuopt/Target/Cxx/PlanVersion.h"
#include "gpuopt/settings/output_files.h"
#include "gpuopt/trainer/checkpoints/checkpoint_names.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::modelCategory() {
  static cl::OptionCategory category("The model");
  return category;
}

namespace {
/// The largest batch of predictions where the model leaves it open.
constexpr int64_t kUsualBatchSize = 32;

cl::opt<std::string> model(cl::Positional, cl::desc("<model.onnx>"),
                           cl::Required, TakenBy{kCompiling | kPredict});
CompileFlag<int64_t> batchSize("batch-size");
CompileFlags dims("dim");
CompileFlags constantInputs("constant-input");
CompileFlag<std::string> batchNorm("batch-norm");
CompileFlag<std::string> attention("attention");
CompileFlag<std::string> epilogues("epilogues");
CompileFlag<std::string> frozenParams("frozen-params");
CompileFlag<std::string> trainedParams("trained-params");
CompileFlag<bool> inference("inference");
} // namespace

/// Has predictions see pictures as the run has, and name its classes, unless
/// flags say otherwise.
static Error adoptPictures(DriverOptions &options) {
  const TrainingSettings &settings = options.emission.settings;
  if (std::string names = classNamesOfRun(model);
      settings.top_k > 0 && settings.generate == 0 && !names.empty() &&
      !isGiven("class-names"))
    options.runArguments.push_back("--class-names=" + names);
  bool hasPictures = any_of(options.data.files, [](StringRef file) {
    return namesPictures(file.split('=').second.str());
  });
  if (!hasPictures || isGiven("transform"))
    return Error::success();
  Expected<std::string> transform = transformOfRun(model);
  if (!transform)
    return transform.takeError();
  if (transform->empty())
    return Error::success();
  addNote("pictures are seen as in the run: --transform '" + *transform + "'");
  options.data.transform = *transform;
  options.runArguments.push_back("--transform=" + *transform);
  return Error::success();
}

/// Returns the batch of predictions where the model leaves it open: as many
/// samples as there are, rounded up to a power of two, because each batch size
/// is a program that has to be built.
static int64_t usualBatchSize(const DriverOptions &options) {
  const TrainingSettings &settings = options.emission.settings;
  std::optional<int64_t> samples;
  if (settings.generate > 0)
    samples = countPrompts(settings.prompts).count;
  for (StringRef file : options.data.files)
    if (!samples)
      samples = samplesNamedBy(file.split('=').second.str());
  bool areFew = samples && *samples > 0 && *samples < kUsualBatchSize;
  return areFew ? int64_t(PowerOf2Ceil(uint64_t(*samples))) : kUsualBatchSize;
}

/// Reads which model to predict with: a file or, of a folder with trained
/// weights, the model that was trained, with these weights.
static Error collectPredicted(DriverOptions &options) {
  options.import.usualBatchSize = usualBatchSize(options);
  if (!sys::fs::is_directory(model))
    return Error::success();
  Expected<std::string> trained = findSourceModelFile(model);
  if (!trained)
    return createStringError(toString(trained.takeError()) +
                             "; name an ONNX file, with weights by --weights, "
                             "or a folder in which gpuopt has trained");
  options.model = *trained;
  options.weights = joinPath(model, kModelFile);
  options.findsModel = true;
  if (std::string why = whyNoWeights(model, /*averages=*/false); !why.empty())
    return createStringError(why + "; or name an ONNX file");
  if (!sys::fs::exists(options.weights))
    return createStringError("'" + model + "' has no " + kModelFile +
                             ": name a folder in which gpuopt has trained, or "
                             "an ONNX file");
  return adoptPictures(options);
}

/// Says that a folder is no model and, of a run, where its model and its plan
/// are, and how its training goes on.
static Error describeFolder(const std::string &folder) {
  StringRef command = planCommand()    ? "plan"
                      : trainCommand() ? "train"
                                       : "compile";
  std::string error = ("'" + folder + "' is a folder, but gpuopt " + command +
                       " expects an ONNX file")
                          .str();
  if (Error noRun = checkIsRun(folder)) {
    consumeError(std::move(noRun));
    return createStringError(error);
  }
  error += "; it holds a run";
  std::string source = "MODEL.onnx";
  if (Expected<std::string> trained = findSourceModel(folder)) {
    error += " of '" + *trained + "'";
    source = shellWord(*trained);
  } else {
    consumeError(trained.takeError());
  }
  if (trainCommand())
    return createStringError(error + "; to go on with it: gpuopt train " +
                             source + " -o " + shellWord(folder) +
                             " --resume=auto, with the flags that it had; to "
                             "begin anew with its weights: --init-from " +
                             shellWord(folder));
  if (hasFile(folder, kPlanFile))
    error += ", whose plan is '" + joinPath(folder, kPlanFile) + "'";
  return createStringError(
      error + "; gpuopt report, advise, profile and diff read runs");
}

/// Splits "NAME=FILE.npy" at the first equals sign behind which a file's path
/// stands, because both parts may have more of them; at the first of all if no
/// such file exists.
static std::pair<StringRef, StringRef> splitNameAndFile(StringRef text) {
  for (size_t at = text.find('='); at != StringRef::npos;
       at = text.find('=', at + 1))
    if (sys::fs::exists(text.drop_front(at + 1)))
      return {text.take_front(at), text.drop_front(at + 1)};
  return text.split('=');
}

/// Reads the input and the file of "NAME=FILE.npy".
static Error collectConstantInput(StringRef text, OnnxImportOptions &options) {
  auto [name, path] = splitNameAndFile(text);
  if (name.empty() || path.empty())
    return createStringError("expects an input and its file as NAME=FILE.npy, "
                             "but got '" +
                             text + "'");
  NpyArray array;
  if (std::string error = readConstantInput(path.str(), array); !error.empty())
    return createStringError(error);
  bool isNew =
      options.constantInputs
          .try_emplace(name.str(), ConstantInput{path.str(), array.dataType,
                                                 std::move(array.shape),
                                                 std::move(array.elements)})
          .second;
  return isNew ? Error::success()
               : createStringError("input '" + name + "' is given twice");
}

/// Refuses a flag of training beside --inference: of the flags that `predict`
/// does not take, a predictor heeds but a few.
static Error refuseTrainingFlags() {
  static const StringSet<> heeded = {"inference",     "compile-to",
                                     "memory-budget", "activation-budget",
                                     "allow-offload", "offload-bandwidth",
                                     "frozen-params", "trained-params",
                                     "batch-norm",    "profile-costs"};
  const cl::Option *first = nullptr;
  for (const auto &[name, option] : compileCommand().OptionsMap) {
    if (option->getNumOccurrences() == 0 || heeded.contains(name) ||
        predictCommand().OptionsMap.contains(name))
      continue;
    if (!first || option->getPosition() < first->getPosition())
      first = option;
  }
  return first ? createStringError("--" + first->ArgStr +
                                   " is for training, but --inference asks "
                                   "for a program that predicts: leave one of "
                                   "them out")
               : Error::success();
}

Error gpuopt::checkModelExists() {
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(model, status);
  if (code)
    return unreadable(model, code);
  return sys::fs::is_directory(status) && !predictCommand()
             ? describeFolder(model)
             : Error::success();
}

Error gpuopt::collectModel(DriverOptions &options) {
  options.model = model;
  if (std::string error =
          replaced_input_error(options.emission.settings, {options.model}, "");
      !error.empty())
    return createStringError(error);
  if (predictCommand())
    if (Error error = collectPredicted(options))
      return error;
  if (!predictCommand() && sys::fs::is_directory(model))
    return checkModelExists();
  if (Error error =
          refuseOtherFormats(options.model, trainCommand()     ? "--init-from"
                                            : predictCommand() ? "--weights"
                                                               : ""))
    return error;
  options.emission.modelName = sys::path::stem(options.model).str();
  for (const std::string &dim : dims)
    if (Error error = options.import.addDimension(dim))
      return createStringError("--dim: " + toString(std::move(error)));
  for (const std::string &text : constantInputs)
    if (Error error = collectConstantInput(text, options.import))
      return createStringError("--constant-input: " +
                               toString(std::move(error)));
  if (batchSize.isGiven())
    options.import.batchSize = batchSize;
  options.pipeline.expandAttention.all = attention == "expanded";
  options.pipeline.expandAttention.cached = attention == "auto";
  options.pipeline.fuseEpilogues = epilogues == "auto";
  options.pipeline.legalise.batchNorm = batchNorm;
  options.pipeline.legalise.frozenParams = frozenParams;
  options.pipeline.legalise.trainedParams = trainedParams;
  options.pipeline.step.inference = inference || predictCommand();
  return inference && compileCommand() ? refuseTrainingFlags()
                                       : Error::success();
}
