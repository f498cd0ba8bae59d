//===- PlanPage.cpp - A plan as a page ------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/PlanPage.h"

#include "Report/Html.h"
#include "Report/PageFiles.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace gpuopt;
using html::escape;
using planning::formatBytes;

namespace {

/// Prints the sections of the page, from top to bottom.
class PagePrinter {
public:
  PagePrinter(const PlanPage &page, raw_ostream &os) : page(page), os(os) {}

  void print() {
    os << "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" "
          "lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
       << "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>"
       << escape(page.model) << ": memory plan</title>\n<style>\n"
       << page::kPageStyle << "</style>\n</head>\n<body>\n";
    printSummary();
    if (page.curve.size() > 1)
      printCurve();
    printMemory();
    printPeak();
    printDecisions();
    os << "</body>\n</html>\n";
  }

private:
  void printFact(StringRef value, StringRef what) {
    os << "<div><b>" << escape(value) << "</b><span>" << escape(what)
       << "</span></div>\n";
  }

  void printSummary() {
    const MemoryReport &memory = page.planned.memory;
    os << "<h1>" << escape(page.model) << "</h1>\n<div class=\"facts\">\n";
    printFact(formatBytes(memory.totalBytes),
              page.budgetInBytes ? "of " + formatBytes(page.budgetInBytes)
                                 : "on the device");
    printFact(formatv("{0:f2} ms", page.planned.stepMilliseconds()).str(),
              "a step, estimated");
    bool takesMore = takesMoreTime(memory.addedPercent);
    printFact(takesMore ? formatv("{0:f2} %", memory.addedPercent).str() : "no",
              "more time per step");
    if (takesMoreTime(std::abs(memory.addedPercent - memory.recomputePercent)))
      printFact(formatv("{0:f2} %", memory.recomputePercent).str(),
                "of the step for what is computed again; the rest is for "
                "other kernels and precisions");
    if (takesMore)
      printFact(formatv("{0:f2} %", memory.lowerBoundPercent).str(),
                "at least is computed again, in any schedule of this order");
    if (memory.hostBytes > 0)
      printFact(formatBytes(memory.hostBytes), "on the host");
    os << "</div>\n";
    std::string costs = page.planned.costs.describe();
    if (costs.empty())
      costs = "estimated by the rates of the device '" +
              page.planned.costs.table + "'";
    os << "<p>Times: " << escape(costs) << ".</p>\n";
    if (!page.planned.precision.empty())
      os << "<p>Precision: " << escape(page.planned.precision) << ".</p>\n";
  }

  /// Returns the size and the name of the unit in which the whole axis reads
  /// well.
  static std::pair<double, StringRef> unitOf(int64_t most) {
    constexpr std::pair<double, StringLiteral> kUnits[] = {
        {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}};
    for (auto &[bytes, name] : kUnits)
      if (double(most) >= 2 * bytes)
        return {bytes, name};
    return {1, "bytes"};
  }

  void printCurve() {
    auto [unit, name] = unitOf(page.curve.front().budgetInBytes);
    html::Chart chart;
    chart.xLabel = ("memory budget, " + name).str();
    chart.yLabel = "added time per step, %";
    html::Chart::Series plan{"the plan", "plan", {}},
        bound{"proven lower bound", "bound", {}};
    for (const BudgetPoint &point : page.curve) {
      double x = double(point.budgetInBytes) / unit;
      std::string budget = formatBytes(point.budgetInBytes) + ": ";
      plan.points.push_back(
          {x, point.addedPercent,
           budget + formatv("{0:f2} % more, {1} allocated", point.addedPercent,
                            formatBytes(point.totalInBytes))
                        .str()});
      bound.points.push_back(
          {x, point.lowerBoundPercent,
           budget + formatv("no schedule of this order computes less again "
                            "than {0:f2} %",
                            point.lowerBoundPercent)
                        .str()});
    }
    chart.series = {std::move(plan), std::move(bound)};
    if (page.budgetInBytes > 0 &&
        page.budgetInBytes <= page.curve.front().budgetInBytes) {
      chart.mark = double(page.budgetInBytes) / unit;
      chart.markLabel = "budget " + formatBytes(page.budgetInBytes);
    }
    os << "<h2>What a budget costs</h2>\n";
    chart.print(os);
    os << "<p>From no budget on the right to the smallest that can be met on "
          "the left.</p>\n";
  }

  void beginTable(ArrayRef<StringRef> headings) {
    os << "<table>\n<tr>";
    for (StringRef heading : headings)
      os << (heading == "bytes" ? "<th class=\"number\">" : "<th>") << heading
         << "</th>";
    os << "</tr>\n";
  }
  void printBytes(int64_t bytes) {
    os << "<td class=\"number\" title=\"" << bytes << " bytes\">"
       << formatBytes(bytes) << "</td>";
  }
  void printBar(int64_t bytes, int64_t most) {
    os << formatv("<td class=\"bar\"><div style=\"width: {0:f1}%\"></div></td>",
                  most > 0 ? 100.0 * double(bytes) / double(most) : 0);
  }

  void printMemory() {
    os << "<h2>Memory</h2>\n";
    beginTable({"what", "bytes", ""});
    auto parts = page.planned.memory.persistent;
    parts.push_back({"activations, gradients", page.planned.memory.arenaBytes});
    for (auto &[name, bytes] : parts) {
      os << "<tr><td>" << escape(name) << "</td>";
      printBytes(bytes);
      printBar(bytes, page.planned.memory.totalBytes);
      os << "</tr>\n";
    }
    os << "<tr><th>total</th>";
    printBytes(page.planned.memory.totalBytes);
    os << "<td></td></tr>\n</table>\n";
    if (page.planned.memory.plainArenaBytes > page.planned.memory.arenaBytes)
      os << "<p>Activations and gradients without a budget: "
         << formatBytes(page.planned.memory.plainArenaBytes) << ".</p>\n";
  }

  void printPeak() {
    if (page.planned.memory.alive.empty())
      return;
    os << "<h2>Tensors alive at the peak</h2>\n<p>When '"
       << escape(page.planned.memory.peakOrigin) << "' is computed.</p>\n";
    beginTable({"tensor", "type", "bytes", ""});
    for (const LiveTensor &tensor : page.planned.memory.alive) {
      os << "<tr><td>" << escape(tensor.name.text()) << "</td><td>"
         << escape(tensor.name.type) << "</td>";
      printBytes(tensor.bytes);
      printBar(tensor.bytes, page.planned.memory.alive.front().bytes);
      os << "</tr>\n";
    }
    os << "</table>\n";
  }

  void printDecisions() {
    os << "<h2>What the backward reads of the forward</h2>\n";
    beginTable({"tensor", "type", "bytes", "is", "why"});
    for (const TensorDecision &decision : page.planned.decisions) {
      os << "<tr><td>" << escape(decision.tensor.text()) << "</td><td>"
         << escape(decision.tensor.type) << "</td>";
      printBytes(decision.bytes);
      os << "<td>" << nameOf(decision.fate) << "</td><td>"
         << escape(decision.reason) << "</td></tr>\n";
    }
    os << "</table>\n";
  }

  const PlanPage &page;
  raw_ostream &os;
};

} // namespace

void PlanPage::print(raw_ostream &os) const { PagePrinter(*this, os).print(); }
