//===- TargetFlags.cpp - Target, memory and output ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"
#include "Flags/DeviceFlags.h"
#include "Flags/Notes.h"
#include "Flags/SettingFlags.h"
#include "gpuopt/Analysis/Costs/ConvolutionPlans.h"
#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

cl::OptionCategory &gpuopt::targetCategory() {
  static cl::OptionCategory category("Target, memory and output");
  return category;
}

namespace {
// The folder is no setting that the driver hands on: it gives the programs
// folders of its own inside. `plan` takes it to say that it writes nothing.
CheckedOpt<std::string> outputDir(FromSetting("output-dir"),
                                  cl::cat(targetCategory()), TakenBy{kPlan});
cl::alias outputDirAlias("output-dir", cl::aliasopt(outputDir),
                         cl::desc("same as -o"), cl::cat(targetCategory()));
CompileFlag<std::string> target("target");
CompileFlag<std::string> compileTo("compile-to");
CompileFlag<std::string> dumpPhasesTo("dump-phases-to");
CompileFlag<std::string> memoryBudget("memory-budget");
CompileFlag<std::string> activationBudget("activation-budget");
CompileFlag<std::string> workspaceSize("workspace-size");
CompileFlag<std::string> convolutionPlans("convolution-plans");
CompileFlag<bool> allowOffload("allow-offload");
CompileFlag<std::string> offloadBandwidth("offload-bandwidth");
CompileFlag<bool> planJson("json");
CompileFlag<bool> planCurve("curve");
CompileFlag<bool> planKernels("kernels");
CompileFlag<std::string> planHtml("html");
CompileFlag<std::string> memoryTimeline("memory-timeline");
CompileFlag<bool> findBatchSize("find-batch-size");
CompileFlag<bool> skipSmallestBudget("skip-smallest-budget");
// That of `train` is a flag of the trainer.
Switch compilesQuietly("quiet",
                       cl::desc("nothing on the terminal but notes, warnings "
                                "and errors"),
                       cl::cat(targetCategory()), cl::sub(compileCommand()));
Switch anySchedule("any-schedule",
                   cl::desc("take the first schedule within the budget, "
                            "whatever it costs: tells sooner whether there is "
                            "one"),
                   cl::Hidden, cl::cat(targetCategory()),
                   cl::sub(planCommand()));
} // namespace

/// Returns the row of --target, after `auto` has been replaced.
static const TargetInfo &givenTarget() {
  const TargetInfo *row = find_target(target.getValue());
  assert(row && "the flag takes the names of the table alone");
  return *row;
}

/// Returns whether a text looks like "0.5": a fraction without a unit, which is
/// no budget.
static bool mayBeFraction(StringRef text) {
  double number = 0;
  return text.contains('.') && !text.getAsDouble(number) && number > 0 &&
         number < 1;
}

/// Reads the bytes of a flag like "8GiB"; 0 if the flag is not given.
static Expected<int64_t> bytesOf(const cl::opt<std::string> &option) {
  if (!option.getNumOccurrences())
    return 0;
  if (StringRef text = option; mayBeFraction(text))
    return createStringError("--" + option.ArgStr + ": '" + text +
                             "' is less than a byte; give a unit, like " +
                             text + "GiB");
  planning::Result<int64_t> bytes = planning::parseBytes(option);
  if (!bytes)
    return createStringError("--" + option.ArgStr + ": " +
                             bytes.error().message);
  if (*bytes == 0)
    return createStringError("--" + option.ArgStr + " must be more than 0");
  return *bytes;
}

/// Reads the bytes per second of a flag; 0 if it is not given.
static Expected<double> rateOf(const cl::opt<std::string> &option) {
  StringRef text = option;
  if (text.empty())
    return 0;
  text.consume_back("/s");
  bool hasUnit = text.find_first_not_of("0123456789.") != StringRef::npos;
  planning::Result<int64_t> bytes = planning::parseBytes(text.str());
  if (!hasUnit || !bytes || *bytes <= 0)
    return createStringError("--" + option.ArgStr +
                             " expects a rate like 24GB/s, but is '" + option +
                             "'");
  return double(*bytes);
}

/// Reads a budget. A small number without a unit is no number of bytes that
/// anybody means: those of the smallest programs are given with a B.
static Expected<int64_t> budgetOf(const cl::opt<std::string> &option) {
  constexpr int64_t kLeastWithoutUnit = 64 << 10, kLeastMebibytes = 128;
  Expected<int64_t> bytes = bytesOf(option);
  StringRef text = option;
  bool hasUnit = text.find_first_not_of("0123456789.") != StringRef::npos;
  if (!bytes || *bytes == 0 || hasUnit || *bytes >= kLeastWithoutUnit)
    return bytes;
  return createStringError("--" + option.ArgStr + ": " + Twine(*bytes) +
                           " bytes are too few for a program; did you mean " +
                           text + (*bytes < kLeastMebibytes ? "GiB" : "MiB") +
                           "? (" + text + "B is taken as it is)");
}

/// Returns the budget that --memory-budget=auto stands for, and prints it.
static Expected<int64_t> freeBytes(const TargetInfo &target) {
  Expected<FreeMemory> memory = measureFreeMemory(target);
  if (!memory)
    return createStringError("--memory-budget=auto: " +
                             toString(memory.takeError()));
  if (memory->budgetInBytes <= 0) // 0 would be no limit
    return createStringError("--memory-budget=auto: no memory is free: " +
                             memory->description);
  addNote("memory budget: " + planning::formatBytes(memory->budgetInBytes) +
          " (" + memory->description + ")");
  return memory->budgetInBytes;
}

