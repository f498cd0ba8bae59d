//===- NNAttentionCalls.cpp - Attention as calls of the runtime -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the calls of attention() and attention_backward(), which are in
// Runtime/gpuopt/ops/attention.h.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static ArrayRef<int64_t> shapeOf(Value value) {
  return tensorType(value).getShape();
}

/// The most elements of a query or a value that the kernels can hold.
static constexpr int64_t kLargestHead = 256;
/// Two batch dimensions, the rows, and the elements of a row.
static constexpr int64_t kMostDims = 4;

StringRef AttentionOp::getReasonAgainstCall() {
  RankedTensorType query = tensorType(getQuery());
  if (query.getElementType().isF64())
    return "its elements are f64";
  if (query.getRank() > kMostDims)
    return "it has more than two batch dimensions";
  if (query.getNumElements() == 0 ||
      tensorType(getValue()).getNumElements() == 0)
    return "it has no elements";
  if (std::max(query.getShape().back(), shapeOf(getValue()).back()) >
      kLargestHead)
    return "its heads are larger than 256";
  return "";
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Returns the view of a result in the order of the op's own dimensions; the
/// result has another order.
static StridedView withoutOrder(const StridedView &view,
                                std::optional<ArrayRef<int64_t>> order) {
  StridedView result = view;
  if (order)
    for (auto [index, dim] : llvm::enumerate(*order)) {
      result.sizes[dim] = view.sizes[index];
      result.strides[dim] = view.strides[index];
    }
  return result;
}

/// Returns whether the arguments of a call can say where the elements of a
/// tensor lie.
static bool hasUnitStride(const StridedView &view) {
  return view.sizes.size() <= kMostDims &&
         (view.sizes.back() == 1 || view.strides.back() == 1);
}

bool AttentionOp::supportsLayouts(const CallLayouts &layouts) {
  return llvm::all_of(ArrayRef(layouts.operands).take_front(3),
                      hasUnitStride) &&
         hasUnitStride(layouts.results[0]) && layouts.results[1].isDense();
}
bool AttentionGradOp::supportsLayouts(const CallLayouts &layouts) {
  ArrayRef<StridedView> operands = layouts.operands;
  return llvm::all_of(operands.take_front(4), hasUnitStride) &&
         operands[4].isDense() && hasUnitStride(operands[5]) &&
         llvm::all_of(layouts.results, hasUnitStride);
}
bool AttentionOp::canWriteParts() { return true; }
bool AttentionGradOp::canWriteParts() { return true; }

bool AttentionOp::takesOrder(unsigned result) {
  return result == 0 && !getOrder();
}
bool AttentionGradOp::takesOrder(unsigned) { return !getOrder(); }

//===----------------------------------------------------------------------===//
// Precision and workspace
//===----------------------------------------------------------------------===//

PrecisionRole AttentionOp::getPrecisionRole() { return PrecisionRole::Product; }
PrecisionRole AttentionGradOp::getPrecisionRole() {
  return PrecisionRole::Product;
}

SmallVector<OpOperand *> AttentionOp::getFactors() {
  return {&getQueryMutable(), &getKeyMutable(), &getValueMutable()};
}
SmallVector<OpOperand *> AttentionGradOp::getFactors() {
  return {&getQueryMutable(), &getKeyMutable(), &getValueMutable(),
          &getOutputMutable(), &getGradientMutable()};
}

bool AttentionOp::keepsType(Value value) {
  return value == getMask() || value == getStatistics();
}
bool AttentionGradOp::keepsType(Value value) {
  return value == getMask() || value == getStatistics();
}

/// The kernels of a GPU keep four floats for each query (attention_workspace of
/// Runtime/gpuopt/ops/attention.h).
int64_t AttentionGradOp::getRequiredWorkspaceInBytes() {
  int64_t queries = tensorType(getStatistics()).getNumElements() / 2;
  return llvm::alignTo(16 * queries, 256);
}
int64_t AttentionGradOp::getWorkspaceInBytes() {
  return getRequiredWorkspaceInBytes();
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

namespace {
/// The strides of two batch dimensions, of rows, and of the elements of a row.
struct Strides {
  int64_t batch[2] = {0, 0}, row, element;
};
} // namespace

static Strides stridesOf(const StridedView &view) {
  Strides result;
  ArrayRef<int64_t> strides = view.strides;
  result.element = strides.back();
  result.row = strides.take_back(2)[0];
  ArrayRef<int64_t> batch = strides.drop_back(2);
  for (size_t i = 0; i < batch.size(); ++i)
    result.batch[2 - batch.size() + i] = batch[i];
  return result;
}

/// Returns the strides of a mask; they are 0 in dimensions along which it is
/// repeated.
static Strides stridesOfMask(StridedView view) {
  for (auto [size, stride] : llvm::zip(view.sizes, view.strides))
    if (size == 1)
      stride = 0;
  while (view.strides.size() < 2)
    view.strides.insert(view.strides.begin(), 0);
  return stridesOf(view);
}

static void setStrides(StructConstant &shape, StringRef tensor,
                       const StridedView &view) {
  Strides strides = stridesOf(view);
  shape.pair((tensor + "_batch").str(), strides.batch[0], strides.batch[1], 0);
  shape.field((tensor + "_row").str(), strides.row);
}

/// Returns the fields of AttentionShape for an attention or its gradient.
template <typename OpT>
static StructConstant attentionShape(OpT op, const CallLayouts &layouts,
                                     const StridedView &y,
                                     const StridedView *mask) {
  ArrayRef<int64_t> query = shapeOf(op.getQuery()), key = shapeOf(op.getKey());
  int64_t rows = query.take_back(2)[0], keys = key.take_back(2)[0];
  StructConstant shape("AttentionShape", "kAttention" + std::to_string(rows) +
                                             "x" + std::to_string(keys) + "_" +
                                             std::to_string(query.back()));
  int64_t batch[2] = {1, 1};
  ArrayRef<int64_t> leading = query.drop_back(2);
  for (size_t i = 0; i < leading.size(); ++i)
    batch[2 - leading.size() + i] = leading[i];
  shape.pair("batch", batch[0], batch[1], 1);
  shape.field("queries", rows);
  shape.field("keys", keys);
  shape.field("key_size", query.back());
  shape.field("value_size", shapeOf(op.getValue()).back());
  setStrides(shape, "q", layouts.operands[0]);
  setStrides(shape, "k", layouts.operands[1]);
  setStrides(shape, "v", layouts.operands[2]);
  setStrides(shape, "y", y);
  if (mask) {
    Strides strides = stridesOfMask(*mask);
    shape.pair("mask_batch", strides.batch[0], strides.batch[1], 0);
    shape.field("mask_row", strides.row, 0);
    shape.field("mask_key", strides.element, 0);
  }
  if (std::optional<ArrayRef<int64_t>> band = op.getBand()) {
    shape.field("first_key", (*band)[0]);
    shape.field("last_key", (*band)[1]);
  }
  return shape;
}

/// Returns the fields of AttentionOptions.
template <typename OpT>
static void setOptions(RuntimeCall &call, OpT op) {
  if (double scale = op.getScale().convertToDouble(); scale != 1)
    call.setOption("scale", scale);
  Value mask = op.getMask();
  bool isBoolean = mask && tensorType(mask).getElementType().isInteger(1);
  if (isBoolean)
    call.setOption("mask", mask);
  if (isBoolean && op.getMaskedValue())
    call.setOption("masked_value", op.getMaskedValue()->convertToDouble());
  if (mask && !isBoolean)
    call.setOption("bias", mask);
  if (op.getZeroesEmpty())
    call.setOption("zeroes_empty", int64_t(1));
  if (op.getDropoutRatio()) {
    call.setOption("dropout", op.getDropoutRatio()->convertToDouble());
    call.setOption("stream", int64_t(*op.getStream()));
    call.setOption("state", StepStatePointer{});
  }
}

static constexpr StringLiteral kHeader = "gpuopt/ops/attention.h";

RuntimeCall AttentionOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("attention", kHeader);
  call.passConstant(attentionShape(*this, layouts,
                                   withoutOrder(layouts.results[0], getOrder()),
                                   getMask() ? &layouts.operands[3] : nullptr));
  for (Value tensor : {getQuery(), getKey(), getValue()})
    call.pass(tensor);
  call.pass(getResult());
  call.pass(getStatistics());
  setOptions(call, *this);
  return call;
}

RuntimeCall AttentionGradOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("attention_backward", kHeader);
  StructConstant shape =
      attentionShape(*this, layouts, layouts.operands[3],
                     getMask() ? &layouts.operands[6] : nullptr);
  StructConstant gradients("AttentionGradientShape", shape.name + "_gradients");
  setStrides(gradients, "dy", layouts.operands[5]);
  static constexpr StringLiteral kNames[] = {"dq", "dk", "dv"};
  for (auto [name, view] : llvm::zip(kNames, layouts.results))
    setStrides(gradients, name, withoutOrder(view, getOrder()));
  call.passConstant(std::move(shape));
  call.passConstant(std::move(gradients));
  for (Value operand : getOperands().take_front(6))
    call.pass(operand);
  for (Value result : getResults())
    call.pass(result);
  setOptions(call, *this);
  return call;
}
