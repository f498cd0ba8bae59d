//===- ReserveWorkspace.cpp - Memory of libraries and staged batches ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptionRange.h"
#include "gpuopt/Analysis/Costs/ConvolutionPlans.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"
#include "gpuopt/Planning/Bytes.h"
#include "gpuopt/Support/TensorSize.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_RESERVEWORKSPACE
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

/// Each loader copies one batch while the step reads another.
static constexpr int64_t kStagedBatches = 2;
/// One loader is for training and one for evaluation.
static constexpr int64_t kLoaders = 2;

static int64_t alignedBytes(Type type) {
  return alignedSizeInBytes(cast<RankedTensorType>(type));
}

/// Returns the bytes of a batch of every input of all steps.
static int64_t batchBytes(ModuleOp module) {
  llvm::StringMap<int64_t> inputs;
  for (StepOp step : module.getOps<StepOp>())
    for (auto [name, argument] :
         llvm::zip(step.getInputNames(), step.getBody().getArguments()))
      inputs[cast<StringAttr>(name).getValue()] =
          alignedBytes(argument.getType());
  int64_t bytes = 0;
  for (auto &input : inputs)
    bytes += input.second;
  return bytes;
}

namespace {

class ReserveWorkspace
    : public train::impl::ReserveWorkspaceBase<ReserveWorkspace> {
public:
  using ReserveWorkspaceBase::ReserveWorkspaceBase;

private:
  void runOnOperation() override {
    if (failed(expectAtLeast(getOperation(), 0,
                             {{"workspace-bytes", workspaceBytes}})) ||
        failed(checkFirstTime()))
      return signalPassFailure();
    if (failed(loadPlans()))
      return signalPassFailure();
    int64_t bytes = 0;
    bool suffices = true;
    for (StepOp step : getOperation().getOps<StepOp>())
      step.walk([&](RuntimeCallOpInterface call) {
        suffices &= succeeded(checkSuffices(call));
        bytes = std::max(bytes, workspaceOf(call));
      });
    if (!suffices)
      return signalPassFailure();
    warnOfEstimates();
    if (bytes > 0 && workspaceBytes > 0)
      bytes = workspaceBytes;
    reserve("library_workspace", VariableKind::Workspace, bytes);
    reserve("staged_batches", VariableKind::Staging,
            kLoaders * kStagedBatches * batchBytes(getOperation()));
  }

  /// Fails if the pass has run before, because everything would be reserved
  /// twice.
  LogicalResult checkFirstTime() {
    for (auto variable : getOperation().getOps<VariableOp>())
      if (variable.getKind() == VariableKind::Workspace ||
          variable.getKind() == VariableKind::Staging)
        return variable.emitOpError(
            "is there already: 'train-reserve-workspace' runs once");
    return success();
  }

  /// Reads the file of plans, if there is one.
  LogicalResult loadPlans() {
    plans.reset();
    convolutions = unlisted = refused = 0;
    if (convolutionPlans.empty())
      return success();
    llvm::Expected<ConvolutionPlans> loaded =
        ConvolutionPlans::load(convolutionPlans);
    if (!loaded)
      return getOperation().emitError(llvm::toString(loaded.takeError()));
    plans = std::move(*loaded);
    return success();
  }

  void warnOfEstimates() {
    if (unlisted > 0)
      getOperation().emitWarning("'")
          << convolutionPlans << "' does not list " << unlisted << " of "
          << convolutions
          << " convolutions, whose workspace is estimated; plan them: "
             "gpuopt-plan-convolutions PROGRAM/plan.json";
    if (refused > 0)
      getOperation().emitWarning("'")
          << convolutionPlans << "' says that cuDNN has no plan for " << refused
          << " of " << convolutions
          << " convolutions; cuDNN's older calls compute them, in a workspace "
             "that is estimated";
  }

  /// Returns the bytes of scratch memory that a call asks for.
  int64_t workspaceOf(RuntimeCallOpInterface call) {
    std::optional<CallLayouts> layouts = plans ? layoutsOf(call) : std::nullopt;
    if (!layouts)
      return call.getWorkspaceInBytes();
    RuntimeCall made = call.getCall(*layouts);
    if (!ConvolutionPlans::isConvolution(made))
      return call.getWorkspaceInBytes();
    ++convolutions;
    if (std::optional<int64_t> planned = plans->workspaceInBytes(made))
      return std::max(*planned, call.getRequiredWorkspaceInBytes());
    ++(plans->hasEntryFor(made) ? refused : unlisted);
    return call.getWorkspaceInBytes();
  }

  /// Checks that the workspace is enough for a call. Libraries can choose an
  /// algorithm that needs less; the runtime's own kernels cannot.
  LogicalResult checkSuffices(RuntimeCallOpInterface call) {
    int64_t required = call.getRequiredWorkspaceInBytes();
    if (workspaceBytes == 0 || required <= workspaceBytes)
      return success();
    return call->emitOpError("needs a workspace of at least ")
           << planning::formatBytes(required) << ", but it is "
           << planning::formatBytes(workspaceBytes);
  }

  void reserve(StringRef name, VariableKind kind, int64_t bytes) {
    if (bytes == 0)
      return;
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    VariableOp::create(builder, builder.getUnknownLoc(),
                       freeSymbol(getOperation(), name), kind,
                       RankedTensorType::get({bytes}, builder.getI8Type()),
                       FlatSymbolRefAttr());
  }

  std::optional<ConvolutionPlans> plans;
  int64_t convolutions = 0;
  int64_t unlisted = 0, refused = 0; ///< Of these, those without a plan.
};

} // namespace
