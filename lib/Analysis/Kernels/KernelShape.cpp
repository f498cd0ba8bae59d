//===- KernelShape.cpp - The loops of one kernel --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/KernelShape.h"

using namespace mlir;
using namespace gpuopt;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

namespace {

/// An access by the dimensions of the iteration space, before these become
/// loops.
struct SpaceAccess {
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  int64_t partStride = 0;
};

struct SpaceGather {
  SpaceAccess index, row;
  int64_t rowStride = 0;
};

class ShapeBuilder {
public:
  ShapeBuilder(nn::FusedOp op, ArrayRef<StridedView> operands,
               ArrayRef<StridedView> results)
      : op(op), body(op.getBody().front()), operands(operands),
        results(results) {}

  KernelShape build() {
    findSpace();
    collectAccesses();
    KernelShape shape;
    formLoops(shape);
    for (nn::PartialSumOp sum : body.getOps<nn::PartialSumOp>())
      shape.parts = sum.getParts();
    auto convert = [&](const SpaceAccess &access) {
      AffineAccess converted{access.offset, {}, access.partStride};
      for (const LoopDim &loop : shape.loops)
        converted.strides.push_back(
            loop.dims.empty() ? 0 : access.strides[loop.dims.back()]);
      return converted;
    };
    for (auto &[value, access] : argumentAccesses)
      shape.arguments[value] = convert(access);
    for (auto &[take, gather] : gathers)
      shape.gathers[take] = {convert(gather.index), convert(gather.row),
                             gather.rowStride};
    for (auto &[value, access] : positionAccesses)
      shape.positions[value] = convert(access);
    for (SpaceAccess &access : resultAccesses)
      shape.results.push_back(convert(access));
    for (auto &[value, full] : variation) {
      SmallVector<bool> varies;
      for (const LoopDim &loop : shape.loops)
        varies.push_back(!loop.dims.empty() && full[loop.dims.back()]);
      shape.varies[value] = varies;
    }
    return shape;
  }

private:
  void findSpace() {
    for (Operation &inner : body) {
      if (auto reduce = dyn_cast<nn::ReduceOp>(inner)) {
        space = llvm::to_vector(shapeOf(reduce.getInput()));
        reduced.assign(space.size(), false);
        for (int64_t dim : reduce.getDims())
          reduced[dim] = true;
        return;
      }
    }
    for (Value value : cast<nn::YieldOp>(body.getTerminator()).getValues()) {
      ArrayRef<int64_t> shape = shapeOf(value);
      if (shape.size() > space.size())
        space.insert(space.begin(), shape.size() - space.size(), 1);
      for (auto [dim, size] : llvm::enumerate(shape))
        space[space.size() - shape.size() + dim] =
            std::max(space[space.size() - shape.size() + dim], size);
    }
    reduced.assign(space.size(), false);
  }

  /// Returns the strides of a view whose last dimension is dimension `last` of
  /// the space.
  SpaceAccess align(const StridedView &view, int64_t last) const {
    SpaceAccess access{0, SmallVector<int64_t>(space.size(), 0)};
    int64_t first = last + 1 - (int64_t)view.sizes.size();
    for (auto [dim, size] : llvm::enumerate(view.sizes))
      if (size != 1)
        access.strides[first + dim] = view.strides[dim];
    return access;
  }

  /// Returns the access to a result. Which partial sum is meant follows from
  /// the block and not from a loop.
  SpaceAccess accessTo(const StridedView &view, Value yielded) const {
    int64_t last = (int64_t)space.size() - 1;
    if (!yielded.getDefiningOp<nn::PartialSumOp>())
      return align(view, last);
    StridedView ofPart = view;
    ofPart.sizes.front() = 1;
    SpaceAccess access = align(ofPart, last);
    access.partStride = view.strides.front();
    return access;
  }

  void noteVariation(Value value) {
    SmallVector<int64_t> shape(shapeOf(value));
    if (value.getDefiningOp<nn::PartialSumOp>())
      shape.front() = 1;
    SmallVector<bool> full(space.size(), false);
    for (auto [dim, size] : llvm::enumerate(shape))
      full[space.size() - shape.size() + dim] = size != 1;
    variation.insert({value, full});
  }

