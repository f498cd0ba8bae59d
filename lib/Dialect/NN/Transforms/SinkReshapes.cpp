//===- SinkReshapes.cpp - Reshapes that merge dimensions move down --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Exporters flatten (batch, tokens, width) to (rows, width) around products
// and back. When a reshape that merges dimensions moves behind the work that
// reads it, it meets the one that splits them again, and both go.
//
//===----------------------------------------------------------------------===//

#include "LayoutPatterns.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

using namespace mlir;
using namespace gpuopt::nn;

/// Describes a reshape in which each coarse dimension is a product of
/// neighbouring fine ones: it has the fine sizes of each coarse dimension.
/// There is none for other reshapes, nor for those that merge nothing.
using Grouping = SmallVector<SmallVector<int64_t>>;

static std::optional<Grouping> groupingOf(ArrayRef<int64_t> fine,
                                          ArrayRef<int64_t> coarse) {
  Grouping groups;
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(coarse)) {
    SmallVector<int64_t> group;
    int64_t product = 1;
    // Each group has at least one dimension. Dimensions of size 1 belong to the
    // group before them.
    while (next < fine.size() && (group.empty() || product < size)) {
      product *= fine[next];
      group.push_back(fine[next++]);
    }
    bool isLast = dim + 1 == coarse.size();
    while (next < fine.size() && fine[next] == 1 &&
           (isLast || coarse[dim + 1] != 1 ||
            fine.size() - next > coarse.size() - dim - 1))
      group.push_back(fine[next++]);
    if (product != size || group.empty())
      return std::nullopt;
    groups.push_back(group);
  }
  if (next != fine.size() || fine.size() <= coarse.size())
    return std::nullopt;
  return groups;
}

/// The operand of a reshape that merges dimensions, and which ones it merges.
struct Merge {
  Value source;
  Grouping groups;
};

static std::optional<Merge> mergeOf(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return std::nullopt;
  std::optional<Grouping> groups =
      groupingOf(TensorBuilder::shape(reshape.getInput()),
                 TensorBuilder::shape(reshape.getResult()));
  if (!groups)
    return std::nullopt;
  return Merge{reshape.getInput(), *groups};
}

static SmallVector<int64_t> flatten(const Grouping &groups) {
  SmallVector<int64_t> shape;
  for (ArrayRef<int64_t> group : groups)
    llvm::append_range(shape, group);
  return shape;
}

namespace {

/// Turns contract(merge(x), y) into a product with one letter for each
/// dimension of x.
struct SplitLetters : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp op,
                                PatternRewriter &rewriter) const override {
    if (!isPlain(op))
      return failure();
    std::optional<Merge> left = mergeOf(op.getLhs());
    std::optional<Merge> merge = left ? left : mergeOf(op.getRhs());
    if (!merge)
      return failure();
    StringRef letters = left ? op.getLhsLetters() : op.getRhsLetters();
    llvm::SmallDenseMap<char, SmallVector<std::pair<char, int64_t>>> parts;
    std::string used = op.getSpec().str();
    for (auto [letter, group] : llvm::zip(letters, merge->groups)) {
      if (group.size() == 1)
        continue;
      for (int64_t size : group) {
        char fresh = 'a';
        while (fresh <= 'z' && StringRef(used).contains(fresh))
          ++fresh;
        if (fresh > 'z')
          return failure();
        used += fresh;
        parts[letter].push_back({fresh, size});
      }
    }
    TensorBuilder b(op.getLoc(), rewriter);
    auto [lhsLetters, lhs] = split(b, op.getLhsLetters(), op.getLhs(), parts);
    auto [rhsLetters, rhs] = split(b, op.getRhsLetters(), op.getRhs(), parts);
    std::string result;
    for (char letter : op.getResultLetters())
      appendLetters(result, letter, parts);
    Value product = b.create<ContractOp>(
        lhsLetters + "," + rhsLetters + "->" + result, lhs, rhs);
    rewriter.replaceOp(op, b.reshape(product, b.shape(op.getResult())));
    return success();
  }

  using Parts =
      llvm::SmallDenseMap<char, SmallVector<std::pair<char, int64_t>>>;

  static void appendLetters(std::string &letters, char letter,
                            const Parts &parts) {
    auto found = parts.find(letter);
    if (found == parts.end())
      letters += letter;
    else
      for (auto [fresh, size] : found->second)
        letters += fresh;
  }

  static std::pair<std::string, Value>
  split(TensorBuilder &b, StringRef letters, Value value, const Parts &parts) {
    std::string result;
    SmallVector<int64_t> shape;
    for (auto [letter, size] : llvm::zip(letters, b.shape(value))) {
      appendLetters(result, letter, parts);
      auto found = parts.find(letter);
      if (found == parts.end())
        shape.push_back(size);
      else
        for (auto part : found->second)
          shape.push_back(part.second);
    }
    return {result, b.reshape(value, shape)};
  }
};

