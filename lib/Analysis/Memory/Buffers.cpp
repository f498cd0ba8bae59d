//===- Buffers.cpp - Which memory values lie in ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/Buffers.h"

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/RowPitch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;

bool gpuopt::isViewOp(Operation *op) { return op && op->hasTrait<ViewTrait>(); }

bool gpuopt::namesMemory(Operation *op) {
  return isViewOp(op) || isa<train::ReadOp>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

bool gpuopt::doesWork(Operation *op) {
  return !namesMemory(op) && !isa<nn::ConcatOp>(op);
}

Value gpuopt::sourceOf(Value value) {
  while (isViewOp(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value gpuopt::sourceUpToSlice(Value value) {
  while (isViewOp(value.getDefiningOp()) &&
         !isa<nn::SliceOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

static void collectReaders(Value value, llvm::SetVector<Operation *> &readers) {
  for (Operation *user : value.getUsers())
    if (isViewOp(user))
      collectReaders(user->getResult(0), readers);
    else
      readers.insert(user);
}

SmallVector<Operation *> gpuopt::readersOf(Value value) {
  llvm::SetVector<Operation *> readers;
  collectReaders(value, readers);
  return llvm::to_vector(readers);
}

bool gpuopt::isReadOnce(Value value) {
  while (value.hasOneUse() && isViewOp(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.hasOneUse();
}

/// Returns the strides of `view` under another shape, or nothing if its memory
/// order does not allow that: each run of source dimensions that a run of
/// target dimensions covers must be contiguous.
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
  return StridedView{view.buffer, view.offset, llvm::to_vector(target),
                     *strides};
}

static StridedView transposeView(StridedView view, nn::TransposeOp op) {
  StridedView result{view.buffer, view.offset, {}, {}};
  for (int64_t dim : op.getPermutation()) {
    result.sizes.push_back(view.sizes[dim]);
    result.strides.push_back(view.strides[dim]);
  }
  return result;
}

static StridedView broadcastView(StridedView view, nn::BroadcastOp op) {
  ArrayRef<int64_t> target = op.getType().getShape();
  StridedView result{view.buffer, view.offset, llvm::to_vector(target),
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
  view.extents.clear();
  return view;
}

Value gpuopt::operandInPlace(OpResult result) {
  if (auto kernel = dyn_cast<nn::FusedOp>(result.getOwner()))
    return kernel.getOverwritten(result.getResultNumber());
  if (auto call = dyn_cast<RuntimeCallOpInterface>(result.getOwner()))
    return call.getTiedOperand(result.getResultNumber());
  return {};
}

static bool hasTiedResult(Operation *op) {
  return isa<RuntimeCallOpInterface>(op) &&
         llvm::any_of(op->getResults(), operandInPlace);
}

bool gpuopt::isUpdatedInPlace(Operation *op) {
  return hasTiedResult(op) || llvm::any_of(op->getUses(), [](OpOperand &use) {
           Operation *user = use.getOwner();
           return isa<RuntimeCallOpInterface>(user) &&
                  llvm::is_contained(
                      llvm::map_range(user->getResults(), operandInPlace),
                      use.get());
         });
}

Value gpuopt::bufferOf(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    if (Value overwritten = operandInPlace(result))
      value = overwritten;
    else if (isViewOp(result.getOwner()))
      value = result.getOwner()->getOperand(0);
    else
      break;
  }
  return value;
}

std::optional<StridedView> gpuopt::viewOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isViewOp(op)) {
    auto type = cast<RankedTensorType>(value.getType());
    return StridedView{bufferOf(value),
                       0,
                       llvm::to_vector(type.getShape()),
                       stridesInMemory(type),
                       extentsInMemory(type),
                       padsOf(type).areZeros};
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
  StridedView view{op.getResult(), 0, {}, stridesInMemory(op.getType())};
  for (unsigned before = 0; before < index; ++before)
    view.offset += cast<RankedTensorType>(op.getInputs()[before].getType())
                       .getDimSize(op.getDim()) *
                   view.strides[op.getDim()];
  view.sizes = llvm::to_vector(
      cast<RankedTensorType>(op.getInputs()[index].getType()).getShape());
  return view;
}

static bool canWriteParts(Operation *op) {
  auto call = dyn_cast_or_null<RuntimeCallOpInterface>(op);
  return call ? call.canWriteParts() : isa_and_nonnull<nn::FusedOp>(op);
}

StridedView gpuopt::destinationOf(Value result) {
  StridedView own = *viewOf(result);
  if (own.buffer != result)
    return own; // added to what lies there
  Value value = result;
  while (canWriteParts(result.getDefiningOp()) && value.hasOneUse()) {
    OpOperand &use = *value.getUses().begin();
    if (auto concat = dyn_cast<nn::ConcatOp>(use.getOwner())) {
      StridedView part = concatPart(concat, use.getOperandNumber());
      std::optional<SmallVector<int64_t>> strides =
          reshapeStrides(part, own.sizes);
      if (!strides)
        return own;
      return StridedView{part.buffer, part.offset, own.sizes, *strides};
    }
    auto reshape = dyn_cast<nn::ReshapeOp>(use.getOwner());
    if (!reshape)
      break;
    value = reshape.getResult();
  }
  return own;
}

bool gpuopt::ownsMemory(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return result && !namesMemory(result.getOwner()) && !operandInPlace(result) &&
         destinationOf(result).buffer == value;
}

SmallVector<Value> gpuopt::iterationBuffersOf(nn::ScanOp scan) {
  SmallVector<Value> owners;
  for (Operation &op : scan.getIteration())
    for (Value result : op.getResults())
      if (ownsMemory(result) && !llvm::is_contained(scan.getYielded(), result))
        owners.push_back(result);
  return owners;
}

/// Calls the function with the layouts of a call whose results lie as
/// `resultLayout` says.
template <typename Function>
static std::optional<CallLayouts> collectLayouts(RuntimeCallOpInterface call,
                                                 Function resultLayout) {
  CallLayouts layouts;
  for (Value operand : call->getOperands()) {
    std::optional<StridedView> view = viewOf(operand);
    if (!view)
      return std::nullopt;
    layouts.operands.push_back(std::move(*view));
  }
  for (Value result : call->getResults())
    layouts.results.push_back(resultLayout(result));
  return layouts;
}

std::optional<CallLayouts> gpuopt::layoutsOf(RuntimeCallOpInterface call) {
  return collectLayouts(call, destinationOf);
}

bool gpuopt::canReadOperands(RuntimeCallOpInterface call) {
  std::optional<CallLayouts> layouts =
      collectLayouts(call, [](Value result) { return *viewOf(result); });
  return layouts && call.supportsLayouts(*layouts);
}

bool gpuopt::canBeMade(RuntimeCallOpInterface call) {
  std::optional<CallLayouts> layouts = layoutsOf(call);
  return layouts && call.supportsLayouts(*layouts);
}
