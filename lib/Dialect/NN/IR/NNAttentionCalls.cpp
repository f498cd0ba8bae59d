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

#include "gpuopt/Dialect/NN/IR/AttentionScores.h"
#include "gpuopt/Support/TensorType.h"
#include "gpuopt/settings/limits.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static ArrayRef<int64_t> shapeOf(Value value) {
  return tensorType(value).getShape();
}

/// Three batch dimensions, the rows, and the elements of a row.
static constexpr int64_t kMostBatchDims = 3;
static constexpr int64_t kMostDims = kMostBatchDims + 2;

/// Returns how many heads of the query share each head of keys and values.
template <typename OpT>
static int64_t groupSizeOf(OpT op) {
  ArrayRef<int64_t> batch = shapeOf(op.getQuery()).drop_back(2),
                    own = shapeOf(op.getKey()).drop_back(2);
  return batch.empty() ? 1 : batch.back() / std::max<int64_t>(1, own.back());
}

/// Returns the elements of a query or a value, whichever has more.
template <typename OpT>
static int64_t largestHeadOf(OpT op) {
  return std::max(shapeOf(op.getQuery()).back(), shapeOf(op.getValue()).back());
}

StringRef AttentionOp::getReasonAgainstCall() {
  RankedTensorType query = tensorType(getQuery());
  if (query.getElementType().isF64())
    return "its elements are f64";
  if (query.getRank() > kMostDims)
    return "it has more than three batch dimensions";
  if (query.getNumElements() == 0 ||
      tensorType(getValue()).getNumElements() == 0)
    return "it has no elements";
  if (largestHeadOf(*this) > kLargestAttentionHead)
    return "its heads are larger than 256";
  if (std::max(query.getDimSize(query.getRank() - 2),
               shapeOf(getKey()).drop_back().back()) > kMostAttentionRows)
    return "it has more than 2^30 queries or keys";
  // A group of heads is a batch dimension of the call.
  if (groupSizeOf(*this) > 1 && query.getRank() == kMostDims)
    return "its heads share keys, and it has more than two batch dimensions";
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
/// tensor lie. Kernels have the distance of its rows in 32 bits.
static bool hasUnitStride(const StridedView &view) {
  size_t rank = view.sizes.size();
  return rank <= kMostDims &&
         (view.sizes.back() == 1 || view.strides.back() == 1) &&
         view.strides[rank - 2] <= std::numeric_limits<int32_t>::max();
}

bool AttentionOp::supportsLayouts(const CallLayouts &layouts) {
  return llvm::all_of(ArrayRef(layouts.operands).take_front(3),
                      hasUnitStride) &&
         hasUnitStride(layouts.results[0]) && layouts.results[1].isDense();
}
bool AttentionGradOp::supportsLayouts(const CallLayouts &layouts) {
  ArrayRef<StridedView> operands = layouts.operands;
  ArrayRef<StridedView> results = layouts.results;
  return llvm::all_of(operands.take_front(4), hasUnitStride) &&
         operands[4].isDense() && hasUnitStride(operands[5]) &&
         llvm::all_of(results.take_front(3), hasUnitStride) &&
         (!getSums() || results[3].isDense());
}
bool AttentionOp::canWriteParts() { return true; }
bool AttentionGradOp::canWriteParts() { return true; }

bool AttentionOp::takesOrder(unsigned result) {
  return result == 0 && !getOrder();
}
bool AttentionGradOp::takesOrder(unsigned result) {
  return result < 3 && !getOrder();
}

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
  return value == getMask() || value == getBias() || value == getStatistics();
}
bool AttentionGradOp::keepsType(Value value) {
  return value == getMask() || value == getBias() || value == getStatistics() ||
         value == getSums();
}

/// A bias that is not trained has a gradient that nobody reads.
static bool wantsBiasGradient(AttentionGradOp op) {
  return op.getBias() && !op.getBiasGradient().use_empty();
}

