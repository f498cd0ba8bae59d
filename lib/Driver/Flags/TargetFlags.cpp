//===- TargetFlags.cpp - Target, memory and output ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags/CompileFlags.h"
#include "gpuopt/Analysis/DeviceModel.h"
#include "gpuopt/Analysis/MeasuredCosts.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace gpuopt;

/// The device whose rates are used for a GPU that nobody has named.
static constexpr const char *kDefaultGpu = "h200";

cl::OptionCategory &gpuopt::targetCategory() {
  static cl::OptionCategory category("Target, memory and output");
  return category;
}

namespace {
CheckedOpt<std::string> outputDir(
    "o",
    cl::desc("or --output-dir: folder for the program (compile) or the results "
             "(train)"),
    cl::value_desc("DIR"), cl::cat(targetCategory()), COMPILING);
cl::alias outputDirAlias("output-dir", cl::aliasopt(outputDir),
                         cl::desc("same as -o"), cl::cat(targetCategory()));
CompileFlag<std::string> target("target");
CompileFlag<std::string> compileTo("compile-to");
CompileFlag<std::string> dumpPhasesTo("dump-phases-to");
CompileFlag<std::string> memoryBudget("memory-budget");
CompileFlag<std::string> activationBudget("activation-budget");
CompileFlag<std::string> workspaceSize("workspace-size");
CompileFlag<bool> allowOffload("allow-offload");
CompileFlag<std::string> offloadBandwidth("offload-bandwidth");
CompileFlag<std::string> deviceName("device",
                                    builtinDeviceNames() + " or a JSON file");
CompileFlag<std::string> profileCosts("profile-costs");
CompileFlag<bool> planJson("json");
CompileFlag<bool> planCurve("curve");
CompileFlag<bool> planKernels("kernels");
CompileFlag<std::string> planHtml("html");
CompileFlag<bool> findBatchSize("find-batch-size");
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

/// Returns the budget that --memory-budget=auto stands for, and prints it.
static Expected<int64_t> freeBytes(const TargetInfo &target) {
  Expected<FreeMemory> memory = measureFreeMemory(target);
  if (!memory)
    return createStringError("--memory-budget=auto: " +
                             toString(memory.takeError()));
  errs() << "gpuopt: memory budget: "
         << planning::formatBytes(memory->budgetInBytes) << " ("
         << memory->description << ")\n";
  if (memory->budgetInBytes <= 0) // 0 would be no limit
    return createStringError("--memory-budget=auto: no memory is free");
  return memory->budgetInBytes;
}

/// Returns the target whose measured times hold for the program: an emulated
/// program is planned as on the GPU that it stands for.
static StringRef targetOfCosts() {
  return givenTarget().is_cuda ? "cuda" : "host";
}

/// Loads the file of --profile-costs, whose target must be that of the program;
/// returns null without the flag.
static Expected<std::shared_ptr<const MeasuredCosts>>
collectCosts(train::ScheduleOptions &options) {
  if (!profileCosts.getNumOccurrences())
    return nullptr;
  auto costs = MeasuredCosts::load(profileCosts);
  if (!costs)
    return createStringError("--profile-costs: " + toString(costs.takeError()));
  if ((*costs)->target != targetOfCosts())
    return createStringError("--profile-costs: '" + profileCosts +
                             "' was measured on " + (*costs)->target +
                             ", but the target is " + target +
                             "; give --target=" + (*costs)->target);
  options.profileCosts = profileCosts;
  return costs;
}

/// Returns the value of --device or, without it, the device that the measured
/// times are of.
static std::string chooseDevice(const MeasuredCosts *costs) {
  if (!deviceName.empty())
    return deviceName;
  if (!givenTarget().is_cuda)
    return "host";
  const DeviceModel *gpu = costs ? findBuiltinGpu(costs->device) : nullptr;
  return gpu ? gpu->name : kDefaultGpu;
}

/// Fails if the measured times are of another target than the device, and warns
/// if they are of another GPU.
static Error checkDevice(const DeviceModel &model, const MeasuredCosts &costs) {
  if (!model.target.empty() && model.target != costs.target)
    return createStringError("--profile-costs: '" + profileCosts +
                             "' was measured on " + costs.target + ", on '" +
                             costs.device + "', but --device=" + deviceName +
                             " is a device of target " + model.target +
                             "; leave out one of them");
  bool isBuiltin = any_of(builtinDeviceModels(), [&](const DeviceModel &known) {
    return known.name == model.name;
  });
  if (costs.target == "cuda" && isBuiltin &&
      findBuiltinGpu(costs.device) != findBuiltinGpu(model.name))
    errs() << "gpuopt: warning: --profile-costs: '" << profileCosts
           << "' was measured on '" << costs.device
           << "', but other times are those of --device=" << model.name << "\n";
  return Error::success();
}

/// Reads the device whose times are estimated, and the times that were
/// measured.
static Error collectTimes(train::ScheduleOptions &options) {
  auto costs = collectCosts(options);
  if (!costs)
    return costs.takeError();
  options.device = chooseDevice(costs->get());
  Expected<DeviceModel> model = loadDeviceModel(options.device);
  if (!model)
    return createStringError("--device: " + toString(model.takeError()));
  if (planKernels && !model->hasWarps())
    return createStringError(
        "--kernels needs a GPU, but --device=" + options.device +
        " is a processor; name a GPU, such as --device=h200");
  return *costs ? checkDevice(*model, **costs) : Error::success();
}

/// Reads what the schedule depends on: budgets, offloading and times.
static Error collectSchedule(train::ScheduleOptions &options) {
  for (auto [flag, bytes] : {std::pair(&memoryBudget, &options.memoryBudget),
                             {&activationBudget, &options.activationBudget}}) {
    Expected<int64_t> given = flag == &memoryBudget && memoryBudget == "auto"
                                  ? freeBytes(givenTarget())
                                  : bytesOf(*flag);
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
  return collectTimes(options);
}

Error gpuopt::chooseGivenTarget() {
  if (target == "auto") {
    auto [chosen, reason] = chooseTarget();
    target = chosen.str();
    errs() << "gpuopt: target: " << chosen << " (" << reason << ")\n";
  }
  return Error::success();
}

Error gpuopt::collectTarget(DriverOptions &options) {
  options.outputDir = outputDir;
  options.target = &givenTarget();
  options.dumpPhasesTo = dumpPhasesTo;
  // A script knows what comes next; a person at a terminal is told.
  options.tellsNextSteps = compileCommand() && errs().is_displayed();
  if (!compileTo.empty())
    options.compileTo = parsePhase(compileTo);
  options.plan = {planJson, planCurve, planKernels, findBatchSize, planHtml};
  if (planCommand() && outputDir.getNumOccurrences())
    return createStringError("-o belongs to compile and train; plan writes no "
                             "program, see --json and --html");
  if (outputDir.empty() && compileTo.empty() && !planCommand())
    return createStringError("an output folder is needed: -o DIR");
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
  return collectSchedule(options.pipeline.schedule);
}
