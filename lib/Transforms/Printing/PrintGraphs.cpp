//===- PrintGraphs.cpp - The problems that are solved ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "gpuopt/Analysis/Memory/StepGraph.h"
#include "gpuopt/Analysis/Precision/PrecisionGraph.h"
#include "gpuopt/Transforms/Printing/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::printing {
#define GEN_PASS_DEF_PRINTPRECISIONGRAPH
#define GEN_PASS_DEF_PRINTSTEPGRAPH
#include "gpuopt/Transforms/Printing/Passes.h.inc"
} // namespace gpuopt::printing

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::printing;

//===----------------------------------------------------------------------===//
// The step graph
//===----------------------------------------------------------------------===//

static std::string describeNode(int number, const planning::RecomputeOp &op) {
  std::string text = llvm::formatv("node {0}: {1} bytes, {2:f0} ns", number,
                                   op.sizeInBytes, op.cost);
  SmallVector<int64_t> inputs(op.inputs.begin(), op.inputs.end());
  if (!inputs.empty())
    text += ", reads " + listOf(inputs);
  if (op.storage >= 0)
    text += (op.overwrites ? ", overwrites " : ", lies in ") +
            std::to_string(op.storage);
  if (op.workspaceInBytes > 0)
    text += llvm::formatv(", workspace of {0} bytes", op.workspaceInBytes);
  if (op.pinned)
    text += ", wanted at the end";
  if (!op.recomputable)
    text += ", runs once";
  return text;
}

static void printStepGraph(train::StepOp step, const DeviceModel &device) {
  StepGraph graph = buildStepGraph(step, device);
  for (auto [number, node] : llvm::enumerate(graph.nodes))
    node.op->emitRemark() << describeNode(number, graph.problem.ops[number]);
}

//===----------------------------------------------------------------------===//
// The precision graph
//===----------------------------------------------------------------------===//

static void describeChoice(Operation *op, StringRef what, int number,
                           const PrecisionGraph &graph) {
  using Rule = planning::PrecisionChoice::Rule;
  const planning::PrecisionChoice &choice = graph.problem.choices[number];
  InFlightDiagnostic remark = op->emitRemark();
  remark << "choice " << number << ": " << what << ", " << choice.halfCost
         << " in half precision, " << choice.fullCost << " in full";
  if (choice.rule == Rule::Half)
    remark << ", always half";
  if (choice.rule == Rule::Full)
    remark << ", always full";
}

static LogicalResult printPrecisionGraph(train::StepOp step,
                                         const DeviceModel &device) {
  PrecisionPolicy policy;
  PrecisionOptions options;
  options.halfType = Float16Type::get(step.getContext());
  auto graph = buildPrecisionGraph(step, device, policy, options);
  if (!graph)
    return step.emitError() << llvm::toString(graph.takeError());
  std::vector<bool> isTold(graph->problem.choices.size());
  auto tell = [&](Operation *op, StringRef what, int number) {
    isTold[number] = true;
    describeChoice(op, what, number, *graph);
  };
  for (auto [op, number] : graph->productOf)
    tell(op, "product", number);
  for (auto [value, number] : graph->tensorOf)
    if (Operation *op = value.getDefiningOp())
      tell(op, "tensor", number);
  // Copies of inputs, parameters and tensors belong to no op.
  for (auto [number, choice] : llvm::enumerate(graph->problem.choices))
    if (!isTold[number])
      tell(step, choice.name, number);
  for (const planning::PrecisionPenalty &penalty : graph->problem.penalties) {
    InFlightDiagnostic remark = step.emitRemark();
    remark << "half precision for choice " << penalty.half
           << " and full precision for choice " << penalty.full;
    if (penalty.cost == planning::kForbidden)
      remark << " exclude each other";
    else
      remark << " cost " << penalty.cost;
  }
  return success();
}

namespace {

/// Prints a text for each step, with the times of a device.
template <class Print>
LogicalResult printSteps(ModuleOp module, StringRef device, Print print) {
  FailureOr<DeviceModel> model = loadDeviceModel(module, device);
  if (failed(model))
    return failure();
  for (train::StepOp step : module.getOps<train::StepOp>())
    if (failed(print(step, *model)))
      return failure();
  return success();
}

class PrintStepGraph
    : public printing::impl::PrintStepGraphBase<PrintStepGraph> {
public:
  using PrintStepGraphBase::PrintStepGraphBase;

private:
  void runOnOperation() override {
    auto print = [](train::StepOp step, const DeviceModel &model) {
      printStepGraph(step, model);
      return success();
    };
    if (failed(printSteps(getOperation(), device, print)))
      signalPassFailure();
  }
};

class PrintPrecisionGraph
    : public printing::impl::PrintPrecisionGraphBase<PrintPrecisionGraph> {
public:
  using PrintPrecisionGraphBase::PrintPrecisionGraphBase;

private:
  void runOnOperation() override {
    if (failed(printSteps(getOperation(), device, printPrecisionGraph)))
      signalPassFailure();
  }
};

} // namespace
