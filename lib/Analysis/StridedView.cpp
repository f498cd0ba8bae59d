//===- StridedView.cpp - How a value lies in memory -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/StridedView.h"

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;

SmallVector<int64_t> gpuopt::denseStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t dim = (int64_t)sizes.size() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * sizes[dim + 1];
  return strides;
}

bool StridedView::isDense() const {
  int64_t expected = 1;
  for (auto [size, stride] : llvm::reverse(llvm::zip(sizes, strides))) {
    if (size != 1 && stride != expected)
      return false;
    expected *= size;
  }
  return true;
}

bool gpuopt::isViewOp(Operation *op) {
  return isa_and_nonnull<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp,
                         nn::SliceOp>(op);
}

/// Strides of `view` under another shape, where the same memory order allows
/// it: each run of source dimensions that one run of target dimensions covers
/// must be contiguous within itself.
static std::optional<SmallVector<int64_t>>
reshapeStrides(const StridedView &view, ArrayRef<int64_t> target) {
  SmallVector<int64_t> sizes, strides; // without dimensions of size 1
  for (auto [size, stride] : llvm::zip(view.sizes, view.strides))
    if (size != 1) {
      sizes.push_back(size);
      strides.push_back(stride);
    }
  SmallVector<int64_t> result(target.size(), 0);
  size_t source = 0, dim = 0;
  while (source < sizes.size()) {
    size_t firstSource = source, firstDim = dim;
    int64_t have = sizes[source++], want = 1;
    while (want != have || dim == firstDim) {
      if (want < have || dim == firstDim) {
        if (dim == target.size())
          return std::nullopt;
        want *= target[dim++];
      } else if (source < sizes.size()) {
        have *= sizes[source++];
      } else {
        return std::nullopt;
      }
    }
    for (size_t i = firstSource; i + 1 < source; ++i)
      if (strides[i] != strides[i + 1] * sizes[i + 1])
        return std::nullopt;
    int64_t stride = strides[source - 1];
    for (size_t i = dim; i-- > firstDim;) {
      result[i] = target[i] == 1 ? 0 : stride;
      stride *= target[i];
    }
  }
  return result;
}

static std::optional<StridedView> reshapeView(StridedView view,
                                              nn::ReshapeOp op) {
  ArrayRef<int64_t> target = op.getType().getShape();
  if (op.getType().getNumElements() == 0)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> strides = reshapeStrides(view, target);
  if (!strides)
    return std::nullopt;
  return StridedView{view.root, view.offset, llvm::to_vector(target), *strides};
}

static StridedView transposeView(StridedView view, nn::TransposeOp op) {
  StridedView result{view.root, view.offset, {}, {}};
  for (int64_t dim : op.getPermutation()) {
    result.sizes.push_back(view.sizes[dim]);
    result.strides.push_back(view.strides[dim]);
  }
  return result;
}

static StridedView broadcastView(StridedView view, nn::BroadcastOp op) {
  ArrayRef<int64_t> target = op.getType().getShape();
  StridedView result{view.root, view.offset, llvm::to_vector(target),
                     SmallVector<int64_t>(target.size(), 0)};
  size_t missing = target.size() - view.sizes.size();
  for (size_t dim = 0; dim < view.sizes.size(); ++dim)
    if (view.sizes[dim] == target[missing + dim])
      result.strides[missing + dim] = view.strides[dim];
  return result;
}

static StridedView sliceView(StridedView view, nn::SliceOp op) {
  for (size_t dim = 0; dim < view.sizes.size(); ++dim) {
    view.offset += op.getOffsets()[dim] * view.strides[dim];
    view.strides[dim] *= op.getStrides()[dim];
    view.sizes[dim] = op.getSizes()[dim];
  }
  return view;
}

Value gpuopt::memoryOwner(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto product = dyn_cast<nn::ContractOp>(op);
    auto kernel = dyn_cast<nn::FusedOp>(op);
    Value overwritten =
        kernel ? kernel.getOverwritten(cast<OpResult>(value).getResultNumber())
               : Value();
    if (overwritten)
      value = overwritten;
    else if (isViewOp(op))
      value = op->getOperand(0);
    else if (product && product.getAccumulator())
      value = product.getAccumulator();
    else
      break;
  }
  return value;
}

std::optional<StridedView> gpuopt::viewOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isViewOp(op)) {
    ArrayRef<int64_t> sizes =
        cast<RankedTensorType>(value.getType()).getShape();
    return StridedView{memoryOwner(value), 0, llvm::to_vector(sizes),
                       denseStrides(sizes)};
  }
  std::optional<StridedView> source = viewOf(op->getOperand(0));
  if (!source)
    return std::nullopt;
  return TypeSwitch<Operation *, std::optional<StridedView>>(op)
      .Case(
          [&](nn::ReshapeOp reshape) { return reshapeView(*source, reshape); })
      .Case([&](nn::TransposeOp transpose) {
        return transposeView(*source, transpose);
      })
      .Case([&](nn::BroadcastOp broadcast) {
        return broadcastView(*source, broadcast);
      })
      .Case([&](nn::SliceOp slice) { return sliceView(*source, slice); });
}

StridedView gpuopt::concatPart(nn::ConcatOp op, unsigned index) {
  ArrayRef<int64_t> whole = op.getType().getShape();
  StridedView view{op.getResult(), 0, {}, denseStrides(whole)};
  for (unsigned before = 0; before < index; ++before)
    view.offset += cast<RankedTensorType>(op.getInputs()[before].getType())
                       .getDimSize(op.getDim()) *
                   view.strides[op.getDim()];
  view.sizes = llvm::to_vector(
      cast<RankedTensorType>(op.getInputs()[index].getType()).getShape());
  return view;
}

StridedView gpuopt::destinationOf(Value result) {
  StridedView own = *viewOf(result);
  if (own.root != result)
    return own; // added to what lies there
  Value value = result;
  while (isa_and_nonnull<nn::FusedOp, nn::ContractOp>(result.getDefiningOp()) &&
         value.hasOneUse()) {
    OpOperand &use = *value.getUses().begin();
    if (auto concat = dyn_cast<nn::ConcatOp>(use.getOwner())) {
      StridedView part = concatPart(concat, use.getOperandNumber());
      std::optional<SmallVector<int64_t>> strides =
          reshapeStrides(part, own.sizes);
      return strides ? StridedView{part.root, part.offset, own.sizes, *strides}
                     : own;
    }
    auto reshape = dyn_cast<nn::ReshapeOp>(use.getOwner());
    if (!reshape)
      break;
    value = reshape.getResult();
  }
  return own;
}
