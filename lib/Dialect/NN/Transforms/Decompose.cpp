//===- Decompose.cpp - Composite ops as elementwise work and reductions ---===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each op becomes its defining formula. All values of one op share one
// iteration space, in which reduced dimensions keep the size 1, so that
// kernels-form-clusters can make one kernel of them. Ops are tagged with the
// name of the op that they come from (`nn.from`), for the kernel's name.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_DECOMPOSE
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// Replaces an op by values, and tags the ops that were built for them.
template <typename OpT>
struct Decomposition : OpRewritePattern<OpT> {
  Decomposition(MLIRContext *context, const DecomposeOptions &options)
      : OpRewritePattern<OpT>(context), options(options) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Operation *before = op->getPrevNode();
    TensorBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = decompose(b, op);
    Operation *first =
        before ? before->getNextNode() : &op->getBlock()->front();
    for (Operation *built = first; built != op; built = built->getNextNode())
      if (isa<ReduceOp, RandomUniformOp, ContractOp>(
              built)) // other ops may merge with equal ones
        NNDialect::FromAttrHelper(op.getContext())
            .setAttr(built,
                     rewriter.getStringAttr(op->getName().stripDialect()));
    rewriter.replaceOp(op, values);
    return success();
  }

  SmallVector<Value> decompose(TensorBuilder &b, OpT op) const;

  DecomposeOptions options;
};

/// Returns x - max x, and exp of it.
std::pair<Value, Value> shiftedExp(TensorBuilder &b, Value x, int64_t dim) {
  Value shifted = b.sub(x, b.reduce(ReductionKind::Max, x, dim));
  return {shifted, b.exp(shifted)};
}

template <>
SmallVector<Value> Decomposition<SoftmaxOp>::decompose(TensorBuilder &b,
                                                       SoftmaxOp op) const {
  if (!op.getZeroesEmpty()) {
    Value e = shiftedExp(b, op.getInput(), op.getDim()).second;
    return {b.div(e, b.sum(e, op.getDim()))};
  }
  // In an empty row, e is exp(-inf - 0) = 0, and so is 0 / 1.
  Value max = b.reduce(ReductionKind::Max, op.getInput(), op.getDim());
  Value none = b.splat(-std::numeric_limits<double>::infinity(), b.type(max));
  Value isEmpty = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, max, none);
  Value e = b.exp(
      b.sub(op.getInput(), b.select(isEmpty, b.splat(0, b.type(max)), max)));
  Value sum = b.select(isEmpty, b.splat(1, b.type(max)), b.sum(e, op.getDim()));
  return {b.div(e, sum)};
}

template <>
SmallVector<Value>
Decomposition<LogSoftmaxOp>::decompose(TensorBuilder &b,
                                       LogSoftmaxOp op) const {
  auto [shifted, e] = shiftedExp(b, op.getInput(), op.getDim());
  return {b.sub(shifted, b.log(b.sum(e, op.getDim())))};
}

/// Returns the mean over `dims`, and the mean of the squared distances from it.
std::pair<Value, Value> meanAndVariance(TensorBuilder &b, Value x,
                                        ArrayRef<int64_t> dims) {
  int64_t n = 1;
  for (int64_t dim : dims)
    n *= b.shape(x)[dim];
  Value mean = b.mul(b.sum(x, dims), 1.0 / n);
  Value centred = b.sub(x, mean);
  return {mean, b.mul(b.sum(b.mul(centred, centred), dims), 1.0 / n)};
}

/// The most elementwise ops in a row that are done again for a single pixel.
constexpr int kMostSteps = 6;

