//===- KernelReport.cpp - How fast the kernels of a step are --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/KernelReport.h"

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns the names of kernels and calls by the work that the ops of the
/// program say they do.
static llvm::StringMap<std::string> namesByWork(ModuleOp module) {
  llvm::StringMap<std::string> names;
  auto add = [&](Operation *op, Attribute key) {
    auto parts = dyn_cast_or_null<ArrayAttr>(key);
    if (parts && parts.size() == 2)
      names.try_emplace(cast<StringAttr>(parts[1]).getValue(),
                        device::nameOfWork(op));
  };
  module.walk([&](Operation *op) {
    add(op, op->getAttr(device::kCostKeyAttribute));
    auto iterations =
        op->getAttrOfType<ArrayAttr>(device::kIterationsAttribute);
    for (unsigned iteration = 0; iterations && iteration < iterations.size();
         ++iteration)
      add(op, device::attributeInIteration(op, iteration,
                                           device::kCostKeyAttribute));
  });
  return names;
}

static void add(const KernelEstimate &estimate, KernelEstimate &sum) {
  sum.launches += estimate.launches;
  sum.nanoseconds += estimate.nanoseconds;
  sum.bytes += estimate.bytes;
  sum.laneInstructions += estimate.laneInstructions;
  sum.loadsInFlight = std::max(sum.loadsInFlight, estimate.loadsInFlight);
}

KernelReport gpuopt::nameKernels(ModuleOp module,
                                 std::vector<KernelEstimate> estimates,
                                 const DeviceModel &device) {
  llvm::StringMap<std::string> names = namesByWork(module);
  llvm::MapVector<StringAttr, KernelReport::Row> rows;
  for (const KernelEstimate &estimate : estimates) {
    auto found = names.find(estimate.work);
    std::string name = found == names.end() ? estimate.work : found->second;
    KernelReport::Row &row = rows[StringAttr::get(module.getContext(), name)];
    row.name = name;
    row.works.push_back(estimate.work);
    add(estimate, row.sum);
  }
  KernelReport report;
  report.device = device;
  for (auto &[name, row] : rows)
    report.rows.push_back(std::move(row));
  llvm::sort(report.rows, [](const auto &a, const auto &b) {
    return std::tie(b.sum.nanoseconds, a.name) <
           std::tie(a.sum.nanoseconds, b.name);
  });
  return report;
}

//===----------------------------------------------------------------------===//
// Text and JSON
//===----------------------------------------------------------------------===//

static double instructionsPerByte(const KernelEstimate &sum) {
  return sum.bytes > 0 ? sum.laneInstructions / sum.bytes : 0;
}

/// Returns the bandwidth that the kernels reach, in percent of the device's.
static double bandwidthPercent(const KernelEstimate &sum,
                               double bytesPerSecond) {
  return 100 * sum.bytes / (sum.nanoseconds * 1e-9 * bytesPerSecond);
}

void KernelReport::print(llvm::raw_ostream &stream) const {
  stream << llvm::formatv("\n{0,-44}{1,9}{2,10}{3,11}{4,7}{5,14}{6,11}\n",
                          "kernel or call", "launches", "ms", "MB", "loads",
                          "instr./byte", "bandwidth");
  KernelEstimate all;
  auto line = [&](StringRef name, const KernelEstimate &sum) {
    std::string loads = sum.loadsInFlight > 0
                            ? std::to_string(int64_t(sum.loadsInFlight))
                            : "-";
    stream << llvm::formatv(
        "{0,-44}{1,9}{2,10:f3}{3,11:f1}{4,7}{5,14:f1}{6,9:f0} %\n", name,
        sum.launches, sum.nanoseconds / 1e6, sum.bytes / 1e6, loads,
        instructionsPerByte(sum), bandwidthPercent(sum, device.bytesPerSecond));
  };
  for (const Row &row : rows) {
    line(row.name, row.sum);
    add(row.sum, all);
  }
  all.loadsInFlight = 0;
  line("all", all);
}

llvm::json::Array gpuopt::toJson(const KernelReport &report) {
  llvm::json::Array array;
  for (const KernelReport::Row &row : report.rows)
    array.push_back(llvm::json::Object{
        {"name", row.name},
        {"works", llvm::json::Array(row.works)},
        {"launches", row.sum.launches},
        {"ms", row.sum.nanoseconds / 1e6},
        {"bytes", row.sum.bytes},
        {"loads_in_flight", row.sum.loadsInFlight},
        {"instructions_per_byte", instructionsPerByte(row.sum)},
        {"bandwidth_percent",
         bandwidthPercent(row.sum, report.device.bytesPerSecond)}});
  return array;
}
