//===- InsertLossScaling.cpp - The loss scale in the training step --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The smallest number that f16 holds is 6e-8, and many gradients are smaller.
// So the backward begins with a large number in place of 1, the loss scale, and
// every gradient is that much larger; the optimizer divides it out again
// (Micikevicius et al., "Mixed Precision Training", 2018). A scale that is too
// large makes gradients infinite: then the step must change nothing, and the
// next one takes a smaller scale. Nothing of this may wait for the host.
//
// train-build-step has left a `train.seed` where the backward begins. With
// scaling, this pass
//
// - adds the scale as a variable of the device and puts it, over the number of
//   targets, in place of each seed: losses are sums here, and a mean's gradient
//   is what users of PyTorch know the magnitude of. Rounded down to a power of
//   two, the number loses no bit;
// - gives the scale to `train.grad_norm`. Its one pass over the gradients, for
//   clipping, finds infinities and NaNs as well: the sum of squares is not
//   finite. It makes one factor of unscaling, mean and clipping, which the
//   optimizer applies as it reads, and sets the flag that makes it skip;
// - copies what the forward itself changes, running statistics:
// `train.snapshot`
//   copies them before the step, `train.restore`, after the norm, gives them
//   back if the step is skipped.
//
// Without scaling, seeds become 1. After this pass there are no seeds.
//
//===----------------------------------------------------------------------===//

#include "OptionRange.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_INSERTLOSSSCALING
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

namespace {

class InsertLossScaling
    : public gpuopt::train::impl::InsertLossScalingBase<InsertLossScaling> {
public:
  using InsertLossScalingBase::InsertLossScalingBase;

private:
  void runOnOperation() override {
    if (failed(expectAtLeast(getOperation(), 1,
                             {{"accumulation-steps", accumulationSteps}})))
      return signalPassFailure();
    SmallVector<SeedOp> seeds;
    SmallVector<GradNormOp> norms;
    getOperation().walk([&](Operation *op) {
      if (auto seed = dyn_cast<SeedOp>(op))
        seeds.push_back(seed);
      else if (auto norm = dyn_cast<GradNormOp>(op))
        norms.push_back(norm);
    });
    if (!enabled || seeds.empty()) {
      for (SeedOp seed : seeds)
        replaceByOne(seed);
      return;
    }
    FlatSymbolRefAttr scale = addVariable(
        seeds[0].getLoc(), "loss_scale", VariableKind::LossScale,
        RankedTensorType::get({}, Float32Type::get(&getContext())), nullptr);
    int64_t targets = 0; // of the only step that has a backward
    for (SeedOp seed : seeds) {
      int64_t count = 0;
      if (llvm::MulOverflow<int64_t>(seed.getTargets(), accumulationSteps,
                                     count))
        count = INT64_MAX;
      targets = llvm::bit_floor<uint64_t>(std::max<int64_t>(count, 1));
      replaceByScale(seed, scale, targets);
    }
    for (GradNormOp norm : norms) {
      norm.setLossScaleAttr(scale);
      norm.setTargets(targets);
    }
    snapshotWhatTheForwardWrites(norms);
  }

  static void replaceByOne(SeedOp seed) {
    OpBuilder builder(seed);
    auto type = cast<RankedTensorType>(seed.getType());
    auto one = DenseElementsAttr::get(
        type, builder.getFloatAttr(type.getElementType(), 1));
    seed.replaceAllUsesWith(
        arith::ConstantOp::create(builder, seed.getLoc(), one).getResult());
    seed.erase();
  }

  /// The scale is read at the beginning of the step, so that the backward of
  /// one chunk of the loss does not wait for the forward of the others.
  static void replaceByScale(SeedOp seed, FlatSymbolRefAttr scale,
                             int64_t targets) {
    OpBuilder builder = OpBuilder::atBlockBegin(seed->getBlock());
    auto type = cast<RankedTensorType>(seed.getType());
    auto f32 = RankedTensorType::get({}, builder.getF32Type());
    Value value = ReadOp::create(builder, seed.getLoc(), f32, scale);
    auto share = DenseElementsAttr::get(
        f32, builder.getF32FloatAttr(1.0f / float(targets)));
    value = arith::MulFOp::create(
        builder, seed.getLoc(), value,
        arith::ConstantOp::create(builder, seed.getLoc(), share));
    if (type.getElementType().isF64())
      value = arith::ExtFOp::create(builder, seed.getLoc(),
                                    f32.clone(type.getElementType()), value);
    if (value.getType() != type)
      value = nn::ReshapeOp::create(builder, seed.getLoc(), type, value);
    seed.replaceAllUsesWith(value);
    seed.erase();
  }

  FlatSymbolRefAttr addVariable(Location loc, StringRef name, VariableKind kind,
                                Type type, FlatSymbolRefAttr of) {
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    if (of)
      builder.setInsertionPointAfter(getOperation().lookupSymbol(of));
    auto variable = VariableOp::create(
        builder, loc, freeSymbol(getOperation(), name), kind, type, of);
    return FlatSymbolRefAttr::get(variable.getSymNameAttr());
  }

  /// In the step of the forward, the values are saved before any other op. In
  /// the step of the optimizer, they are restored after the norm, which knows
  /// whether the step is skipped.
  void snapshotWhatTheForwardWrites(ArrayRef<GradNormOp> norms) {
    llvm::MapVector<Attribute, FlatSymbolRefAttr> snapshotOf;
    for (StepOp step : getOperation().getOps<StepOp>()) {
      if (step.getKind() != StepKind::Micro)
        continue;
      for (WriteOp write : step.getBody().getOps<WriteOp>())
        takeSnapshot(step, write, snapshotOf);
    }
    for (GradNormOp norm : norms) {
      OpBuilder builder(norm->getContext());
      builder.setInsertionPointAfter(norm);
      for (auto &[variable, snapshot] : snapshotOf)
        RestoreOp::create(builder, norm.getLoc(),
                          cast<FlatSymbolRefAttr>(variable), snapshot);
    }
  }

  void takeSnapshot(StepOp step, WriteOp write,
                    llvm::MapVector<Attribute, FlatSymbolRefAttr> &snapshotOf) {
    FlatSymbolRefAttr &snapshot = snapshotOf[write.getVariableAttr()];
    if (snapshot)
      return;
    std::string name = (write.getVariable() + ".snapshot").str();
    snapshot = addVariable(write.getLoc(), name, VariableKind::Snapshot,
                           write.getValue().getType(), write.getVariableAttr());
    OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
    SnapshotOp::create(builder, write.getLoc(), write.getVariableAttr(),
                       snapshot);
  }
};

} // namespace
