//===- SliceRows.cpp - Some rows of a value, and of what it is made of ----===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/SliceRows.h"

#include "llvm/ADT/DenseMap.h"

#include <numeric>

using namespace mlir;
using namespace gpuopt;
using nn::TensorBuilder;

static int64_t rowsOf(Value value) {
  ArrayRef<int64_t> shape = TensorBuilder::shape(value);
  return shape.empty() ? 1 : shape[0];
}

static SmallVector<int64_t> withRows(ArrayRef<int64_t> shape, int64_t rows) {
  SmallVector<int64_t> result(shape);
  result[0] = rows;
  return result;
}

static Value plainSlice(TensorBuilder &b, Value value, int64_t from,
                        int64_t size) {
  ArrayRef<int64_t> shape = TensorBuilder::shape(value);
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  offsets[0] = from;
  return b.createOrFold<nn::SliceOp>(value, offsets, withRows(shape, size),
                                     strides);
}

/// Slices an operand of a product if it has the letter of the rows.
static Value sliceOperand(TensorBuilder &b, Value operand, StringRef letters,
                          char rows, int64_t from, int64_t size) {
  size_t dim = letters.find(rows);
  if (dim == StringRef::npos)
    return operand;
  ArrayRef<int64_t> shape = TensorBuilder::shape(operand);
  SmallVector<int64_t> offsets(shape.size(), 0), sizes(shape),
      strides(shape.size(), 1);
  offsets[dim] = from;
  sizes[dim] = size;
  return b.createOrFold<nn::SliceOp>(operand, offsets, sizes, strides);
}

static Value sliceProduct(TensorBuilder &b, nn::ContractOp op, int64_t from,
                          int64_t size) {
  char rows = op.getResultLetters()[0];
  Value lhs =
      sliceOperand(b, op.getLhs(), op.getLhsLetters(), rows, from, size);
  Value rhs =
      sliceOperand(b, op.getRhs(), op.getRhsLetters(), rows, from, size);
  return b.create<nn::ContractOp>(op.getSpec(), lhs, rhs);
}

/// For a reshape that splits or merges whole rows, converts rows of the result
/// to rows of the operand. Returns nothing if they are not a whole number of
/// rows.
static std::optional<std::pair<int64_t, int64_t>>
rowsOfOperand(nn::ReshapeOp op, int64_t from, int64_t size) {
  int64_t result = rowsOf(op.getResult()), operand = rowsOf(op.getInput());
  if (operand % result == 0)
    return std::pair(from * (operand / result), size * (operand / result));
  int64_t factor = result / operand;
  if (result % operand != 0 || from % factor != 0 || size % factor != 0)
    return std::nullopt;
  return std::pair(from / factor, size / factor);
}

static bool isElementwiseOnRows(Operation *op) {
  if (!op || op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      !op->hasTrait<OpTrait::Elementwise>())
    return false;
  ArrayRef<int64_t> shape = TensorBuilder::shape(op->getResult(0));
  return !shape.empty() && llvm::all_of(op->getOperands(), [&](Value operand) {
    return TensorBuilder::shape(operand) == shape;
  });
}

namespace {

/// Finds how many rows slices must have together. It remembers each value,
/// since many paths may lead to it.
class Granularity {
public:
  int64_t of(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    int64_t together = compute(value);
    known[value] = together;
    return together;
  }

private:
  int64_t compute(Value value) {
    Operation *op = value.getDefiningOp();
    if (rowsOf(value) == 0)
      return 0;
    if (isa_and_nonnull<nn::ContractOp>(op))
      return 1;
    if (auto transpose = dyn_cast_or_null<nn::TransposeOp>(op))
      return transpose.getPermutation()[0] == 0 ? of(transpose.getInput()) : 0;
    if (auto reshape = dyn_cast_or_null<nn::ReshapeOp>(op))
      return ofReshape(reshape);
    int64_t together = 0;
    if (isElementwiseOnRows(op))
      for (Value operand : op->getOperands())
        if (int64_t own = of(operand))
          together = std::lcm(std::max<int64_t>(together, 1), own);
    return together;
  }

  int64_t ofReshape(nn::ReshapeOp op) {
    int64_t together = of(op.getInput()), result = rowsOf(op.getResult()),
            operand = rowsOf(op.getInput());
    if (together == 0)
      return 0;
    if (result % operand == 0)
      return together * (result / operand);
    int64_t factor = operand / result;
    return operand % result == 0 ? std::lcm(together, factor) / factor : 0;
  }

  llvm::DenseMap<Value, int64_t> known;
};

/// Slices values. It remembers each slice, so that ops with several readers are
/// built once.
class RowSlicer {
public:
  explicit RowSlicer(TensorBuilder &b) : b(b) {}

  Value slice(Value value, int64_t from, int64_t size) {
    auto key = std::tuple(value, from, size);
    if (Value found = known.lookup(key))
      return found;
    Value sliced = build(value, from, size);
    known[key] = sliced;
    return sliced;
  }

private:
  Value build(Value value, int64_t from, int64_t size) {
    Operation *op = value.getDefiningOp();
    if (auto product = dyn_cast_or_null<nn::ContractOp>(op))
      return sliceProduct(b, product, from, size);
    if (auto transpose = dyn_cast_or_null<nn::TransposeOp>(op);
        transpose && transpose.getPermutation()[0] == 0)
      return b.transpose(slice(transpose.getInput(), from, size),
                         transpose.getPermutation());
    if (auto reshape = dyn_cast_or_null<nn::ReshapeOp>(op))
      if (auto rows = rowsOfOperand(reshape, from, size)) {
        Value sliced = slice(reshape.getInput(), rows->first, rows->second);
        return b.reshape(sliced, withRows(TensorBuilder::shape(value), size));
      }
    if (auto broadcast = dyn_cast_or_null<nn::BroadcastOp>(op)) {
      Value input = broadcast.getInput();
      bool hasRows = TensorBuilder::shape(input).size() ==
                         TensorBuilder::shape(value).size() &&
                     rowsOf(input) != 1;
      return b.broadcast(hasRows ? slice(input, from, size) : input,
                         withRows(TensorBuilder::shape(value), size));
    }
    return isElementwiseOnRows(op) ? cloneOnRows(op, from, size)
                                   : plainSlice(b, value, from, size);
  }

  Value cloneOnRows(Operation *op, int64_t from, int64_t size) {
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(slice(operand, from, size));
    auto type = TensorBuilder::type(op->getResult(0));
    state.addTypes(RankedTensorType::get(withRows(type.getShape(), size),
                                         type.getElementType()));
    state.addAttributes(op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return b.create(state)->getResult(0);
  }

  TensorBuilder &b;
  llvm::DenseMap<std::tuple<Value, int64_t, int64_t>, Value> known;
};

} // namespace

int64_t train::rowsPerSlice(Value value) { return Granularity().of(value); }

Value train::sliceRows(TensorBuilder &b, Value value, int64_t from,
                       int64_t size) {
  return RowSlicer(b).slice(value, from, size);
}
