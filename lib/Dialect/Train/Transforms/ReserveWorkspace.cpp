//===- ReserveWorkspace.cpp - Memory of libraries and staged batches ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptionRange.h"
#include "gpuopt/Analysis/StepMemory.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "gpuopt/Planning/Bytes.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_RESERVEWORKSPACE
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

static constexpr int64_t kMiB = int64_t(1) << 20;

/// What NVIDIA recommends for cuBLASLt on its newer GPUs.
static constexpr int64_t kProductBytes = 32 * kMiB;

/// cuDNN has no bound for its workspaces; these are a multiple of the largest
/// tensor of the convolution.
static constexpr int64_t kLeastConvBytes = 16 * kMiB;
static constexpr int64_t kMostConvBytes = 256 * kMiB;
static constexpr int64_t kConvTensors = 4;

/// Each loader copies one batch while the step reads another.
static constexpr int64_t kStagedBatches = 2;
/// Of training and of evaluation.
static constexpr int64_t kLoaders = 2;

static int64_t alignedBytes(Type type) {
  return llvm::alignTo(device::sizeInBytes(cast<RankedTensorType>(type)),
                       kBufferAlignment);
}

/// cuDNN's own scratch, and the filters in its order.
static int64_t convBytes(Operation *op, Type filters) {
  int64_t largest = 0;
  for (Type type : op->getOperandTypes())
    largest = std::max(largest, alignedBytes(type));
  for (Type type : op->getResultTypes())
    largest = std::max(largest, alignedBytes(type));
  return alignedBytes(filters) +
         std::clamp(kConvTensors * largest, kLeastConvBytes, kMostConvBytes);
}

/// Two counts for each row of the table, and one more, and two positions for
/// each index, of 4 bytes (Runtime/gpuopt/scatter.h).
static int64_t scatterBytes(nn::ScatterAddOp op) {
  int64_t rows = cast<RankedTensorType>(op.getResult().getType()).getDimSize(0);
  int64_t count =
      cast<RankedTensorType>(op.getIndices().getType()).getNumElements();
  return 4 * (llvm::alignTo(rows + 1, 64) + llvm::alignTo(rows, 64) +
              2 * llvm::alignTo(count, 64));
}

static int64_t libraryBytes(Operation *op) {
  if (isa<nn::ContractOp>(op))
    return kProductBytes;
  if (auto conv = dyn_cast<nn::ConvOp>(op))
    return convBytes(op, conv.getWeights().getType());
  if (auto conv = dyn_cast<nn::ConvInputGradOp>(op))
    return convBytes(op, conv.getWeights().getType());
  if (auto conv = dyn_cast<nn::ConvWeightGradOp>(op))
    return convBytes(op, conv.getResult().getType());
  if (auto scatter = dyn_cast<nn::ScatterAddOp>(op))
    return scatterBytes(scatter);
  return 0;
}

/// A batch of every input, of all steps.
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
    int64_t bytes = 0;
    for (StepOp step : getOperation().getOps<StepOp>())
      for (Operation &op : step.getBody().front()) {
        if (failed(checkSuffices(&op)))
          return signalPassFailure();
        bytes = std::max(bytes, libraryBytes(&op));
      }
    if (bytes > 0 && workspaceBytes > 0)
      bytes = workspaceBytes;
    reserve("library_workspace", VariableKind::Workspace, bytes);
    reserve("staged_batches", VariableKind::Staging,
            kLoaders * kStagedBatches * batchBytes(getOperation()));
  }

  /// What is reserved twice would be allocated twice.
  LogicalResult checkFirstTime() {
    for (auto variable : getOperation().getOps<VariableOp>())
      if (variable.getKind() == VariableKind::Workspace ||
          variable.getKind() == VariableKind::Staging)
        return variable.emitOpError(
            "is there already: 'train-reserve-workspace' runs once");
    return success();
  }

  /// Libraries choose among algorithms; our own scatter has the one.
  LogicalResult checkSuffices(Operation *op) {
    auto scatter = dyn_cast<nn::ScatterAddOp>(op);
    if (!scatter || workspaceBytes == 0 ||
        scatterBytes(scatter) <= workspaceBytes)
      return success();
    return op->emitOpError("needs a workspace of at least ")
           << planning::formatBytes(scatterBytes(scatter)) << ", but it is "
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
};

} // namespace
