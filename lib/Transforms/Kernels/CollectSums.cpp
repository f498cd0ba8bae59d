//===- CollectSums.cpp - Finishes sums of many kernels in one launch ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The gradients of biases and scales are sums over columns that many blocks
// begin, and a small kernel for each layer ends them. Nothing reads them before
// the norm of all gradients, so here the last stages of many layers move to
// where the last of them is made, and become one launch
// (device-form-multi-tensor-calls). Assumes that kernels have their types and
// that nothing moves them any more; it comes before the schedule, which has to
// see how long the parts live. Afterwards each nn.sum_parts but the first of a
// launch follows another one.
//
//===----------------------------------------------------------------------===//

#include "WarpDevicePass.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/Transforms/Kernels/Passes.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_COLLECTSUMS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Whether a value of a kernel's body is the sum over the first dimension of an
/// operand that lies densely in memory.
static bool isSumOfParts(Value value, FusedOp kernel) {
  auto sum = value.getDefiningOp<ReduceOp>();
  if (!sum || sum.getKind() != ReductionKind::Sum ||
      sum.getDims() != ArrayRef<int64_t>(0) ||
      !cast<RankedTensorType>(sum.getType()).getElementType().isF32())
    return false;
  auto argument = dyn_cast<BlockArgument>(sum.getInput());
  if (!argument)
    return false;
  std::optional<StridedView> parts =
      viewOf(kernel.getInputs()[argument.getArgNumber()]);
  return parts && parts->isDense();
}

/// Whether all that a kernel does is to add up parts.
static bool sumsParts(FusedOp kernel) {
  return llvm::all_of(kernel.getBody().front().getTerminator()->getOperands(),
                      [&](Value value) { return isSumOfParts(value, kernel); });
}

/// Adds the ops that read a value, and the views of it through which they do.
static void collectReaders(Value value, SmallVectorImpl<Operation *> &readers,
                           SmallVectorImpl<Operation *> &views) {
  for (Operation *user : value.getUsers()) {
    if (!isViewOp(user)) {
      readers.push_back(user);
      continue;
    }
    views.push_back(user);
    collectReaders(user->getResult(0), readers, views);
  }
}

namespace {

/// A kernel that ends sums of gradients.
struct LastStage {
  FusedOp kernel;
  SmallVector<Operation *> readers;
  SmallVector<Operation *> views; ///< Of the results, in their order.
};

class CollectSums : public kernels::WarpDevicePass<
                        kernels::impl::CollectSumsBase<CollectSums>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  void runOn(const DeviceModel &device) override {
    for (train::StepOp step : getOperation().getOps<train::StepOp>())
      for (ArrayRef<LastStage> rest = stages(step); !rest.empty();) {
        ArrayRef<LastStage> launch = firstLaunch(rest);
        rest = rest.drop_front(launch.size());
        write(launch);
      }
  }

  /// Returns the kernels that end sums which only the end of the step reads, in
  /// their order.
  ArrayRef<LastStage> stages(train::StepOp step) {
    found.clear();
    for (auto kernel : step.getBody().getOps<FusedOp>()) {
      if (!sumsParts(kernel))
        continue;
      LastStage stage{kernel, {}, {}};
      for (Value result : kernel.getResults())
        collectReaders(result, stage.readers, stage.views);
      if (llvm::all_of(stage.readers,
                       llvm::IsaPred<train::GradNormOp, train::UpdateOp,
                                     train::AccumulateOp>))
        found.push_back(std::move(stage));
    }
    return found;
  }

  /// Returns the first stages that can wait for the last of them.
  ArrayRef<LastStage> firstLaunch(ArrayRef<LastStage> rest) const {
    double waiting = 0;
    size_t count = 0;
    for (; count < rest.size(); ++count) {
      FusedOp kernel = rest[count].kernel;
      for (Value parts : kernel.getInputs())
        waiting += sizeInBytes(parts);
      bool isReadBefore =
          llvm::any_of(rest.take_front(count), [&](const LastStage &before) {
            return llvm::any_of(before.readers, [&](Operation *reader) {
              return reader->isBeforeInBlock(kernel);
            });
          });
      if (count > 0 && (isReadBefore || waiting > double(mostBytes)))
        break;
    }
    return rest.take_front(count);
  }

  /// Builds the sums of a launch where its last kernel stands.
  void write(ArrayRef<LastStage> launch) {
    Operation *place = launch.back().kernel, *last = place;
    OpBuilder builder(place);
    for (const LastStage &stage : launch) {
      FusedOp kernel = stage.kernel;
      for (OpResult result : kernel->getResults()) {
        auto sum = cast<ReduceOp>(kernel.getBody()
                                      .front()
                                      .getTerminator()
                                      ->getOperand(result.getResultNumber())
                                      .getDefiningOp());
        unsigned input = cast<BlockArgument>(sum.getInput()).getArgNumber();
        auto whole = SumPartsOp::create(builder, kernel.getLoc(),
                                        kernel.getInputs()[input]);
        setOrigins(whole, {originAttrOf(result)});
        result.replaceAllUsesWith(whole.getResult());
        ++sumCount;
      }
      for (Operation *view : stage.views)
        if (view->isBeforeInBlock(place)) {
          view->moveAfter(last);
          last = view;
        }
    }
    for (const LastStage &stage : launch)
      if (stage.kernel != place)
        FusedOp(stage.kernel).erase();
    place->erase();
  }

  SmallVector<LastStage> found;
};

} // namespace
