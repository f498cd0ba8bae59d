//===- PlanText.cpp - Problems and plans as JSON --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/PlanText.h"

#include <cstdio>

using namespace gpuopt::planning;

/// Returns a number with all digits that a double has.
static std::string text(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", number);
  return buffer;
}

template <class Range>
static std::string list(const Range &values) {
  std::string result = "[";
  for (auto value : values) {
    if (result.size() > 1)
      result += ",";
    result += std::to_string(value);
  }
  return result + "]";
}

static std::string printNode(int id, const RecomputeOp &op) {
  std::string node = "{\"id\":" + std::to_string(id) +
                     ",\"bytes\":" + std::to_string(op.sizeInBytes) +
                     ",\"cost\":" + text(op.cost);
  if (op.workspaceInBytes != 0)
    node += ",\"workspace\":" + std::to_string(op.workspaceInBytes);
  if (op.repeatWorkspace() != op.workspaceInBytes)
    node += ",\"repeat_workspace\":" + std::to_string(op.repeatWorkspace());
  if (op.storage >= 0)
    node += ",\"storage\":" + std::to_string(op.storage);
  if (op.overwrites)
    node += ",\"overwrites\":true";
  if (op.pinned)
    node += ",\"pinned\":true";
  if (!op.recomputable)
    node += ",\"recomputable\":false";
  if (op.offloadCost)
    node += ",\"offload_cost\":" + text(*op.offloadCost);
  return node + "}";
}

static std::string printSchedule(const Schedule &schedule) {
  std::string result = "[";
  for (int entry : schedule) {
    if (result.size() > 1)
      result += ",";
    std::string op = std::to_string(opOf(entry));
    result += isReload(entry) ? "{\"reload\":" + op + "}" : op;
  }
  return result + "]";
}

std::string gpuopt::planning::printProblem(const RecomputeProblem &problem) {
  std::string nodes, edges;
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    nodes += (i ? ",\n" : "") + printNode(int(i), problem.ops[i]);
    for (int input : problem.ops[i].inputs)
      edges +=
          (edges.empty() ? "" : ",") + list(std::vector<int>{input, int(i)});
  }
  return "{\"nodes\":[\n" + nodes + "],\n\"edges\":[" + edges + "]}\n";
}

std::string gpuopt::planning::printPlan(const PlanClaim &plan, bool withFlows) {
  const Certificate &certificate = plan.certificate;
  std::string flows;
  for (const Certificate::Flow &f : certificate.flows)
    if (withFlows)
      flows += (flows.empty() ? "" : ",") +
               list(std::vector<int64_t>{f.kind, f.op, f.timePoint, f.other,
                                         f.amount});
  std::string proof =
      withFlows ? "\"flows\":[" + flows + "]"
                : "\"flow_count\":" + std::to_string(certificate.flows.size());
  return "{\"budget_bytes\":" + std::to_string(plan.budgetInBytes) +
         ",\"peak_bytes\":" + std::to_string(plan.peakInBytes) +
         ",\n\"added_percent\":" + text(plan.addedPercent) +
         ",\"lower_bound_percent\":" + text(plan.lowerBoundPercent) +
         ",\n\"schedule\":" + printSchedule(plan.schedule) +
         ",\n\"certificate\":{\"order\":\"fixed\",\"time_points\":" +
         list(certificate.timePoints) +
         ",\"prices\":" + list(certificate.prices) +
         ",\"cost_shift\":" + std::to_string(certificate.costShift) +
         ",\"price_shift\":" + std::to_string(certificate.priceShift) + ",\n" +
         proof + "}}\n";
}
