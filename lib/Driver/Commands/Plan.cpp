//===- Plan.cpp - Does it fit, and what does fitting cost -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands/BudgetHelp.h"
#include "Commands/Compilation.h"
#include "Commands/Process.h"
#include "Flags/Notes.h"
#include "Report/PlanPage.h"
#include "Report/PlanSummary.h"
#include "gpuopt/Planning/Recompute/LadderStore.h"
#include "gpuopt/Support/CheckOutput.h"
#include "gpuopt/Support/WriteFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <utility>

using namespace mlir;
using namespace gpuopt;

/// Returns the device for which kernels are described; nothing if --kernels was
/// not given. If the device cannot be loaded, the compilation fails, too.
static std::optional<DeviceModel>
deviceOfKernels(const DriverOptions &options) {
  const train::ScheduleOptions &schedule = options.pipeline.schedule;
  if (!options.plan.withKernels)
    return std::nullopt;
  llvm::Expected<DeviceModel> device = loadDeviceModel(
      schedule.device, schedule.profileCosts, schedule.allowsTf32);
  if (device)
    return *device;
  llvm::consumeError(device.takeError()); // the compilation reports it
  return std::nullopt;
}

static Planned plan(const DriverOptions &options) {
  Planned result;
  result.accumulationSteps = options.emission.accumulationSteps;
  Compilation compilation(options, /*isSilent=*/true);
  std::optional<DeviceModel> device = deviceOfKernels(options);
  std::vector<KernelEstimate> kernels;
  LogicalResult scheduled = compilation.runTo(Phase::Schedule);
  if (succeeded(scheduled)) {
    result.decisions = describeDecisions(compilation.getModule());
    result.precision = compilation.describePrecision();
    result.costs = compilation.getCosts();
    result.nanosecondsOfRepeats =
        nanosecondsOfRepeats(compilation.getModule(), result.accumulationSteps);
    if (device)
      kernels = estimateKernels(compilation.getModule(), *device,
                                result.accumulationSteps);
  }
  bool isComplete =
      succeeded(scheduled) && succeeded(compilation.runTo(Phase::Device));
  result.diagnostics = compilation.getDiagnostics();
  if (!isComplete) {
    result.status = compilation.exitStatus();
    result.unmet = describeUnmet(compilation.unmetBudget());
    return result;
  }
  result.memory = describeMemory(compilation.getModule(), result.costs);
  if (!options.plan.memoryTimeline.empty())
    result.timeline = describeTimeline(compilation.getModule());
  if (device)
    result.kernels = nameKernels(compilation.getModule(), kernels, *device);
  return result;
}

static DriverOptions withBudget(DriverOptions options, int64_t budget) {
  options.pipeline.schedule.memoryBudget = budget;
  return options;
}

//===----------------------------------------------------------------------===//
// Time by budget
//===----------------------------------------------------------------------===//

static BudgetPoint pointOf(int64_t budget, const MemoryReport &memory) {
  return {budget, memory.totalBytes, memory.addedPercent,
          memory.recomputePercent, memory.lowerBoundPercent};
}

/// Gives a budget the plan of a smaller one where that costs less: it fits
/// there as well. A bound holds for what its budget puts into half precision,
/// and the other plan may put more into it: it is then no bound above its time.
static void makeMonotone(std::vector<BudgetPoint> &points) {
  for (size_t i = points.size(); i-- > 1;)
    if (points[i].addedPercent < points[i - 1].addedPercent) {
      points[i - 1].addedPercent = points[i].addedPercent;
      points[i - 1].recomputePercent = points[i].recomputePercent;
      points[i - 1].totalInBytes = points[i].totalInBytes;
    }
  for (BudgetPoint &point : points)
    point.lowerBoundPercent =
        std::min(point.lowerBoundPercent, point.addedPercent);
}

/// Adds points from no budget down to the smallest budget that can be met. A
/// budget that cannot be met gets no point; any other error becomes the status
/// of the whole plan. The compilations share what they have found for their
/// budgets.
static void addCurve(const DriverOptions &options, int count,
                     PlanSummary &summary) {
  auto tryBudget = [&](int64_t budget) {
    Planned planned = plan(withBudget(options, budget));
    if (planned.status == 1)
      summary.planned = planned;
    return planned;
  };
  Planned plain = tryBudget(0);
  if (plain.status != 0)
    return;
  int64_t top = plain.memory.totalBytes;
  std::vector<BudgetPoint> points = {pointOf(top, plain.memory)};
  Planned least = tryBudget(1);
  int64_t bottom = least.status == 2 ? least.unmet.smallestBytes : top;
  for (int i = 1; i < count && bottom < top; ++i) {
    int64_t budget = top - (top - bottom) * i / (count - 1);
    Planned planned = tryBudget(budget);
    if (planned.status == 1)
      return;
    if (planned.status == 0)
      points.push_back(pointOf(budget, planned.memory));
  }
  makeMonotone(points);
  summary.curve = points;
}

