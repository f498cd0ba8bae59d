//===- MergeAttentionSums.cpp - Adds up columns of attention's gradients --===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The gradient of the bias of a projection that makes queries, keys and values
// is the sum over the columns of their gradients, which the backward of
// attention writes. A kernel of its own would read all of them again, three
// tensors of the size of an activation. Here the call of the backward takes
// over these sums: its blocks add up the rows that they write, and one more
// kernel adds up what the blocks have. Runs when kernels are formed, before the
// sums over columns that other kernels take over, and is for devices with
// warps.
//
//===----------------------------------------------------------------------===//

#include "ColumnSums.h"
#include "WarpDevicePass.h"

#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_MERGEATTENTIONSUMS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// Tensors that consist of the gradients of queries, keys and values, as rows
/// of all heads; and the first of their columns among those of all three.
using GradientColumns = llvm::MapVector<Value, int64_t>;

} // namespace

/// Returns a gradient [b, L, h, d] with the heads of a row merged, or null.
static Value rowsOfAllHeads(Value gradient) {
  if (!gradient.hasOneUse())
    return {};
  ArrayRef<int64_t> shape = shapeOf(gradient);
  auto rows = dyn_cast<ReshapeOp>(*gradient.user_begin());
  return rows && shapeOf(rows).back() == shape[2] * shape[3] ? rows.getResult()
                                                             : Value();
}

static GradientColumns gradientColumnsOf(AttentionGradOp op) {
  GradientColumns columns;
  int64_t first = 0;
  SmallVector<Value> parts;
  for (Value gradient :
       {op.getQueryGradient(), op.getKeyGradient(), op.getValueGradient()}) {
    if (Value rows = rowsOfAllHeads(gradient)) {
      columns[rows] = first;
      parts.push_back(rows);
    }
    first += shapeOf(gradient)[2] * shapeOf(gradient)[3];
  }
  if (parts.size() == 3 && parts[0].hasOneUse())
    if (auto whole = dyn_cast<ConcatOp>(*parts[0].user_begin());
        whole && whole.getInputs() == ValueRange(parts) &&
        shapeOf(whole).back() == first)
      columns[whole.getResult()] = 0;
  return columns;
}

/// Returns what a kernel adds up as it lies in memory to make a result, or
/// null.
static Value summedInput(FusedOp kernel, unsigned result) {
  auto sum = yieldedBy(kernel)[result].getDefiningOp<ReduceOp>();
  auto argument = dyn_cast<BlockArgument>(sum.getInput());
  return argument ? kernel.getInputs()[argument.getArgNumber()] : Value();
}

/// Returns the kernels that add up columns of such tensors alone.
static SmallVector<ColumnSums> sumsOfGradients(const GradientColumns &columns) {
  llvm::SmallSetVector<Operation *, 4> readers;
  for (auto &[value, first] : columns)
    readers.insert(value.user_begin(), value.user_end());
  SmallVector<ColumnSums> found;
  for (Operation *reader : readers)
    if (auto kernel = dyn_cast<FusedOp>(reader)) {
      std::optional<ColumnSums> sums = columnSumsOf(kernel);
      bool areSummed =
          sums &&
          llvm::all_of(llvm::seq<unsigned>(0, kernel.getNumResults()),
                       [&](unsigned result) {
                         return columns.contains(summedInput(kernel, result));
                       });
      if (areSummed)
        found.push_back(std::move(*sums));
    }
  return found;
}

/// Returns a copy of the op that adds up columns as well.
static AttentionGradOp withColumnSums(AttentionGradOp op) {
  OpBuilder builder(op);
  return AttentionGradOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
      op.getOutput(), op.getStatistics(), op.getGradient(), op.getMask(),
      op.getBias(), op.getScaleAttr(), op.getSoftcapAttr(),
      op.getDropoutRatioAttr(), op.getStreamAttr(), op.getMaskedValueAttr(),
      op.getZeroesEmptyAttr(), op.getBandAttr(), op.getOrderAttr(),
      builder.getUnitAttr());
}

/// Builds the kernel that adds up parts.
static Value buildLastSum(OpBuilder &builder, Location loc, Value parts,
                          OriginAttr origin) {
  auto type = cast<RankedTensorType>(parts.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = 1;
  auto last =
      FusedOp::create(builder, loc, TypeRange(type.clone(shape)), "sum", parts);
  OpBuilder inside = OpBuilder::atBlockEnd(&last.getBody().emplaceBlock());
  Value argument = last.getBody().addArgument(type, loc);
  Value sum = ReduceOp::create(inside, loc, ReductionKind::Sum, argument,
                               ArrayRef<int64_t>(0));
  YieldOp::create(inside, loc, sum);
  setOrigins(last, {origin});
  return last.getResult(0);
}

namespace {

class MergeAttentionSums
    : public kernels::WarpDevicePass<
          kernels::impl::MergeAttentionSumsBase<MergeAttentionSums>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  void runOn(const DeviceModel &device) override {
    SmallVector<AttentionGradOp> attentions;
    getOperation().walk([&](AttentionGradOp op) { attentions.push_back(op); });
    for (AttentionGradOp op : attentions)
      if (op.canSumColumns() && !op.getSums())
        merge(op);
  }

  /// The blocks of the backward have the gradients at hand, so this is always
  /// less work than to read them again.
  void merge(AttentionGradOp op) {
    GradientColumns columns = gradientColumnsOf(op);
    SmallVector<ColumnSums> taken = sumsOfGradients(columns);
    if (taken.empty())
      return;
    AttentionGradOp merged = withColumnSums(op);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(merged);
    Value sums = buildLastSum(builder, op.getLoc(), merged.getSums(),
                              originAttrOf(taken.front().whole.front()));
    for (const ColumnSums &sum : taken) {
      FusedOp kernel = sum.kernel;
      remark::passed(op.getLoc(),
                     remark::RemarkOpts::name("merge").category("sums"))
          << llvm::formatv("adds up the columns of '{0}' in {1} parts",
                           originOf(sum.whole.front()),
                           shapeOf(merged.getSums()).front())
                 .str();
      for (unsigned result = 0; result < kernel.getNumResults(); ++result) {
        OpResult whole = sum.whole[result];
        int64_t first = columns.lookup(summedInput(kernel, result));
        Value part = sums;
        if (shapeOf(whole).back() != shapeOf(sums).back())
          part = SliceOp::create(builder, op.getLoc(), sums, {0, 0, first},
                                 {1, 1, shapeOf(whole).back()}, {1, 1, 1});
        if (part.getType() != whole.getType())
          part = ReshapeOp::create(builder, op.getLoc(), whole.getType(), part);
        whole.replaceAllUsesWith(part);
      }
      mergedCount += kernel.getNumResults();
      for (Operation *stage : sum.lastStages)
        stage->erase();
      kernel.erase();
    }
    op.replaceAllUsesWith(merged.getResults().drop_back());
    op.erase();
  }
};

} // namespace
