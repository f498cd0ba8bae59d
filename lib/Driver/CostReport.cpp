//===- CostReport.cpp - How long a step takes, and by which times ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostReport.h"

#include "gpuopt/Analysis/MeasuredCosts.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace gpuopt;

double CostReport::measuredPercent() const {
  return step.nanoseconds > 0
             ? 100 * step.measuredNanoseconds / step.nanoseconds
             : 0;
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
  report.table = schedule.device;
  if (!device->measured)
    return report;
  report.file = schedule.profileCosts;
  report.device = device->measured->device;
  if (report.step.measuredOps == 0)
    return llvm::createStringError(
        "--profile-costs: '" + report.file + "' is of model '" +
        device->measured->model +
        "', but has no time of any op of this one with these flags; measure "
        "it: trainer --profile-costs-to=FILE");
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