  void collectAccesses() {
    int64_t last = (int64_t)space.size() - 1;
    for (nn::TakeOp take : body.getOps<nn::TakeOp>())
      gathers[take] = gatherOf(take, last);
    for (BlockArgument argument : body.getArguments()) {
      if (llvm::all_of(argument.getUsers(), llvm::IsaPred<nn::TakeOp>))
        continue;
      argumentAccesses[argument] =
          align(operands[argument.getArgNumber()], last);
      noteVariation(argument);
    }
    for (Operation &inner : body) {
      if (inner.getNumResults() != 1)
        continue;
      Value value = inner.getResult(0);
      noteVariation(value);
      StridedView dense{value, 0, llvm::to_vector(shapeOf(value)),
                        denseStrides(shapeOf(value))};
      if (auto iota = dyn_cast<nn::IotaOp>(inner)) {
        for (auto [dim, stride] : llvm::enumerate(dense.strides))
          stride = dim == iota.getDim();
        positionAccesses[value] = align(dense, last);
      } else if (isa<nn::InRangeOp, nn::RandomUniformOp>(inner)) {
        positionAccesses[value] = align(dense, last);
      }
    }
    ValueRange yielded = cast<nn::YieldOp>(body.getTerminator()).getValues();
    for (auto [view, value] : llvm::zip(results, yielded))
      resultAccesses.push_back(accessTo(view, value));
  }

  /// The leading dimensions of the result belong to the indices, the others to
  /// the rows of the table.
  SpaceGather gatherOf(nn::TakeOp take, int64_t last) const {
    StridedView row = viewOfArgument(take.getTable());
    int64_t rowStride = row.strides.front(), rowRank = row.sizes.size() - 1;
    row.sizes.erase(row.sizes.begin());
    row.strides.erase(row.strides.begin());
    return {align(viewOfArgument(take.getIndices()), last - rowRank),
            align(row, last), rowStride};
  }

  const StridedView &viewOfArgument(Value value) const {
    return operands[cast<BlockArgument>(value).getArgNumber()];
  }

  /// Whether dimension `inner` continues the steps of dimension `outer` in
  /// every access.
  bool mergeable(int64_t outer, int64_t inner) const {
    if (reduced[outer] != reduced[inner])
      return false;
    auto follows = [&](const SpaceAccess &access) {
      return access.strides[outer] == access.strides[inner] * space[inner];
    };
    for (auto &entry : argumentAccesses)
      if (!follows(entry.second))
        return false;
    for (auto &entry : gathers)
      if (!follows(entry.second.index) || !follows(entry.second.row))
        return false;
    for (auto &entry : positionAccesses)
      if (!follows(entry.second))
        return false;
    for (auto &entry : variation)
      if (entry.second[outer] != entry.second[inner])
        return false;
    return llvm::all_of(resultAccesses, follows);
  }

  void formLoops(KernelShape &shape) const {
    int64_t previous = -1;
    for (int64_t dim = 0; dim < (int64_t)space.size(); ++dim) {
      if (space[dim] == 1)
        continue;
      if (previous >= 0 && mergeable(previous, dim)) {
        shape.loops.back().size *= space[dim];
        shape.loops.back().dims.push_back(dim);
      } else {
        shape.loops.push_back({space[dim], reduced[dim], {dim}});
      }
      previous = dim;
    }
    if (shape.loops.empty())
      shape.loops.push_back({1, false, {}});
  }

  nn::FusedOp op;
  Block &body;
  ArrayRef<StridedView> operands, results;
  SmallVector<int64_t> space;
  SmallVector<bool> reduced;
  llvm::MapVector<Value, SpaceAccess> argumentAccesses, positionAccesses;
  llvm::MapVector<Operation *, SpaceGather> gathers;
  llvm::MapVector<Value, SmallVector<bool>> variation;
  SmallVector<SpaceAccess> resultAccesses;
};

} // namespace

KernelShape gpuopt::kernelShape(nn::FusedOp op,
                                ArrayRef<StridedView> operandViews,
                                ArrayRef<StridedView> resultViews) {
  KernelShape shape = ShapeBuilder(op, operandViews, resultViews).build();
  for (const StridedView &view : operandViews)
    shape.origins.push_back(view.offset);
  for (const StridedView &view : resultViews)
    shape.origins.push_back(view.offset);
  return shape;
}

bool gpuopt::variesAlongReduced(const KernelShape &shape, Value value) {
  const SmallVector<bool> &varies = shape.varies.find(value)->second;
  for (auto [loop, isVarying] : llvm::zip(shape.loops, varies))
    if (loop.isReduced && isVarying)
      return true;
  return false;
}