/// Reads what the schedule depends on: budgets, offloading and times.
static Error collectSchedule(train::ScheduleOptions &options) {
  for (auto [flag, bytes] : {std::pair(&memoryBudget, &options.memoryBudget),
                             {&activationBudget, &options.activationBudget}}) {
    Expected<int64_t> given = flag == &memoryBudget && memoryBudget == "auto"
                                  ? freeBytes(givenTarget())
                                  : budgetOf(*flag);
    if (!given)
      return given.takeError();
    *bytes = *given;
  }
  if (!allowOffload && !offloadBandwidth.empty())
    return createStringError("--offload-bandwidth needs --allow-offload");
  if (allowOffload && memoryBudget.empty() && activationBudget.empty() &&
      !planCurve && planHtml.empty())
    return createStringError("--allow-offload needs a budget: --memory-budget "
                             "or --activation-budget");
  options.allowOffload = allowOffload;
  Expected<double> rate = rateOf(offloadBandwidth);
  if (!rate)
    return rate.takeError();
  options.offloadBandwidth = *rate;
  return collectTimes(givenTarget(), planKernels, options);
}

/// Checks the file of --convolution-plans, and warns if it is for another GPU
/// than `device`.
static Error collectConvolutionPlans(train::ReserveWorkspaceOptions &options,
                                     StringRef device) {
  if (!convolutionPlans.getNumOccurrences())
    return Error::success();
  if (!givenTarget().is_cuda)
    return createStringError("--convolution-plans applies only to CUDA, but "
                             "--target is host, which does without cuDNN");
  if (workspaceSize.getNumOccurrences())
    return createStringError("--convolution-plans and --workspace-size exclude "
                             "each other: both say how large the workspace is");
  Expected<ConvolutionPlans> plans = ConvolutionPlans::load(convolutionPlans);
  if (!plans)
    return createStringError("--convolution-plans: " +
                             toString(plans.takeError()));
  bool isBuiltin = any_of(builtinDeviceModels(), [&](const DeviceModel &known) {
    return known.name == plans->device;
  });
  if (isBuiltin && plans->device != device)
    errs() << "gpuopt: warning: --convolution-plans: '" << convolutionPlans
           << "' was planned for " << plans->device << ", but --device is "
           << device << "\n";
  options.convolutionPlans = convolutionPlans;
  return Error::success();
}

std::string gpuopt::chooseGivenTarget() {
  if (target != "auto")
    return "";
  TargetChoice choice = targetOfDevice().value_or(chooseTarget());
  target = choice.target.str();
  return "target: " + choice.target.str() + " (" + choice.reason + ")";
}

Error gpuopt::collectTarget(DriverOptions &options) {
  options.outputDir = outputDir;
  options.target = &givenTarget();
  options.dumpPhasesTo = dumpPhasesTo;
  options.tellsNextSteps = compileCommand() && !compilesQuietly;
  if (!compileTo.empty())
    options.compileTo = parsePhase(compileTo);
  if (options.compileTo && outputDir.getNumOccurrences())
    addNote("--compile-to=" + compileTo + " prints the module; nothing is " +
            "written to '" + outputDir + "'");
  options.plan = {planJson,      planCurve, planKernels,
                  findBatchSize, planHtml,  memoryTimeline};
  if (skipSmallestBudget && (planCurve || !planHtml.empty()))
    return createStringError(
        "--skip-smallest-budget cannot be combined with " +
        StringRef(planCurve ? "--curve" : "--html") +
        ": the curve of budgets ends at the smallest that can be met");
  options.pipeline.schedule.searchSmallest = !skipSmallestBudget;
  options.pipeline.schedule.takesAny = anySchedule;
  if (planCommand() && outputDir.getNumOccurrences())
    return createStringError("-o belongs to compile and train; plan writes no "
                             "program, see --json and --html");
  if (outputDir.empty() && compileTo.empty() && !planCommand()) {
    // What is asked for next helps nobody who has mistyped the model.
    if (Error error = checkModelExists())
      return error;
    return createStringError("an output folder is needed: -o DIR");
  }
  if (findBatchSize && memoryBudget.empty() && activationBudget.empty())
    return createStringError("--find-batch-size needs a budget: "
                             "--memory-budget or --activation-budget");
  Expected<int64_t> workspace = bytesOf(workspaceSize);
  if (!workspace)
    return workspace.takeError();
  constexpr int64_t kLeastWorkspace = 16 << 10; // cuBLAS's smallest
  if (*workspace && !givenTarget().is_cuda)
    return createStringError(
        "--workspace-size applies only to CUDA, but --target "
        "is host, whose libraries allocate their own memory");
  if (*workspace && *workspace < kLeastWorkspace)
    return createStringError("--workspace-size must be at least " +
                             planning::formatBytes(kLeastWorkspace) +
                             ", but is " + planning::formatBytes(*workspace));
  options.pipeline.isForGpu = givenTarget().is_cuda;
  if (!givenTarget().is_cuda)
    options.pipeline.kernelDevice = "host";
  options.pipeline.workspace.workspaceBytes = *workspace;
  if (Error error = collectSchedule(options.pipeline.schedule))
    return error;
  return collectConvolutionPlans(options.pipeline.workspace,
                                 options.pipeline.schedule.device);
}