/// Returns the bytes of the partial sums of a bias' gradient
/// (bias_gradient_workspace of Runtime/gpuopt/ops/attention.h).
static int64_t partialSumsInBytes(AttentionGradOp op) {
  RankedTensorType bias = tensorType(op.getBias());
  ArrayRef<int64_t> batch = shapeOf(op.getQuery()).drop_back(2), own;
  if (bias.getRank() > 2)
    own = bias.getShape().drop_back(2);
  int64_t repeats = 1, elements = bias.getNumElements();
  for (auto [index, size] : llvm::enumerate(llvm::reverse(batch)))
    if (index >= own.size() || own[own.size() - 1 - index] == 1)
      repeats *= size;
  int64_t parts = parts_of_bias_sums(elements, repeats);
  return parts == 1 ? 0 : 4 * parts * elements;
}

/// The kernels of a GPU keep four floats for each query (attention_workspace of
/// Runtime/gpuopt/ops/attention.h).
int64_t AttentionGradOp::getRequiredWorkspaceInBytes() {
  int64_t queries = tensorType(getStatistics()).getNumElements() / 2;
  return llvm::alignTo(16 * queries, 256) +
         (wantsBiasGradient(*this) ? partialSumsInBytes(*this) : 0);
}
int64_t AttentionGradOp::getWorkspaceInBytes() {
  return getRequiredWorkspaceInBytes();
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

namespace {
/// The strides of batch dimensions, of rows, and of the elements of a row.
struct Strides {
  std::array<int64_t, kMostBatchDims> batch;
  int64_t row, element;
};
} // namespace

namespace {
/// The batch dimensions of a call. Where groups of heads share keys and values,
/// the heads are two dimensions: [heads of keys, group]. An op with fewer
/// dimensions than a call has its own in the last of the first two, or of all
/// three if there are groups.
struct BatchDims {
  int64_t group; ///< Heads of the query for each head of keys.

  std::array<int64_t, kMostBatchDims> place(ArrayRef<int64_t> own,
                                            int64_t missing) const {
    std::array<int64_t, kMostBatchDims> result;
    result.fill(missing);
    size_t dims = group > 1 ? kMostBatchDims : 2;
    size_t begin = own.size() < dims ? dims - own.size() : 0;
    llvm::copy(own, result.begin() + begin);
    return result;
  }

  std::array<int64_t, kMostBatchDims> sizes(ArrayRef<int64_t> own) const {
    SmallVector<int64_t> split(own);
    if (group > 1) {
      split.back() /= group;
      split.push_back(group);
    }
    return place(split, 1);
  }

  /// `isShared` says that a tensor has one head for each group.
  Strides strides(const StridedView &view, bool isShared = false) const {
    ArrayRef<int64_t> all = view.strides;
    SmallVector<int64_t> split(all.drop_back(2));
    if (group > 1) {
      int64_t head = split.back();
      split.back() = isShared ? head : head * group;
      split.push_back(isShared ? 0 : head);
    }
    return {place(split, 0), all.take_back(2)[0], all.back()};
  }
};
} // namespace

/// Returns the strides of a mask or a bias of scores with `rank` dimensions;
/// they are 0 in dimensions along which it is repeated.
static Strides stridesOfMask(const BatchDims &dims, StridedView view,
                             size_t rank) {
  for (auto [size, stride] : llvm::zip(view.sizes, view.strides))
    if (size == 1)
      stride = 0;
  while (view.strides.size() < rank)
    view.strides.insert(view.strides.begin(), 0);
  return dims.strides(view);
}

/// Sets a field with a number for each batch dimension, unless all of them have
/// the value that is standard. What C++ sets to 0 at the end is left out.
static void setBatch(StructConstant &shape, const std::string &name,
                     ArrayRef<int64_t> numbers, int64_t standard = 0) {
  if (llvm::all_equal(numbers) && numbers[0] == standard)
    return;
  if (numbers.back() == 0)
    numbers = numbers.drop_back();
  shape.fields.push_back({name, llvm::SmallVector<int64_t, 2>(numbers)});
}

static void setStrides(StructConstant &shape, StringRef tensor,
                       const Strides &strides) {
  setBatch(shape, (tensor + "_batch").str(), strides.batch);
  shape.field((tensor + "_row").str(), strides.row);
}

/// Sets the strides of what is broadcast to the scores.
static void setBroadcastStrides(StructConstant &shape, StringRef tensor,
                                const Strides &strides) {
  setBatch(shape, (tensor + "_batch").str(), strides.batch);
  shape.field((tensor + "_row").str(), strides.row, 0);
  shape.field((tensor + "_key").str(), strides.element, 0);
}

/// Returns where an optional operand lies: the mask or the bias.
template <typename OpT>
static const StridedView &viewOf(OpT op, Value operand,
                                 const CallLayouts &layouts) {
  bool isBeforeBias = operand == op.getMask() && op.getBias();
  return layouts.operands[op->getNumOperands() - (isBeforeBias ? 2 : 1)];
}

/// Returns the fields of AttentionShape for an attention or its gradient.
template <typename OpT>
static StructConstant attentionShape(OpT op, const CallLayouts &layouts,
                                     const StridedView &y) {
  ArrayRef<int64_t> query = shapeOf(op.getQuery()), key = shapeOf(op.getKey());
  int64_t rows = query.take_back(2)[0], keys = key.take_back(2)[0];
  StructConstant shape("AttentionShape", "kAttention" + std::to_string(rows) +
                                             "x" + std::to_string(keys) + "_" +
                                             std::to_string(query.back()));
  const BatchDims dims{groupSizeOf(op)};
  setBatch(shape, "batch", dims.sizes(query.drop_back(2)), 1);
  shape.field("queries", rows);
  shape.field("keys", keys);
  shape.field("key_size", query.back());
  shape.field("value_size", shapeOf(op.getValue()).back());
  setStrides(shape, "q", dims.strides(layouts.operands[0]));
  setStrides(shape, "k", dims.strides(layouts.operands[1], true));
  setStrides(shape, "v", dims.strides(layouts.operands[2], true));
  setStrides(shape, "y", dims.strides(y));
  for (auto [name, operand] :
       {std::pair<StringRef, Value>("mask", op.getMask()),
        std::pair<StringRef, Value>("bias", op.getBias())})
    if (operand)
      setBroadcastStrides(
          shape, name,
          stridesOfMask(dims, viewOf(op, operand, layouts), query.size()));
  if (std::optional<ArrayRef<int64_t>> band = op.getBand()) {
    auto clamped = [](int64_t distance) {
      return std::clamp(distance, -kMostAttentionRows, kMostAttentionRows);
    };
    shape.field("first_key", clamped((*band)[0]));
    shape.field("last_key", clamped((*band)[1]));
  }
  return shape;
}

/// Returns the fields of AttentionOptions.
template <typename OpT>
static void setOptions(RuntimeCall &call, OpT op) {
  if (double scale = op.getScale().convertToDouble(); scale != 1)
    call.setOption("scale", scale);
  if (op.getSoftcap())
    call.setOption("softcap", op.getSoftcap()->convertToDouble());
  Value mask = op.getMask();
  bool isBoolean = mask && tensorType(mask).getElementType().isInteger(1);
  if (isBoolean)
    call.setOption("mask", mask);
  if (isBoolean && op.getMaskedValue())
    call.setOption("masked_value", op.getMaskedValue()->convertToDouble());
  if (mask && !isBoolean)
    call.setOption("added_mask", mask);
  if (op.getBias())
    call.setOption("bias", op.getBias());
  if (op.getZeroesEmpty())
    call.setOption("zeroes_empty", int64_t(1));
  if (op.getDropoutRatio()) {
    call.setOption("dropout", op.getDropoutRatio()->convertToDouble());
    call.setOption("stream", int64_t(*op.getStream()));
    call.setOption("state", StepStatePointer{});
  }
}

/// Returns whether each pair of neighbouring keys has an aligned pair of
/// elements in the mask.
template <typename OpT>
static bool hasMaskPairs(OpT op, const CallLayouts &layouts) {
  const StridedView &mask = viewOf(op, op.getMask(), layouts);
  if (mask.sizes.empty())
    return false;
  auto isEven = [](int64_t number) { return number % 2 == 0; };
  bool hasEvenRows = true;
  for (auto [size, stride] :
       llvm::drop_end(llvm::zip(mask.sizes, mask.strides)))
    hasEvenRows &= size == 1 || isEven(stride);
  return mask.sizes.back() > 1 && mask.strides.back() == 1 &&
         isEven(mask.offset) && hasEvenRows;
}

/// Returns whether all rows of an operand begin at a multiple of 16 bytes and
/// have a multiple of 16 bytes. Buffers begin at larger multiples.
static bool hasAlignedRows(Value operand, const StridedView &view) {
  int64_t vector = 128 / tensorType(operand).getElementTypeBitWidth();
  bool isAligned = view.offset % vector == 0 && view.sizes.back() % vector == 0;
  for (auto [size, stride] :
       llvm::drop_end(llvm::zip(view.sizes, view.strides)))
    isAligned &= size == 1 || stride % vector == 0;
  return isAligned;
}

/// Returns the kernels for a call that reads the rows of these operands.
template <typename OpT>
static AttentionKernels kernelsOf(OpT op, const CallLayouts &layouts,
                                  ArrayRef<unsigned> rows) {
  Value mask = op.getMask();
  bool isAdded = mask && !tensorType(mask).getElementType().isInteger(1);
  AttentionChanges changes;
  changes.has_aligned_rows = llvm::all_of(rows, [&](unsigned index) {
    return hasAlignedRows(op->getOperand(index), layouts.operands[index]);
  });
  changes.has_others = (mask && !isAdded) || op.getBias() || op.getSoftcap() ||
                       op.getDropoutRatio() ||
                       op.getScale().convertToDouble() <= 0;
  changes.has_added_mask = isAdded;
  changes.has_mask_pairs = isAdded && hasMaskPairs(op, layouts);
  int64_t head = attention_head_of(largestHeadOf(op));
  return {head, attention_scores_of(
                    changes, head,
                    tensorType(op.getQuery()).getElementTypeBitWidth() == 16)};
}

AttentionKernels nn::attentionKernelsOf(Operation *op,
                                        const CallLayouts &layouts) {
  if (auto gradient = dyn_cast<AttentionGradOp>(op))
    return kernelsOf(gradient, layouts, /*rows=*/{0, 1, 2, 5});
  return kernelsOf(cast<AttentionOp>(op), layouts, /*rows=*/{0, 1, 2});
}

/// Says which kernels compute a call.
static void nameKernels(RuntimeCall &call, const AttentionKernels &kernels) {
  call.passToTemplate(kernels.head);
  switch (kernels.scores) {
  case AttentionScores::Products:
    return call.passToTemplate("AttentionScores::Products");
  case AttentionScores::Masked:
    return call.passToTemplate("AttentionScores::Masked");
  case AttentionScores::Changed:
    return call.passToTemplate("AttentionScores::Changed");
  case AttentionScores::ChangedUnaligned:
    return call.passToTemplate("AttentionScores::ChangedUnaligned");
  }
}

static constexpr StringLiteral kHeader = "gpuopt/ops/attention.h";

RuntimeCall AttentionOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("attention", kHeader);
  nameKernels(call, attentionKernelsOf(*this, layouts));
  call.passConstant(attentionShape(
      *this, layouts, withoutOrder(layouts.results[0], getOrder())));
  for (Value tensor : {getQuery(), getKey(), getValue()})
    call.pass(tensor);
  call.pass(getResult());
  call.pass(getStatistics());
  setOptions(call, *this);
  return call;
}

