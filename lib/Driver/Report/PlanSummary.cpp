//===- PlanSummary.cpp - A plan for the terminal, and as JSON -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/PlanSummary.h"

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace gpuopt;
using planning::formatBytes;

/// Returns the memory of the whole device; 0 if it is not fixed.
static int64_t deviceMemory(const DriverOptions &options) {
  llvm::Expected<DeviceModel> model =
      loadDeviceModel(options.pipeline.schedule.device);
  if (model)
    return model->memoryInBytes;
  llvm::consumeError(model.takeError());
  return 0;
}

/// Whether the device has as much memory as a program takes.
static bool fitsDevice(const MemoryReport &memory, int64_t deviceBytes) {
  return deviceBytes == 0 || memory.totalBytes <= deviceBytes;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printBytes(StringRef name, int64_t bytes, llvm::raw_ostream &os) {
  os << llvm::formatv("  {0,-24}{1,12}", name, formatBytes(bytes));
}

/// Returns what a budget costs: "3.25 % more time".
static std::string moreTime(double percent) {
  return takesMoreTime(percent)
             ? llvm::formatv("{0:f2} % more time", percent).str()
             : "no more time";
}

/// Whether a budget costs time beside what is computed again.
static bool costsByKernels(double addedPercent, double recomputePercent) {
  return takesMoreTime(std::abs(addedPercent - recomputePercent));
}

/// Returns what the added time of a step is for, as the rest of a sentence.
static std::string partsOfAddedTime(const MemoryReport &memory) {
  if (!takesMoreTime(memory.addedPercent))
    return "";
  std::string proven = llvm::formatv(
      ", of which {0:f2} % are proven to be needed", memory.lowerBoundPercent);
  if (!costsByKernels(memory.addedPercent, memory.recomputePercent))
    return proven;
  return llvm::formatv(" than without a budget: {0:f2} % for other kernels and "
                       "precisions, and {1:f2} % for what is computed again{2}",
                       memory.addedPercent - memory.recomputePercent,
                       memory.recomputePercent, proven);
}

void gpuopt::printHeadline(const DriverOptions &options, const Planned &planned,
                           bool namesBatch, llvm::raw_ostream &os) {
  const MemoryReport &memory = planned.memory;
  int64_t budget = options.pipeline.schedule.memoryBudget;
  os << llvm::sys::path::filename(options.model);
  if (namesBatch)
    os << " with batch size " << *options.import.batchSize;
  os << ": " << formatBytes(memory.totalBytes);
  if (budget > 0)
    os << " of " << formatBytes(budget);
  os << ", " << moreTime(memory.addedPercent) << " per step on "
     << planned.costs.place() << partsOfAddedTime(memory);
  if (int64_t bytes = deviceMemory(options); !fitsDevice(memory, bytes))
    os << "\nthat is more than the " << formatBytes(bytes) << " of "
       << options.pipeline.schedule.device
       << ": plan within what it has by --memory-budget=auto, or take a "
          "smaller "
          "batch";
  os << llvm::formatv("\na step: {0:f3} ms, estimated\n",
                      planned.stepMilliseconds());
}

/// Prints what the estimates rest on, and what is in half precision.
static void printChoices(const Planned &planned, llvm::raw_ostream &os) {
  if (std::string costs = planned.costs.describe(); !costs.empty())
    os << "costs: " << costs << "\n";
  if (!planned.precision.empty())
    os << "precision: " << planned.precision << "\n";
}

static void printMemory(const DriverOptions &options,
                        const MemoryReport &memory, llvm::raw_ostream &os) {
  os << "\nmemory\n";
  for (auto &[name, bytes] : memory.persistent) {
    printBytes(name, bytes, os);
    os << "\n";
  }
  printBytes("activations, gradients", memory.arenaBytes, os);
  if (options.import.batchSize)
    os << "  (" << formatBytes(memory.arenaBytes / *options.import.batchSize)
       << " per sample)";
  if (memory.plainArenaBytes > memory.arenaBytes)
    os << "  (without a budget " << formatBytes(memory.plainArenaBytes) << ")";
  os << "\n";
  printBytes("total", memory.totalBytes, os);
  os << "\n";
  if (memory.optimizers.empty())
    return;
  os << "\noptimizer state, by --optimizer\n";
  for (auto &[name, bytes] : memory.optimizers) {
    printBytes(name, bytes, os);
    os << "\n";
  }
}

/// Prints the memory of the host and the time of the link that offloading
/// takes.
static void printTransfers(const MemoryReport &memory, llvm::raw_ostream &os) {
  if (memory.hostBytes == 0)
    return;
  printBytes("on the host", memory.hostBytes, os);
  os << llvm::formatv("\n\ntransfers: {0} a step, {1:f3} ms, of which the step "
                      "waits for {2:f3} ms\n",
                      formatBytes(memory.transferBytes),
                      memory.transferMilliseconds,
                      memory.transferWaitMilliseconds);
}

static void printPeak(const MemoryReport &memory, llvm::raw_ostream &os) {
  constexpr size_t kMostTensors = 8;
  os << "\nlargest tensors alive at '" << memory.peakOrigin << "'\n";
  for (const LiveTensor &tensor :
       ArrayRef(memory.alive).take_front(kMostTensors))
    os << llvm::formatv("  {0,-40}{1,12}  {2}\n", tensor.name.text(),
                        formatBytes(tensor.bytes), tensor.name.type);
}

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

/// Prints a row for each budget, but one that reads like the row above it only
/// once: few bytes lie between the budgets of a small model.
static void printCurve(ArrayRef<BudgetPoint> points, llvm::raw_ostream &os) {
  constexpr int kWidth = 40;
  double most = 1;
  for (const BudgetPoint &point : points)
    most = std::max(most, point.addedPercent);
  os << "\nbudget        allocated     added time   at least\n";
  std::string above;
  for (const BudgetPoint &point : points) {
    std::string row = llvm::formatv(
        "{0,-14}{1,-14}{2,8:f2} % {3,8:f2} %  {4}\n",
        formatBytes(point.budgetInBytes), formatBytes(point.totalInBytes),
        point.addedPercent, point.lowerBoundPercent,
        std::string(size_t(std::max(0., kWidth * point.addedPercent / most)),
                    '#'));
    if (row != above)
      os << row;
    above = row;
  }
  if (llvm::any_of(points, [](const BudgetPoint &point) {
        return costsByKernels(point.addedPercent, point.recomputePercent);
      }))
    os << "added time is over the step without a budget, and includes other "
          "kernels and precisions; 'at least' is proven of what is computed "
          "again\n";
}

static void printLargest(const LargestBatch &largest, llvm::raw_ostream &os) {
  os << "\nlargest batch that fits: " << largest.size;
  if (largest.size > 0)
    os << ", at " << moreTime(largest.addedPercent) << " per step; "
       << llvm::format("%.3g", largest.millisecondsPerSample) << " ms a sample";
  os << "\n";
}

void PlanSummary::print(const DriverOptions &options,
                        llvm::raw_ostream &os) const {
  if (planned.status == 0) {
    printHeadline(options, planned, largestBatch.has_value(), os);
    printChoices(planned, os);
    printMemory(options, planned.memory, os);
    printTransfers(planned.memory, os);
    printPeak(planned.memory, os);
    printDecisions(planned.decisions, os);
    if (options.plan.withKernels)
      planned.kernels.print(os);
  }
  if (largestBatch)
    printLargest(*largestBatch, os);
  if (!curve.empty())
    printCurve(curve, os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Array curveJson(ArrayRef<BudgetPoint> points) {
  llvm::json::Array array;
  for (const BudgetPoint &point : points)
    array.push_back(
        llvm::json::Object{{"budget_bytes", point.budgetInBytes},
                           {"total_bytes", point.totalInBytes},
                           {"added_percent", point.addedPercent},
                           {"recompute_percent", point.recomputePercent},
                           {"lower_bound_percent", point.lowerBoundPercent}});
  return array;
}

llvm::json::Object PlanSummary::toJson(const DriverOptions &options) const {
  llvm::json::Object object;
  if (planned.status == 0) {
    object["memory"] = gpuopt::toJson(planned.memory);
    object["tensors"] = gpuopt::toJson(planned.decisions);
    object["costs"] = gpuopt::toJson(planned.costs);
    object["step_ms"] = planned.stepMilliseconds();
    if (options.plan.withKernels) {
      object["kernels"] = gpuopt::toJson(planned.kernels);
      object["device_model"] = gpuopt::toJson(planned.kernels.device);
    }
  } else {
    object = gpuopt::toJson(planned.unmet);
    if (!options.pipeline.schedule.searchSmallest)
      object.erase("smallest_budget_bytes"); // nobody knows it
  }
  object["fits"] = planned.status == 0;
  object["device"] = options.pipeline.schedule.device;
  if (int64_t bytes = deviceMemory(options)) {
    object["device_memory_bytes"] = bytes;
    if (planned.status == 0)
      object["fits_device"] = fitsDevice(planned.memory, bytes);
  }
  if (options.import.batchSize)
    object["batch_size"] = *options.import.batchSize;
  if (options.pipeline.schedule.memoryBudget > 0)
    object["budget_bytes"] = (int64_t)options.pipeline.schedule.memoryBudget;
  if (options.pipeline.schedule.activationBudget > 0)
    object["activation_budget_bytes"] =
        (int64_t)options.pipeline.schedule.activationBudget;
  if (largestBatch) {
    object["largest_batch_size"] = largestBatch->size;
    object["largest_batch_added_percent"] = largestBatch->addedPercent;
    object["largest_batch_ms_per_sample"] = largestBatch->millisecondsPerSample;
  }
  if (!curve.empty())
    object["curve"] = curveJson(curve);
  return object;
}
