//===- Compile.cpp - From an ONNX file to a folder of sources -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/BudgetHelp.h"
#include "Commands/Compilation.h"
#include "Commands/NextSteps.h"
#include "Commands/Process.h"
#include "Commands/Resume.h"
#include "Files/DataFiles.h"
#include "Files/OutputDirectory.h"
#include "Files/RuntimeFiles.h"
#include "Files/SourceModel.h"
#include "Files/TrainedModel.h"
#include "Files/Weights.h"
#include "Flags/Notes.h"
#include "Report/PhaseMemory.h"
#include "Report/PlanFile.h"
#include "Report/PlanSummary.h"
#include "gpuopt/Analysis/Costs/KernelEstimates.h"
#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/settings/compile_table.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace gpuopt;

static llvm::Error writeProgram(const DriverOptions &options, ModuleOp module,
                                const ProgramFiles &files) {
  auto directory = OutputDirectory::create(options.outputDir);
  if (!directory)
    return directory.takeError();
  for (auto &[name, text] : files)
    if (llvm::Error error = directory->write(name, text))
      return error;
  if (llvm::Error error =
          directory->write(kSourceModelFile, sourceModelText(options.model)))
    return error;
  if (llvm::Error error = copyRuntime(*options.target, *directory))
    return error;
  std::vector<std::string> masks;
  if (llvm::Error error = writeWeights(module, directory->pathOf(""), masks))
    return error;
  for (const std::string &name : masks)
    llvm::errs() << "gpuopt: warning: parameter '" << name
                 << "' holds infinite or huge numbers, as masks do, and would "
                    "be trained; keep it as it is by --frozen-params='^"
                 << llvm::Regex::escape(name) << "$'\n";
  return directory->commit();
}

/// Prints the module after a phase.
static int compileTo(const DriverOptions &options, Compilation &compilation) {
  if (failed(compilation.runTo(*options.compileTo)))
    return compilation.exitStatus();
  printNotes(options.emission.settings.quiet);
  compilation.getModule().print(llvm::outs());
  return 0;
}

/// Checks the data that `train` or `predict` was given, and the outputs that
/// are asked for, against the model. The program would say the same, but only
/// after it was built. Returns the names of the labels' classes, a line each;
/// empty: none.
static llvm::Expected<std::string> checkData(const DriverOptions &options,
                                             ModuleOp module) {
  if (llvm::Error error =
          checkOutputs(module, options.emission.settings.outputs))
    return std::move(error);
  if (options.data.isEmpty())
    return "";
  if (llvm::Error error = checkInputs(module, options.data, "--"))
    return std::move(error);
  if (!options.evalData.isEmpty())
    if (llvm::Error error = checkInputs(module, options.evalData, "--eval-"))
      return std::move(error);
  // A batch that is not full is trained on by no step, but predicted.
  return checkContents(module, options.data, options.evalData,
                       /*fillsLast=*/options.pipeline.step.inference);
}

/// Fails if trained weights cannot be read, or if the model that was found
/// beside them is not the one that they were trained with.
static llvm::Error checkTrainedGraph(const DriverOptions &options,
                                     const Compilation &compilation) {
  if (!options.findsModel)
    return llvm::Error::success();
  const std::string &given = options.emission.settings.weights,
                    &file = given.empty() ? options.weights : given;
  TrainedWeights weights;
  std::string problem =
      loadTrained({.weights = file,
                   .model = options.model,
                   .findsModel = true,
                   .namesWeights = !given.empty(),
                   .remedy = "name a model that fits: gpuopt predict "
                             "MODEL.onnx --weights " +
                             file},
                  weights, [&] { return compilation.getGraphHash().str(); });
  return problem.empty() ? llvm::Error::success()
                         : llvm::createStringError(problem);
}

/// Returns the weights with commas between them, or, of many, their number and
/// a hash; empty if there are none.
static std::string textOf(ArrayRef<double> weights) {
  constexpr size_t kMostListed = 32;
  std::string text;
  for (double weight : weights)
    text += (text.empty() ? "" : ",") + number_text(weight);
  if (weights.size() <= kMostListed)
    return text;
  return (Twine(weights.size()) + " weights of hash " +
          llvm::utohexstr(llvm::xxh3_64bits(text)))
      .str();
}

/// Returns the flags that decide what a step computes, as "loss=mse".
static std::vector<std::string> decidingFlags(const PipelineOptions &options) {
  const train::BuildStepOptions &step = options.step;
  if (step.inference)
    return {};
  std::vector<std::string> flags;
  auto add = [&](StringRef name, const Twine &value) {
    std::string text = value.str();
    if (text.empty())
      text = std::string(find_compile_setting(name)->otherwise);
    flags.push_back((name + "=" + text).str());
  };
  SmallVector<std::string> losses;
  for (const std::string &text : step.losses) {
    LossTerm term;
    if (parse_loss_term(text, term).empty())
      losses.push_back(term.loss);
  }
  if (losses.empty()) {
    losses = {step.loss};
    add("loss", step.loss);
    add("logits", step.logits);
  } else {
    add("loss", llvm::join(step.losses, ", "));
  }
  auto has = [&](StringRef loss) { return llvm::is_contained(losses, loss); };
  if (has("cross_entropy") || has("nll")) {
    add("ignore-index", Twine(step.ignoreIndex));
    add("class-weights", textOf(step.classWeights));
  }
  if (has("cross_entropy") || has("soft_cross_entropy"))
    add("label-smoothing", number_text(step.labelSmoothing));
  if (has("huber"))
    add("huber-delta", number_text(step.huberDelta));
  if (has("smooth_l1"))
    add("smooth-l1-beta", number_text(step.smoothL1Beta));
  if (has("focal")) {
    add("focal-alpha", number_text(step.focalAlpha));
    add("focal-gamma", number_text(step.focalGamma));
  }
  if (has("dice"))
    add("dice-smooth", number_text(step.diceSmooth));
  add("no-decay", step.noDecay);
  add("batch-norm", options.legalise.batchNorm);
  add("frozen-params", options.legalise.frozenParams);
  add("trained-params", options.legalise.trainedParams);
  return flags;
}