/// Returns the elements with index 0 along `dims`, each of these then being 1,
/// through at most `steps` ops of the elementwise work that makes `value`; null
/// if they do not lead to tensors in memory.
Value firstAlong(TensorBuilder &b, Value value, ArrayRef<int64_t> dims,
                 int steps = kMostSteps) {
  if (steps == 0)
    return {};
  SmallVector<int64_t> sizes(b.shape(value));
  for (int64_t dim : dims)
    sizes[dim] = 1;
  Operation *op = value.getDefiningOp();
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return b.create<arith::ConstantOp>(
        splat.resizeSplat(b.type(value).clone(sizes)));
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    ArrayRef<int64_t> source = b.shape(broadcast.getInput());
    int64_t added = sizes.size() - source.size();
    bool isRepeated = llvm::all_of(dims, [&](int64_t dim) {
      return dim < added || source[dim - added] == 1;
    });
    return isRepeated ? b.broadcast(broadcast.getInput(), sizes) : Value();
  }
  // Exporters give convolutions biases of zero. Without them the pixel is a
  // view, and no kernel.
  if (auto sum = dyn_cast_or_null<arith::AddFOp>(op);
      sum && matchPattern(sum.getRhs(), m_AnyZeroFloat()))
    return firstAlong(b, sum.getLhs(), dims, steps - 1);
  if (op && OpTrait::hasElementwiseMappableTraits(op) &&
      op->getNumResults() == 1) {
    OperationState state(op->getLoc(), op->getName());
    state.addAttributes(op->getAttrs());
    state.addTypes(b.type(value).clone(sizes));
    for (Value operand : op->getOperands()) {
      Value first = firstAlong(b, operand, dims, steps - 1);
      if (!first)
        return {};
      state.addOperands(first);
    }
    return b.OpBuilder::create(state)->getResult(0);
  }
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> moved;
    for (int64_t dim : dims)
      moved.push_back(permutation[dim]);
    Value first = firstAlong(b, transpose.getInput(), moved, steps - 1);
    return first ? b.transpose(first, permutation) : Value();
  }
  if (auto slice = dyn_cast_or_null<SliceOp>(op))
    op = slice.getInput().getDefiningOp();
  bool isInMemory = !op || isa<RuntimeCallOpInterface, ConcatOp>(op);
  SmallVector<int64_t> zeros(sizes.size(), 0), ones(sizes.size(), 1);
  return isInMemory ? b.create<SliceOp>(value, zeros, sizes, ones) : Value();
}

/// Returns a variance that rounding may have made negative, with 0 instead.
Value notNegative(TensorBuilder &b, Value variance) {
  return b.createOrFold<arith::MaximumFOp>(variance,
                                           b.splat(0, b.type(variance)));
}

/// Returns the same as meanAndVariance in one read: of the distances from the
/// first pixel.
std::pair<Value, Value> statisticsInOneRead(TensorBuilder &b, Value x,
                                            ArrayRef<int64_t> dims) {
  Value pixel = firstAlong(b, x, dims);
  if (!pixel)
    return meanAndVariance(b, x, dims);
  int64_t n = 1;
  for (int64_t dim : dims)
    n *= b.shape(x)[dim];
  Value distance = b.sub(x, pixel);
  Value first = b.mul(b.sum(distance, dims), 1.0 / n);
  Value second = b.mul(b.sum(b.mul(distance, distance), dims), 1.0 / n);
  Value variance = notNegative(b, b.sub(second, b.mul(first, first)));
  return {b.add(pixel, first), variance};
}

/// Returns the value that `value` has without sums with zeros, which exporters
/// give convolutions as biases.
Value withoutZeroBias(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  return sum && matchPattern(sum.getRhs(), m_AnyZeroFloat()) ? sum.getLhs()
                                                             : value;
}

/// Returns the same as meanAndVariance, of a convolution's own sums. In single
/// precision, the difference of squares loses as much as a result in half
/// precision has lost by its rounding.
std::pair<Value, Value> statisticsOfSums(TensorBuilder &b,
                                         ConvWithSumsOp conv) {
  auto type = cast<RankedTensorType>(conv.getResult().getType());
  double n = type.getNumElements() / type.getShape().back();
  Value mean = b.mul(conv.getSum(), 1.0 / n);
  Value second = b.mul(conv.getSumOfSquares(), 1.0 / n);
  return {mean, notNegative(b, b.sub(second, b.mul(mean, mean)))};
}

/// Returns the channels of a concatenation from `first` on.
Value channelsFrom(TensorBuilder &b, ConcatOp concat, int64_t first) {
  SmallVector<int64_t> sizes(b.shape(concat)), ones(sizes.size(), 1),
      offsets(sizes.size(), 0);
  offsets[concat.getDim()] = first;
  sizes[concat.getDim()] -= first;
  return b.create<SliceOp>(concat, offsets, sizes, ones);
}

/// Returns the mean and the variance of each channel of a batch norm's input.
/// Where the first channels are a concatenation by themselves, as in a dense
/// block, these have that one's statistics, and only the other channels are
/// read. One that nothing else reads has no batch norm of its own, whose
/// statistics they could be.
std::pair<Value, Value> batchStatistics(TensorBuilder &b, Value x,
                                        bool oneRead) {
  if (auto conv = withoutZeroBias(x).getDefiningOp<ConvWithSumsOp>())
    return statisticsOfSums(b, conv);
  int64_t last = b.type(x).getRank() - 1;
  auto transpose = x.getDefiningOp<TransposeOp>();
  auto concat =
      (transpose ? transpose.getInput() : x).getDefiningOp<ConcatOp>();
  auto inner =
      concat ? concat.getInputs()[0].getDefiningOp<ConcatOp>() : ConcatOp();
  int64_t channels = transpose ? transpose.getPermutation()[last] : last;
  if (inner && !inner->hasOneUse() && int64_t(concat.getDim()) == channels &&
      inner.getDim() == concat.getDim()) {
    auto place = [&](Value part) {
      return transpose ? b.transpose(part, transpose.getPermutation()) : part;
    };
    auto first = batchStatistics(b, place(inner), oneRead);
    auto others = batchStatistics(
        b, place(channelsFrom(b, concat, b.shape(inner)[channels])), oneRead);
    auto join = [&](Value front, Value back) {
      return b.create<ConcatOp>(ValueRange{front, back}, last).getResult();
    };
    return {join(first.first, others.first), join(first.second, others.second)};
  }
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
  return oneRead ? statisticsInOneRead(b, x, dims)
                 : meanAndVariance(b, x, dims);
}

