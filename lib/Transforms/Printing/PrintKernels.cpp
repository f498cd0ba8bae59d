//===- PrintKernels.cpp - What kernels are made of ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Words.h"
#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Kernels/LaunchShape.h"
#include "gpuopt/Transforms/Printing/Passes.h"

namespace gpuopt::printing {
#define GEN_PASS_DEF_PRINTCLUSTERS
#define GEN_PASS_DEF_PRINTLAUNCHSHAPES
#include "gpuopt/Transforms/Printing/Passes.h.inc"
} // namespace gpuopt::printing

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::printing;

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

static std::string describeOrder(const Clustering &clustering) {
  std::string text;
  for (const ProgramUnit &unit : clustering.order)
    text += (text.empty() ? "" : ", ") +
            (unit.op ? unit.op->getName().getStringRef().str()
                     : "cluster " + std::to_string(unit.cluster));
  return text;
}

static void printClusters(train::StepOp step) {
  Clustering clustering = findClusters(step.getBody().front());
  step.emitRemark() << "runs " << describeOrder(clustering);
  for (auto [number, cluster] : llvm::enumerate(clustering.clusters))
    for (Value output : cluster.outputs) {
      InFlightDiagnostic remark = output.getDefiningOp()->emitRemark();
      remark << "made by cluster " << number << ", which iterates over "
             << listOf(cluster.space.shape);
      if (!cluster.space.reducedDims.empty())
        remark << " and reduces " << listOf(cluster.space.reducedDims);
    }
}

//===----------------------------------------------------------------------===//
// Launch shapes
//===----------------------------------------------------------------------===//

static StringRef nameOf(KernelForm form) {
  switch (form) {
  case KernelForm::Flat:
    return "flat";
  case KernelForm::Rows:
    return "rows";
  case KernelForm::RowReduction:
    return "row reduction";
  case KernelForm::ColumnReduction:
    return "column reduction";
  }
  return "";
}

/// Returns "1024 x 128 (reduced)".
static std::string describeLoops(const KernelShape &shape) {
  std::string text;
  for (const LoopDim &loop : shape.loops)
    text += (text.empty() ? "" : " x ") + std::to_string(loop.size) +
            (loop.isReduced ? " (reduced)" : "");
  return text;
}

static void printLaunchShape(nn::FusedOp op, const DeviceModel &device) {
  SmallVector<StridedView> operands, results;
  for (Value input : op.getInputs())
    operands.push_back(*viewOf(input));
  for (Value result : op.getResults())
    results.push_back(destinationOf(result));
  KernelShape shape = kernelShape(op, operands, results);
  LaunchShape launch = launchShapeOf(shape, /*lanes=*/4, device);
  op.emitRemark() << nameOf(launch.form) << ", loops " << describeLoops(shape)
                  << ": " << launch.blocks << " blocks of " << launch.threads
                  << " threads, each with " << launch.span;
}

namespace {

class PrintClusters : public printing::impl::PrintClustersBase<PrintClusters> {
  void runOnOperation() override {
    for (train::StepOp step : getOperation().getOps<train::StepOp>())
      printClusters(step);
  }
};

class PrintLaunchShapes
    : public printing::impl::PrintLaunchShapesBase<PrintLaunchShapes> {
public:
  using PrintLaunchShapesBase::PrintLaunchShapesBase;

private:
  void runOnOperation() override {
    FailureOr<DeviceModel> model = loadDeviceModel(getOperation(), device);
    if (failed(model))
      return signalPassFailure();
    getOperation()->walk([&](nn::FusedOp op) { printLaunchShape(op, *model); });
  }
};

} // namespace