/// Puts what each op asks of the device into the options, by its work. The
/// module is scheduled.
static void addWorks(const DriverOptions &options, ModuleOp module,
                     EmissionOptions &emission) {
  const train::ScheduleOptions &schedule = options.pipeline.schedule;
  llvm::Expected<DeviceModel> device =
      loadDeviceModel(schedule.device, "", schedule.allowsTf32);
  if (!device) // the compilation has loaded it before
    return llvm::consumeError(device.takeError());
  emission.limitsDevice =
      device->calibration ? device->calibration->device : device->name;
  for (const KernelEstimate &estimate :
       estimateKernels(module, *device, /*accumulationSteps=*/1)) {
    double count = double(estimate.executions);
    emission.works[estimate.work] = {estimate.bytes / count,
                                     estimate.operations / count,
                                     estimate.limitNanoseconds / count};
  }
}

/// Returns the times of the steps, with and without a budget.
static std::map<std::string, StepTime> timesOf(const CostReport &costs) {
  std::map<std::string, StepTime> times;
  for (const auto &step : costs.step.nanosecondsOfRuns)
    times[step.getKey().str()] = {
        step.getValue(),
        costs.withoutBudget.nanosecondsOfRuns.lookup(step.getKey())};
  return times;
}

/// Says what would make a budget feasible that cannot be met.
static void tellBudgetHelp(const DriverOptions &options,
                           const Compilation &compilation) {
  if (compilation.unmetBudget() && !options.pipeline.step.inference)
    llvm::errs() << findBudgetHelp(options,
                                   describeUnmet(compilation.unmetBudget()))
                        .text();
}

/// Prints the memory of the program and, of a trainer, the time of a step, with
/// what its schedule repeats.
static void printPlan(const DriverOptions &options, Compilation &compilation,
                      double nanosecondsOfRepeats) {
  Planned planned;
  planned.nanosecondsOfRepeats = nanosecondsOfRepeats;
  planned.costs = compilation.getCosts();
  planned.memory = describeMemory(compilation.getModule(), planned.costs);
  planned.accumulationSteps = options.emission.accumulationSteps;
  if (options.pipeline.step.inference) // of which no times are estimated
    llvm::outs() << llvm::sys::path::filename(options.model) << ": "
                 << planning::formatBytes(planned.memory.totalBytes) << "\n";
  else
    printHeadline(options, planned, /*namesBatch=*/false, llvm::outs());
}

int gpuopt::compileModel(const DriverOptions &options) {
  Compilation compilation(options);
  if (options.compileTo)
    return compileTo(options, compilation);
  // Reports a folder that cannot be written before any work is done.
  if (llvm::Error error = OutputDirectory::check(options.outputDir))
    return failure(std::move(error));
  EmissionOptions emission = options.emission;
  PlanChoices choices;
  if (failed(compilation.runTo(Phase::Import)))
    return compilation.exitStatus();
  if (llvm::Error error = checkTrainedGraph(options, compilation))
    return failure(std::move(error));
  if (failed(compilation.runTo(Phase::Precision)))
    return compilation.exitStatus();
  choices.precision = compilation.describePrecision();
  choices.precisions =
      describePrecisions(options.pipeline.precision, compilation.getModule());
  if (failed(compilation.runTo(Phase::Schedule))) {
    tellBudgetHelp(options, compilation);
    return compilation.exitStatus();
  }
  choices.decisions = describeDecisions(compilation.getModule());
  const double repeats = nanosecondsOfRepeats(
      compilation.getModule(), options.emission.accumulationSteps);
  addWorks(options, compilation.getModule(), emission);
  emission.stepTimes = timesOf(compilation.getCosts());
  if (failed(compilation.runTo(Phase::Memory)))
    return compilation.exitStatus();
  auto parts = partsOfSteps(compilation.getModule());
  if (failed(compilation.runTo(Phase::Device)))
    return compilation.exitStatus();
  ModuleOp module = compilation.getModule();
  emission.alive = aliveInParts(module, parts);
  llvm::Expected<std::string> classNames = checkData(options, module);
  if (!classNames)
    return failure(classNames.takeError());
  emission.modelHash = compilation.getModelHash().str();
  emission.graphHash = compilation.getGraphHash().str();
  emission.compiled = decidingFlags(options.pipeline);
  if (llvm::Error error = checkStart(options, module, emission, *classNames))
    return failure(std::move(error));
  FailureOr<ProgramFiles> files = emitProgram(module, emission);
  if (failed(files))
    return 1;
  std::string &plan = (*files)[kPlanFile.str()];
  plan = completePlan(plan, options, choices);
  if (llvm::Error error = writeProgram(options, module, *files))
    return failure(std::move(error));
  printNotes(options.emission.settings.quiet);
  if (options.tellsNextSteps) {
    printPlan(options, compilation, repeats);
    printNextSteps(options, module, llvm::outs());
  }
  return 0;
}