/// Turns an elementwise f(merge(x), y, ...) into merge(f(x, split(y), ...)).
struct SinkThroughElementwise : RewritePattern {
  SinkThroughElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
      return failure();
    std::optional<Merge> merge;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        return failure();
      if (std::optional<Merge> candidate = mergeOf(operand))
        if (!merge ||
            flatten(candidate->groups).size() > flatten(merge->groups).size())
          merge = candidate;
    }
    if (!merge)
      return failure();
    TensorBuilder b(op->getLoc(), rewriter);
    SmallVector<int64_t> fine = flatten(merge->groups);
    OperationState state(op->getLoc(), op->getName());
    state.addAttributes(op->getAttrs());
    for (Value operand : op->getOperands())
      state.addOperands(b.reshape(operand, fine));
    Value result = op->getResult(0);
    state.addTypes(b.type(result).clone(fine));
    Operation *fineOp = rewriter.create(state);
    rewriter.replaceOp(op, b.reshape(fineOp->getResult(0), b.shape(result)));
    return success();
  }
};

struct SinkThroughReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Merge> merge = mergeOf(op.getInput());
    if (!merge)
      return failure();
    SmallVector<int64_t> dims;
    int64_t fineDim = 0;
    for (auto [dim, group] : llvm::enumerate(merge->groups)) {
      for (size_t part = 0; part < group.size(); ++part, ++fineDim)
        if (llvm::is_contained(op.getDims(), (int64_t)dim))
          dims.push_back(fineDim);
    }
    TensorBuilder b(op.getLoc(), rewriter);
    Value fine = b.reduce(op.getKind(), merge->source, dims);
    rewriter.replaceOp(op, b.reshape(fine, b.shape(op.getResult())));
    return success();
  }
};

/// Moves merge behind a broadcast, if the repeated dimensions were not merged.
struct SinkThroughBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Merge> merge = mergeOf(op.getInput());
    ArrayRef<int64_t> from = TensorBuilder::shape(op.getInput()),
                      to = op.getType().getShape();
    if (!merge || from.size() != to.size())
      return failure();
    SmallVector<int64_t> fine;
    for (auto [group, size, target] : llvm::zip(merge->groups, from, to)) {
      SmallVector<int64_t> sizes = group;
      if (size != target)
        sizes.back() = target; // all of the group are 1
      llvm::append_range(fine, sizes);
    }
    TensorBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, b.reshape(b.broadcast(merge->source, fine), to));
    return success();
  }
};

/// Turns split(broadcast(x)) into broadcast(split(x)), and the split of a
/// generator into a generator.
struct HoistSplit : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    Operation *producer = op.getInput().getDefiningOp();
    ArrayRef<int64_t> coarse = TensorBuilder::shape(op.getInput()),
                      fine = op.getType().getShape();
    TensorBuilder b(op.getLoc(), rewriter);
    if (auto random = dyn_cast_or_null<RandomUniformOp>(producer)) {
      // Elements are counted in row-major order, which a reshape keeps.
      rewriter.replaceOpWithNewOp<RandomUniformOp>(op, op.getType(),
                                                   random.getStream());
      return success();
    }
    std::optional<Grouping> groups = groupingOf(fine, coarse);
    if (!groups)
      return failure();
    if (auto iota = dyn_cast_or_null<IotaOp>(producer))
      return hoistIota(op, iota, *groups, rewriter);
    auto broadcast = dyn_cast_or_null<BroadcastOp>(producer);
    if (!broadcast)
      return failure();
    ArrayRef<int64_t> source = b.shape(broadcast.getInput());
    size_t missing = coarse.size() - source.size();
    SmallVector<int64_t> shape;
    for (size_t dim = missing; dim < coarse.size(); ++dim) {
      ArrayRef<int64_t> group = (*groups)[dim];
      if (source[dim - missing] == coarse[dim])
        llvm::append_range(shape, group);
      else
        shape.append(group.size(), 1);
    }
    rewriter.replaceOp(
        op, b.broadcast(b.reshape(broadcast.getInput(), shape), fine));
    return success();
  }

  static LogicalResult hoistIota(ReshapeOp op, IotaOp iota,
                                 const Grouping &groups,
                                 PatternRewriter &rewriter) {
    if (groups[iota.getDim()].size() != 1)
      return failure();
    int64_t dim = 0;
    for (size_t before = 0; before < iota.getDim(); ++before)
      dim += groups[before].size();
    rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), dim);
    return success();
  }
};

} // namespace

void gpuopt::nn::populateSinkReshapes(RewritePatternSet &patterns) {
  patterns.add<HoistSplit, SinkThroughBroadcast, SinkThroughElementwise,
               SinkThroughReduce, SplitLetters>(patterns.getContext());
}
