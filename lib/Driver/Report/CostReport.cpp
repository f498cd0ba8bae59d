//===- CostReport.cpp - How long a step takes, and by which times ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/CostReport.h"

#include "gpuopt/Analysis/Costs/MeasuredCosts.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace gpuopt;

/// A file with fewer times than this share was measured on another program.
/// Such a file still has times of some ops, since every program reports a loss
/// and counts labels. A file of the same program with another batch size or
/// precision has at least a tenth of the ops, because the updates of parameters
/// are the same.
static constexpr double kLeastPercent = 10, kMostlyPercent = 50;

static double percentOf(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

double CostReport::measuredPercent() const {
  return percentOf(step.measuredNanoseconds, step.nanoseconds);
}

/// Returns the share of the measured ops in the time that the rates of the
/// device give, so that one op that is slow where it was measured does not make
/// a file one of this program.
static double ratedPercent(const StepEstimate &step) {
  return percentOf(step.ratedMeasuredNanoseconds, step.ratedNanoseconds);
}

static bool isOfAnother(const StepEstimate &step) {
  return ratedPercent(step) < kLeastPercent &&
         percentOf(double(step.measuredOps), double(step.ops)) < kLeastPercent;
}

/// Returns "'mlp.json' was measured on model 'mlp' and has times for 1 of 229
/// ops of this model with these flags, 0.1 % of the time by --device=host".
static std::string describeShare(const CostReport &report) {
  return llvm::formatv(
      "'{0}' was measured on model '{1}' and has times for {2} "
      "of {3} ops of this model with these flags, {4:f1} % of "
      "the time by --device={5}",
      report.file, report.model, report.step.measuredOps, report.step.ops,
      ratedPercent(report.step), report.table);
}

std::string CostReport::warning() const {
  if (file.empty() || ratedPercent(step) >= kMostlyPercent)
    return "";
  return "--profile-costs: " + describeShare(*this) +
         "; the trainer of this program measures them all: trainer "
         "--profile-costs-to=FILE";
}

std::string CostReport::place() const {
  return file.empty() ? table : "'" + device + "'";
}

std::string CostReport::describe() const {
  if (file.empty())
    return "";
  std::string text = llvm::formatv(
      "{0} of {1} ops are measured on '{2}', {3:f1} % of the estimated time",
      step.measuredOps, step.ops, device, measuredPercent());
  return step.measuredOps < step.ops
             ? text + "; the others by --device=" + table
             : text;
}

llvm::Expected<CostReport> gpuopt::reportCosts(const DriverOptions &options,
                                               ModuleOp module) {
  const train::ScheduleOptions &schedule = options.pipeline.schedule;
  llvm::Expected<DeviceModel> device = loadDeviceModel(
      schedule.device, schedule.profileCosts, schedule.allowsTf32);
  if (!device)
    return device.takeError();
  CostReport report;
  report.step =
      estimateStep(module, *device, options.emission.accumulationSteps);
  report.withoutBudget = report.step;
  report.table = schedule.device;
  if (!device->measured)
    return report;
  report.file = schedule.profileCosts;
  report.model = device->measured->model;
  report.device = device->measured->device;
  if (isOfAnother(report.step))
    return llvm::createStringError("--profile-costs: " + describeShare(report) +
                                   "; measure it: trainer "
                                   "--profile-costs-to=FILE");
  return report;
}

llvm::json::Object gpuopt::toJson(const CostReport &report) {
  llvm::json::Object object{{"step_ms", report.step.nanoseconds / 1e6},
                            {"ops", report.step.ops},
                            {"measured_ops", report.step.measuredOps},
                            {"measured_percent", report.measuredPercent()}};
  if (!report.file.empty()) {
    object["file"] = report.file;
    object["device"] = report.device;
  }
  return object;
}