//===----------------------------------------------------------------------===//
// The largest batch
//===----------------------------------------------------------------------===//

static void takeCost(const Planned &planned, LargestBatch &batch,
                     int64_t size) {
  batch = {size, planned.memory.addedPercent,
           planned.stepMilliseconds() /
               double(size * planned.accumulationSteps)};
}

namespace {
/// What is known of a batch size after a trial.
struct Trial {
  bool fits = false;
  int64_t guess = 0; ///< About the largest size that fits; 0: no idea.
};
} // namespace

/// Returns the largest size that fits, and 0 if not even 1 does. Goes from
/// `start` in steps that double, and then bisects; the guesses of sizes that do
/// not fit are tried before that, as long as there are few.
static int64_t largestFrom(int64_t start,
                           llvm::function_ref<Trial(int64_t)> attempt) {
  constexpr int64_t kMost = int64_t(1) << 24;
  int64_t good = 0, bad = kMost + 1;
  int guesses = 3;
  bool isGuess = false;
  for (int64_t next = start, step = 1; bad - good > 1;) {
    Trial trial = attempt(next);
    (trial.fits ? good : bad) = next;
    bool wasGuess = std::exchange(isGuess, trial.guess > 0 && guesses-- > 0);
    if (isGuess)
      next = trial.guess;
    else if (wasGuess && trial.fits)
      next = good + 1; // guesses are close
    else if (bad > kMost)
      next = good + step, step *= 2;
    else if (good == 0)
      next = bad - step, step *= 2;
    else
      next = good + (bad - good) / 2;
    next = std::clamp(next, good + 1, std::max(bad - 1, good + 1));
  }
  return good;
}

