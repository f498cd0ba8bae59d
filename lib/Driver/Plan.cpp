//===- Plan.cpp - Does it fit, and what does fitting cost -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"
#include "PlanReport.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpuopt;
using planning::formatBytes;

namespace {

/// A compilation up to the device program.
struct Planned {
  int status = 0; ///< Of the command, where there is no plan.
  std::string errors;
  int64_t smallestBudget = 0; ///< Where the budget cannot be met.
  MemoryReport memory;
  std::vector<TensorDecision> decisions;
  std::string precision; ///< What is in half precision, for people.
  CostReport costs;
};

struct CurvePoint {
  int64_t budget;
  Planned planned;
};

} // namespace

static Planned plan(const DriverOptions &options) {
  Planned result;
  Compilation compilation(options, /*isQuiet=*/true);
  LogicalResult scheduled = compilation.runTo(Phase::Schedule);
  if (succeeded(scheduled)) {
    result.decisions = describeDecisions(compilation.getModule());
    result.precision = compilation.describePrecision();
    result.costs = compilation.getCosts();
  }
  if (failed(scheduled) || failed(compilation.runTo(Phase::Device))) {
    result.status = compilation.exitStatus();
    result.errors = compilation.getErrors();
    result.smallestBudget = compilation.smallestBudget();
    return result;
  }
  result.memory = describeMemory(compilation.getModule());
  return result;
}

static DriverOptions withBudget(DriverOptions options, int64_t budget) {
  options.pipeline.schedule.memoryBudget = budget;
  return options;
}

//===----------------------------------------------------------------------===//
// Budget against time
//===----------------------------------------------------------------------===//

/// Points from no budget down to the smallest that can be met. What a smaller
/// budget costs, every larger one can be had for.
static std::vector<CurvePoint> curve(const DriverOptions &options, int count) {
  std::vector<CurvePoint> points;
  Planned plain = plan(withBudget(options, 0));
  int64_t top = plain.memory.totalBytes;
  points.push_back({top, std::move(plain)});
  Planned least = plan(withBudget(options, 1));
  int64_t bottom = least.status == 2 ? least.smallestBudget : top;
  for (int i = 1; i < count && bottom < top; ++i) {
    int64_t budget = top - (top - bottom) * i / (count - 1);
    Planned planned = plan(withBudget(options, budget));
    if (planned.status == 0)
      points.push_back({budget, std::move(planned)});
  }
  for (size_t i = points.size() - 1; i > 0; --i)
    if (points[i].planned.memory.addedPercent <
        points[i - 1].planned.memory.addedPercent)
      points[i - 1].planned = points[i].planned;
  return points;
}

static void printCurve(ArrayRef<CurvePoint> points, llvm::raw_ostream &os) {
  constexpr int kWidth = 40;
  double most = 1;
  for (const CurvePoint &point : points)
    most = std::max(most, point.planned.memory.addedPercent);
  os << "\nbudget        allocated     added time   at least\n";
  for (const CurvePoint &point : points) {
    const MemoryReport &memory = point.planned.memory;
    os << llvm::formatv(
        "{0,-14}{1,-14}{2,8:f2} % {3,8:f2} %  {4}\n", formatBytes(point.budget),
        formatBytes(memory.totalBytes), memory.addedPercent,
        memory.lowerBoundPercent,
        std::string(size_t(kWidth * memory.addedPercent / most), '#'));
  }
}

//===----------------------------------------------------------------------===//
// The largest batch
//===----------------------------------------------------------------------===//

