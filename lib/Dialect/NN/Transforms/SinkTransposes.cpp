//===- SinkTransposes.cpp - Transposes move down until they cancel --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The conversion puts every spatial op between a transpose to channels last and
// one back. Here transposes move behind the elementwise work, reductions and
// concatenations that read them. Where two meet that undo each other, both are
// removed.
//
//===----------------------------------------------------------------------===//

#include "LayoutPatterns.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

using namespace mlir;
using namespace gpuopt::nn;

static SmallVector<int64_t> inverseOf(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [index, dim] : llvm::enumerate(permutation))
    inverse[dim] = index;
  return inverse;
}

/// Whether transposing a tensor of `shape` moves only dimensions of size 1, so
/// that it is a reshape.
static bool movesOnesOnly(ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> moved;
  for (int64_t dim : permutation)
    if (shape[dim] != 1)
      moved.push_back(dim);
  return llvm::is_sorted(moved);
}

/// Returns the transposed value, by a reshape if that is enough.
static Value permute(TensorBuilder &b, Value value,
                     ArrayRef<int64_t> permutation) {
  ArrayRef<int64_t> shape = b.shape(value);
  if (!movesOnesOnly(shape, permutation))
    return b.transpose(value, permutation);
  SmallVector<int64_t> moved;
  for (int64_t dim : permutation)
    moved.push_back(shape[dim]);
  return b.reshape(value, moved);
}

/// Returns a transpose that should sink, or null. A product absorbs the
/// transpose of its result itself. A transpose that is a reshape stays, and so
/// does one of a repeated value, which moves up instead: two such operands of
/// an op could each be made the other's transpose in turn, without end.
static TransposeOp transposeOf(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose ||
      movesOnesOnly(TensorBuilder::shape(transpose.getInput()),
                    transpose.getPermutation()) ||
      transpose.getInput().getDefiningOp<BroadcastOp>() ||
      transpose.getInput().getDefiningOp<IotaOp>())
    return {};
  auto product = transpose.getInput().getDefiningOp<ContractOp>();
  bool isAbsorbed = isTakenByCall(transpose) ||
                    (product && isPlain(product) && product->hasOneUse());
  return isAbsorbed ? TransposeOp() : transpose;
}

/// Returns the shape with ones in front, up to `rank` dimensions.
static SmallVector<int64_t> withLeadingOnes(ArrayRef<int64_t> shape,
                                            size_t rank) {
  SmallVector<int64_t> padded(rank - shape.size(), 1);
  llvm::append_range(padded, shape);
  return padded;
}

/// Whether undoing `permutation` on the value costs nothing: the value is that
/// transpose, it is the same in any order of its dimensions, or a reshape does
/// it, as for a gradient of a global pooling, [N, C, 1, 1], that is repeated
/// over all pixels.
static bool undoesFreely(Value value, ArrayRef<int64_t> permutation) {
  Operation *producer = value.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<TransposeOp>(producer))
    return transpose.getPermutation() == permutation;
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(producer))
    return isa<SplatElementsAttr>(constant.getValue());
  if (isa_and_nonnull<IotaOp>(producer))
    return true;
  auto broadcast = dyn_cast_or_null<BroadcastOp>(producer);
  Value source = broadcast ? broadcast.getInput() : value;
  return movesOnesOnly(
      withLeadingOnes(TensorBuilder::shape(source), permutation.size()),
      inverseOf(permutation));
}

namespace {

/// Turns an elementwise f(transpose(x), y) into transpose(f(x, inverse(y))), if
/// y's inverse costs nothing.
struct SinkTransposeThroughElementwise : RewritePattern {
  SinkTransposeThroughElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
      return failure();
    TransposeOp transpose;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        return failure();
      if (!transpose)
        transpose = transposeOf(operand);
    }
    if (!transpose || !llvm::all_of(op->getOperands(), [&](Value operand) {
          return undoesFreely(operand, transpose.getPermutation());
        }))
      return failure();
    TensorBuilder b(op->getLoc(), rewriter);
    SmallVector<int64_t> inverse = inverseOf(transpose.getPermutation());
    OperationState state(op->getLoc(), op->getName());
    state.addAttributes(op->getAttrs());
    for (Value operand : op->getOperands())
      state.addOperands(permute(b, operand, inverse));
    Value result = op->getResult(0);
    state.addTypes(b.type(result).clone(b.shape(transpose.getInput())));
    Operation *sunk = rewriter.create(state);
    rewriter.replaceOp(
        op, b.transpose(sunk->getResult(0), transpose.getPermutation()));
    return success();
  }
};