/// Finds the largest batch whose program is within the budget by bisection over
/// compilations; `start` is known to fit or is 1. First, schedules that need
/// not be the cheapest tell in less time about where that batch is; then the
/// cheapest schedules decide. A batch that cannot be compiled, because a tensor
/// is too large for example, does not fit. `plannedLargest` becomes the plan of
/// the largest batch.
static LargestBatch largestBatch(DriverOptions options, int64_t start,
                                 Planned &plannedLargest) {
  options.pipeline.schedule.searchSmallest = false;
  int64_t memoryBudget = options.pipeline.schedule.memoryBudget;
  DriverOptions quick = options;
  quick.pipeline.schedule.takesAny = true;
  int64_t guess = largestFrom(start, [&](int64_t batch) {
    quick.import.batchSize = batch;
    Compilation compilation(quick, /*isSilent=*/true);
    return Trial{succeeded(compilation.runTo(Phase::Schedule))};
  });
  guess = std::max(guess, start);
  LargestBatch best;
  // The cheapest schedules may fit a little more, and a size that does not fit
  // tells about which one does.
  largestFrom(guess + 1, [&](int64_t batch) {
    options.import.batchSize = batch;
    Planned planned = plan(options);
    if (planned.status != 0)
      return Trial{false, guessBatch(batch, planned.unmet, memoryBudget)};
    if (batch > best.size) {
      takeCost(planned, best, batch);
      plannedLargest = std::move(planned);
    }
    return Trial{true};
  });
  return best;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static bool isPickle(StringRef file) { return file.ends_with(".pickle"); }

static llvm::Error writePage(const DriverOptions &options,
                             const PlanSummary &summary) {
  PlanPage page{llvm::sys::path::filename(options.model).str(),
                options.pipeline.schedule.memoryBudget, summary.planned,
                summary.curve};
  std::string text;
  llvm::raw_string_ostream stream(text);
  page.print(stream);
  return writeFile(options.plan.html, text);
}

static llvm::Error writeTimeline(const std::string &file,
                                 const MemoryTimeline &timeline) {
  if (isPickle(file))
    return writeFile(file, toPickle(toSnapshot(timeline)));
  return writeFile(
      file, llvm::formatv("{0}\n", llvm::json::Value(toJson(timeline))).str());
}

/// Writes the files that flags name. Prints what is wrong, and returns the exit
/// status.
static int writeFiles(const DriverOptions &options,
                      const PlanSummary &summary) {
  auto check = [](const std::string &file, llvm::Error error) {
    if (!error)
      return 0;
    llvm::errs() << "gpuopt: error: cannot write '" << file
                 << "': " << llvm::toString(std::move(error)) << "\n";
    return 1;
  };
  const std::string &html = options.plan.html,
                    &timeline = options.plan.memoryTimeline;
  if (!html.empty())
    if (int status = check(html, writePage(options, summary)))
      return status;
  return timeline.empty()
             ? 0
             : check(timeline,
                     writeTimeline(timeline, summary.planned.timeline));
}

/// Refuses files that cannot be written, and the names of what is read.
static llvm::Error checkFiles(const DriverOptions &options) {
  const train::ScheduleOptions &schedule = options.pipeline.schedule;
  auto check = [&](StringRef flag, const std::string &file) -> llvm::Error {
    if (file.empty())
      return llvm::Error::success();
    SmallVector<StringRef> inputs{options.model, schedule.device,
                                  schedule.profileCosts,
                                  options.pipeline.precision.policyFile};
    for (auto &[name, constant] : options.import.constantInputs)
      inputs.push_back(constant.file);
    llvm::Error error = checkOutput(file, inputs);
    if (!error)
      error = checkReplaced(file, flag == "html"   ? StringRef(".html")
                                  : isPickle(file) ? ".pickle"
                                                   : ".json");
    if (!error)
      return error;
    return llvm::createStringError("--" + flag + ": " +
                                   llvm::toString(std::move(error)));
  };
  if (llvm::Error error = check("html", options.plan.html))
    return error;
  const std::string &timeline = options.plan.memoryTimeline;
  if (!timeline.empty() && !isPickle(timeline) &&
      !StringRef(timeline).ends_with(".json"))
    return llvm::createStringError("--memory-timeline needs a file whose name "
                                   "ends in .json or .pickle, but is '" +
                                   timeline + "'");
  return check("memory-timeline", timeline);
}

/// Says which batch was found, and of which one the plan is.
static void tellLargest(std::optional<int64_t> given, bool takesLargest,
                        int64_t largest) {
  std::string text;
  if (largest == 0)
    return; // an error follows
  if (!given)
    text = llvm::formatv(
        "batch size {0} is the largest that fits; this is its plan", largest);
  else if (takesLargest)
    text = llvm::formatv("batch size {0} does not fit; {1} is the largest that "
                         "does, and this is its plan",
                         *given, largest);
  else
    text = llvm::formatv("batch size {0} fits, and this is its plan; {1} is "
                         "the largest that fits",
                         *given, largest);
  llvm::errs() << "gpuopt: " << text << "\n";
}

/// Finds the largest batch that fits. The plan is that of the given batch if
/// that fits, else that of the largest one; if not even one sample fits, the
/// summary has the error of a batch of one.
static PlanSummary findBatch(DriverOptions &options) {
  PlanSummary summary;
  std::optional<int64_t> given = options.import.batchSize;
  if (given) {
    DriverOptions quick = options;
    quick.pipeline.schedule.searchSmallest = false; // no error is printed
    summary.planned = plan(quick);
    if (summary.planned.status == 1)
      return summary;
  }
  bool takesLargest = !given || summary.planned.status != 0;
  Planned plannedLargest;
  LargestBatch largest =
      largestBatch(options, takesLargest ? 1 : *given, plannedLargest);
  if (takesLargest) {
    options.import.batchSize = std::max<int64_t>(largest.size, 1);
    summary.planned = largest.size > 0 ? plannedLargest : plan(options);
  }
  tellLargest(given, takesLargest, largest.size);
  summary.largestBatch = largest;
  return summary;
}

/// Adds what would make the budget feasible.
static void addHelp(const DriverOptions &options, Planned &planned) {
  BudgetHelp help = findBudgetHelp(options, planned.unmet);
  planned.diagnostics += help.text();
  for (FittingFlags &each : help.fitting)
    planned.unmet.fittingFlags.push_back(std::move(each.flags));
}

int gpuopt::planModel(const DriverOptions &given) {
  constexpr int kCurvePoints = 11;
  if (llvm::Error error = checkFiles(given))
    return failure(std::move(error));
  DriverOptions options = given;
  options.pipeline.ladders = std::make_shared<planning::LadderStore>();
  PlanSummary summary;
  if (options.plan.findBatchSize)
    summary = findBatch(options);
  else
    summary.planned = plan(options);
  if (summary.planned.status == 2 && options.pipeline.schedule.searchSmallest)
    addHelp(options, summary.planned);
  if (summary.planned.status == 0 &&
      (options.plan.withCurve || !options.plan.html.empty()))
    addCurve(options, kCurvePoints, summary);
  int status = summary.planned.status;
  if (status == 0)
    if (int problem = writeFiles(options, summary))
      return problem;
  if (status == 0)
    printNotes();
  if (std::string text = summary.planned.costs.warning(); !text.empty())
    llvm::errs() << "gpuopt: warning: " << text << "\n";
  llvm::errs() << summary.planned.diagnostics;
  if (status != 1 && options.plan.asJson)
    llvm::outs() << llvm::formatv("{0:2}",
                                  llvm::json::Value(summary.toJson(options)))
                 << "\n";
  else if (status != 1)
    summary.print(options, llvm::outs());
  return status;
}