template <>
SmallVector<Value> Decomposition<LayerNormOp>::decompose(TensorBuilder &b,
                                                         LayerNormOp op) const {
  auto dims = llvm::to_vector(
      llvm::seq<int64_t>(op.getAxis(), b.type(op.getInput()).getRank()));
  auto [mean, variance] = meanAndVariance(b, op.getInput(), dims);
  Value rstd = b.rsqrt(b.add(variance, op.getEpsilon().convertToDouble()));
  Value result = b.mul(b.sub(op.getInput(), mean), rstd);
  if (op.getScale())
    result = b.mul(result, op.getScale());
  if (op.getBias())
    result = b.add(result, op.getBias());
  return {result, mean, rstd};
}

/// Returns the elements of each channel, of which there may be none.
int64_t elementsPerChannel(ArrayRef<int64_t> shape) {
  return ShapedType::getNumElements(shape.drop_back());
}

/// Returns a batch norm's statistics to keep, for those of the batch.
SmallVector<Value> blended(TensorBuilder &b, double momentum, double n,
                           ArrayRef<Value> running, Value mean,
                           Value variance) {
  Value unbiased = b.mul(variance, unbiasedFactor(n));
  auto blend = [&](Value running, Value batch) {
    Value kept = b.mul(b.reshape(running, b.shape(batch)), 1 - momentum);
    return b.reshape(b.add(kept, b.mul(batch, momentum)), b.shape(running));
  };
  return {blend(running[0], mean), blend(running[1], unbiased)};
}

template <>
SmallVector<Value> Decomposition<BatchNormOp>::decompose(TensorBuilder &b,
                                                         BatchNormOp op) const {
  Value x = op.getInput();
  ArrayRef<int64_t> kept = b.shape(op.getMean());
  Value mean, variance;
  SmallVector<Value> statistics{op.getRunningMean(), op.getRunningVariance()};
  if (op.getFrozen()) {
    mean = b.reshape(statistics[0], kept);
    variance = b.reshape(statistics[1], kept);
  } else {
    std::tie(mean, variance) = batchStatistics(b, x, options.oneRead);
    statistics =
        blended(b, op.getMomentum().convertToDouble(),
                elementsPerChannel(b.shape(x)), statistics, mean, variance);
  }
  Value rstd = b.rsqrt(b.add(variance, op.getEpsilon().convertToDouble()));
  Value result =
      b.add(b.mul(b.mul(b.sub(x, mean), rstd), op.getScale()), op.getBias());
  return {result, statistics[0], statistics[1], mean, rstd};
}

template <>
SmallVector<Value>
Decomposition<ConvBatchNormOp>::decompose(TensorBuilder &b,
                                          ConvBatchNormOp op) const {
  Value x = op.getInput();
  const int64_t outputs = b.shape(op.getMean())[0], inputs = b.shape(x)[3];
  const double n = double(b.type(x).getNumElements()) / double(inputs);
  Value w = b.reshape(op.getWeights(), {outputs, inputs});
  Value inputMean = b.mul(b.reshape(b.sum(x, {0, 1, 2}), {1, inputs}), 1 / n);
  auto squares = b.create<ContractOp>("nhwc,nhwd->cd", x, x);
  squares.setWide(true);
  // The product itself is kept for the gradient, since it stays in f32: there
  // it meets a term that is nearly as large.
  auto moments = b.create<ContractOp>("oc,cd->od", w, squares);
  moments.setFull(true);
  Value mean = b.sum(b.mul(w, inputMean), 1);
  Value second = b.mul(b.sum(b.mul(w, moments), 1), 1 / n);
  Value variance = notNegative(b, b.sub(second, b.mul(mean, mean)));
  SmallVector<Value> statistics =
      blended(b, op.getMomentum().convertToDouble(), n,
              {op.getRunningMean(), op.getRunningVariance()}, mean, variance);
  Value rstd = b.rsqrt(b.add(variance, op.getEpsilon().convertToDouble()));
  Value factor = b.mul(b.reshape(op.getScale(), {outputs, 1}), rstd);
  Value shift = b.reshape(
      b.sub(b.reshape(op.getBias(), {outputs, 1}), b.mul(factor, mean)),
      {outputs});
  auto product = b.create<ContractOp>("nhwc,oc->nhwo", x, b.mul(w, factor));
  product.getBiasMutable().assign(shift);
  return {product, statistics[0], statistics[1], mean,
          rstd,    inputMean,     moments};
}