/// Turns reduce(transpose(x)) into transpose(reduce(x)).
struct SinkTransposeThroughReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    TransposeOp transpose = transposeOf(op.getInput());
    if (!transpose)
      return failure();
    SmallVector<int64_t> dims;
    for (int64_t dim : op.getDims())
      dims.push_back(transpose.getPermutation()[dim]);
    llvm::sort(dims);
    TensorBuilder b(op.getLoc(), rewriter);
    Value reduced = b.reduce(op.getKind(), transpose.getInput(), dims);
    rewriter.replaceOp(op, b.transpose(reduced, transpose.getPermutation()));
    return success();
  }
};

/// Turns concat(transpose(x), transpose(y)) into the transpose of a concat, if
/// both have the same permutation.
struct SinkTransposeThroughConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> sources;
    TransposeOp first = transposeOf(op.getInputs().front());
    for (Value input : op.getInputs()) {
      TransposeOp transpose = transposeOf(input);
      if (!transpose || transpose.getPermutation() != first.getPermutation())
        return failure();
      sources.push_back(transpose.getInput());
    }
    TensorBuilder b(op.getLoc(), rewriter);
    Value joined =
        b.create<ConcatOp>(sources, first.getPermutation()[op.getDim()]);
    rewriter.replaceOp(op, b.transpose(joined, first.getPermutation()));
    return success();
  }
};

/// Turns slice(transpose(x)) into transpose(slice(x)).
struct SinkTransposeThroughSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    TransposeOp transpose = transposeOf(op.getInput());
    if (!transpose)
      return failure();
    auto reorder = [&](ArrayRef<int64_t> values) {
      SmallVector<int64_t> reordered(values.size());
      for (auto [value, dim] : llvm::zip(values, transpose.getPermutation()))
        reordered[dim] = value;
      return reordered;
    };
    TensorBuilder b(op.getLoc(), rewriter);
    Value sliced =
        b.create<SliceOp>(transpose.getInput(), reorder(op.getOffsets()),
                          reorder(op.getSizes()), reorder(op.getStrides()));
    rewriter.replaceOp(op, b.transpose(sliced, transpose.getPermutation()));
    return success();
  }
};

/// Turns transpose(broadcast(x)) into broadcast(transpose(x)), so that no
/// transpose of a repeated value blocks another one.
struct HoistTransposeOverBroadcast : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return failure();
    TensorBuilder b(op.getLoc(), rewriter);
    Value source = b.reshape(broadcast.getInput(),
                             withLeadingOnes(b.shape(broadcast.getInput()),
                                             op.getPermutation().size()));
    rewriter.replaceOp(op, b.broadcast(permute(b, source, op.getPermutation()),
                                       op.getType().getShape()));
    return success();
  }
};

/// Turns transposes that only move dimensions of size 1 into reshapes, and
/// transposes of iotas into iotas.
struct SimplifyTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    TensorBuilder b(op.getLoc(), rewriter);
    if (auto iota = op.getInput().getDefiningOp<IotaOp>()) {
      auto dim = llvm::find(op.getPermutation(), (int64_t)iota.getDim()) -
                 op.getPermutation().begin();
      rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), dim);
      return success();
    }
    if (!movesOnesOnly(b.shape(op.getInput()), op.getPermutation()))
      return failure();
    rewriter.replaceOp(op, permute(b, op.getInput(), op.getPermutation()));
    return success();
  }
};

} // namespace

void gpuopt::nn::populateSinkTransposes(RewritePatternSet &patterns) {
  patterns.add<HoistTransposeOverBroadcast, SimplifyTranspose,
               SinkTransposeThroughConcat, SinkTransposeThroughElementwise,
               SinkTransposeThroughReduce, SinkTransposeThroughSlice>(
      patterns.getContext());
}