RuntimeCall AttentionGradOp::getCall(const CallLayouts &layouts) {
  RuntimeCall call("attention_backward", kHeader);
  nameKernels(call, attentionKernelsOf(*this, layouts));
  StructConstant shape = attentionShape(*this, layouts, layouts.operands[3]);
  StructConstant gradients("AttentionGradientShape", shape.name + "_gradients");
  const BatchDims dims{groupSizeOf(*this)};
  setStrides(gradients, "dy", dims.strides(layouts.operands[5]));
  static constexpr StringLiteral kNames[] = {"dq", "dk", "dv"};
  for (auto [index, name] : llvm::enumerate(kNames))
    setStrides(gradients, name,
               dims.strides(withoutOrder(layouts.results[index], getOrder()),
                            /*isShared=*/index > 0));
  if (wantsBiasGradient(*this))
    setBroadcastStrides(
        gradients, "dbias",
        stridesOfMask(dims, layouts.results[3], shapeOf(getQuery()).size()));
  call.passConstant(std::move(shape));
  call.passConstant(std::move(gradients));
  for (Value operand : getOperands().take_front(6))
    call.pass(operand);
  for (Value result : getResults().take_front(3))
    call.pass(result);
  setOptions(call, *this);
  if (wantsBiasGradient(*this))
    call.setOption("bias_gradient", getBiasGradient());
  if (getColumnSums())
    call.setOption("column_sums", getColumnSums());
  return call;
}