template <>
SmallVector<Value> Decomposition<DropoutOp>::decompose(TensorBuilder &b,
                                                       DropoutOp op) const {
  double ratio = op.getRatio().convertToDouble();
  RankedTensorType type = b.type(op.getInput());
  // Random numbers of double are those of float.
  bool isDouble = type.getElementType().isF64();
  Value draw = b.create<RandomUniformOp>(
      isDouble ? type.clone(b.getF32Type()) : type, op.getStream());
  if (isDouble)
    draw = b.create<arith::ExtFOp>(type, draw);
  Value isKept =
      b.compare(arith::CmpFPredicate::OGE, draw, b.splat(ratio, type));
  return {b.select(isKept, b.mul(op.getInput(), 1 / (1 - ratio)),
                   b.splat(0, type))};
}

template <>
SmallVector<Value>
Decomposition<CrossEntropyOp>::decompose(TensorBuilder &b,
                                         CrossEntropyOp op) const {
  Value x = op.getLogits();
  RankedTensorType type = b.type(x);
  int64_t dim = type.getRank() - 1, classes = type.getShape().back();
  double smoothing = op.getLabelSmoothing().convertToDouble();
  Value max = b.reduce(ReductionKind::Max, x, dim);
  Value logSumExp = b.add(max, b.log(b.sum(b.exp(b.sub(x, max)), dim)));
  Value labels = b.reshape(op.getLabels(), b.shape(op.getLoss()));
  Value isLabel =
      b.compare(arith::CmpIPredicate::eq,
                b.create<IotaOp>(type.clone(b.getI64Type()), dim), labels);
  Value picked = b.sum(b.select(isLabel, x, b.splat(0, type)), dim);
  Value loss = b.mul(b.sub(logSumExp, picked), 1 - smoothing);
  if (smoothing > 0) {
    Value average = b.mul(b.sum(x, dim), 1.0 / classes);
    loss = b.add(loss, b.mul(b.sub(logSumExp, average), smoothing));
  }
  Value ignored =
      b.compare(arith::CmpIPredicate::eq, labels,
                b.splat((int64_t)op.getIgnoreIndex(), b.type(labels)));
  return {b.select(ignored, b.splat(0, b.type(loss)), loss), logSumExp};
}

/// Whether cuDNN has engines for a convolution that add up the channels of its
/// result: their vectors are of eight channels, and their windows have at most
/// 32 pixels.
bool canAddUpChannels(ConvOp conv) {
  constexpr int64_t kVector = 8, kMostPixels = 32;
  auto channels = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape().back();
  };
  ArrayRef<int64_t> window =
      conv.getWeights().getType().getShape().take_back(2);
  return conv.getGroups() == 1 && channels(conv.getInput()) % kVector == 0 &&
         channels(conv.getResult()) % kVector == 0 &&
         window[0] * window[1] <= kMostPixels;
}

/// Has the convolution, if there is one, that makes the input of a batch norm
/// add up its channels.
void addSumsOfConvolution(BatchNormOp norm) {
  if (norm.getFrozen())
    return;
  auto conv = withoutZeroBias(norm.getInput()).getDefiningOp<ConvOp>();
  if (!conv || !canAddUpChannels(conv))
    return;
  OpBuilder builder(conv);
  auto withSums = ConvWithSumsOp::create(
      builder, conv.getLoc(), conv.getInput(), conv.getWeights(),
      conv.getStrides(), conv.getPads(), conv.getDilations(), conv.getGroups());
  conv.replaceAllUsesWith(withSums.getResult());
  conv.erase();
}

class Decompose : public gpuopt::nn::impl::DecomposeBase<Decompose> {
public:
  using DecomposeBase::DecomposeBase;

private:
  void runOnOperation() override {
    DecomposeOptions options;
    options.oneRead = oneRead;
    if (convSums)
      getOperation()->walk(addSumsOfConvolution);
    RewritePatternSet patterns(&getContext());
    patterns.add<Decomposition<SoftmaxOp>, Decomposition<LogSoftmaxOp>,
                 Decomposition<LayerNormOp>, Decomposition<BatchNormOp>,
                 Decomposition<ConvBatchNormOp>, Decomposition<DropoutOp>,
                 Decomposition<CrossEntropyOp>>(&getContext(), options);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