/// The largest batch whose program is within the budget, 0 if not even one
/// sample is; by bisection over compilations.
static int64_t largestBatch(DriverOptions options) {
  options.pipeline.schedule.searchSmallest = false;
  auto fits = [&](int64_t batch) {
    options.import.batchSize = batch;
    return plan(options).status == 0;
  };
  constexpr int64_t kMost = int64_t(1) << 24;
  int64_t good = 0, bad = 1;
  while (bad <= kMost && fits(bad)) {
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static void printDecisions(ArrayRef<TensorDecision> decisions,
                           llvm::raw_ostream &os) {
  os << "\nfor the backward\n";
  for (Fate fate : {Fate::Saved, Fate::Recomputed, Fate::Offloaded}) {
    int64_t count = 0, bytes = 0;
    for (const TensorDecision &decision : decisions)
      if (decision.fate == fate) {
        ++count;
        bytes += decision.bytes;
      }
    if (fate != Fate::Offloaded || count > 0)
      os << llvm::formatv("  {0,-10}  {1,5} tensors  {2}\n", nameOf(fate),
                          count, formatBytes(bytes));
  }
}

/// What offloading asks of the host and of the link to it.
static void printTransfers(const MemoryReport &memory, llvm::raw_ostream &os) {
  if (memory.hostBytes == 0)
    return;
  os << llvm::formatv("  {0,-24}{1,12}\n", "on the host",
                      formatBytes(memory.hostBytes));
  os << llvm::formatv("\ntransfers: {0} a step, {1:f3} ms, of which the step "
                      "waits for {2:f3} ms\n",
                      formatBytes(memory.transferBytes),
                      memory.transferMilliseconds,
                      memory.transferWaitMilliseconds);
}

static void print(const DriverOptions &options, const Planned &planned,
                  llvm::raw_ostream &os) {
  const MemoryReport &memory = planned.memory;
  int64_t budget = options.pipeline.schedule.memoryBudget;
  os << llvm::sys::path::filename(options.model) << ": ";
  if (budget > 0)
    os << formatBytes(memory.totalBytes) << " of " << formatBytes(budget);
  else
    os << formatBytes(memory.totalBytes);
  os << llvm::formatv(", {0:f2} % more time per step on {1}",
                      memory.addedPercent, options.pipeline.schedule.device);
  if (memory.addedPercent > 0)
    os << llvm::formatv(" (no schedule of this order: less than {0:f2} %)",
                        memory.lowerBoundPercent);
  if (!planned.precision.empty())
    os << "\nprecision: " << planned.precision;
  if (std::string costs = planned.costs.describe(); !costs.empty())
    os << "\ncosts: " << costs;
  os << "\n\nmemory\n";
  for (auto &[name, bytes] : memory.persistent)
    os << llvm::formatv("  {0,-24}{1,12}\n", name, formatBytes(bytes));
  os << llvm::formatv("  {0,-24}{1,12}", "activations, gradients",
                      formatBytes(memory.arenaBytes));
  if (options.import.batchSize)
    os << llvm::formatv(
        "  ({0} per sample)",
        formatBytes(memory.arenaBytes / *options.import.batchSize));
  if (memory.plainArenaBytes > memory.arenaBytes)
    os << "  (without a budget " << formatBytes(memory.plainArenaBytes) << ")";
  os << llvm::formatv("\n  {0,-24}{1,12}\n", "total",
                      formatBytes(memory.totalBytes));
  printTransfers(memory, os);
  os << "\nlargest tensors alive at '" << memory.peakOrigin << "'\n";
  constexpr size_t kMostTensors = 8;
  for (auto &[name, bytes] : ArrayRef(memory.alive).take_front(kMostTensors))
    os << llvm::formatv("  {0,-40}{1,12}\n", name, formatBytes(bytes));
  printDecisions(planned.decisions, os);
}

static llvm::json::Object planJson(const DriverOptions &options,
                                   const Planned &planned) {
  llvm::json::Object object{{"fits", planned.status == 0},
                            {"device", options.pipeline.schedule.device}};
  if (options.pipeline.schedule.memoryBudget > 0)
    object["budget_bytes"] = (int64_t)options.pipeline.schedule.memoryBudget;
  if (planned.status == 0) {
    object["memory"] = toJson(planned.memory);
    object["tensors"] = toJson(planned.decisions);
    object["costs"] = toJson(planned.costs);
  } else {
    object["smallest_budget_bytes"] = planned.smallestBudget;
  }
  return object;
}

static void printJson(llvm::json::Object object, std::optional<int64_t> batch,
                      ArrayRef<CurvePoint> points) {
  if (batch)
    object["largest_batch_size"] = *batch;
  llvm::json::Array curve;
  for (const CurvePoint &point : points)
    curve.push_back(llvm::json::Object{
        {"budget_bytes", point.budget},
        {"total_bytes", point.planned.memory.totalBytes},
        {"added_percent", point.planned.memory.addedPercent},
        {"lower_bound_percent", point.planned.memory.lowerBoundPercent}});
  if (!points.empty())
    object["curve"] = std::move(curve);
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
               << "\n";
}

int gpuopt::planModel(const DriverOptions &given) {
  constexpr int kCurvePoints = 11;
  DriverOptions options = given;
  bool takesLargest = options.plan.findBatchSize && !options.import.batchSize;
  if (takesLargest)
    options.import.batchSize = 1;
  Planned planned = plan(options);
  if (planned.status == 1 ||
      (planned.status == 2 && !options.plan.findBatchSize)) {
    if (options.plan.asJson && planned.status == 2)
      printJson(planJson(options, planned), std::nullopt, {});
    llvm::errs() << planned.errors;
    return planned.status;
  }
  std::optional<int64_t> batch;
  if (options.plan.findBatchSize)
    batch = largestBatch(options);
  if (takesLargest && *batch > 1) {
    options.import.batchSize = *batch;
    planned = plan(options);
  }
  int status = batch == 0 ? 2 : 0;
  std::vector<CurvePoint> points;
  if (options.plan.withCurve)
    points = curve(options, kCurvePoints);
  if (options.plan.asJson) {
    printJson(planJson(options, planned), batch, points);
    return status;
  }
  if (planned.status == 0)
    print(options, planned, llvm::outs());
  else
    llvm::errs() << planned.errors;
  if (batch)
    llvm::outs() << "\nlargest batch that fits: " << *batch << "\n";
  if (!points.empty())
    printCurve(points, llvm::outs());
  return status;
}
