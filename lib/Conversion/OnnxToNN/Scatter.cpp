//===- Scatter.cpp - Elements written by index ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ScatterND and ScatterElements become updates of the rows of a table, which
// for ScatterElements are its elements. With a reduction, that is nn.scatter.
// Without one, the last update of a row wins: the greatest of the numbers of
// its updates says which it is (its owner), and rows are picked by that. So the
// gradient is that of a gather and of a choice.
//
//===----------------------------------------------------------------------===//

#include "Places.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace gpuopt;

namespace {

enum class Reduction { None, Add, Mul, Max, Min };

/// What is scattered: updates [i..., c...] go to the rows [i...] of a table [r,
/// c...].
struct Scatter {
  Value table, updates, rows;
  Reduction reduction;
};

} // namespace

/// Returns the reduction of the attribute; notes the problem if it is none.
static std::optional<Reduction> reductionOf(NodeConversion &c) {
  StringRef name = c.node.getString("reduction", "none");
  auto reduction = llvm::StringSwitch<std::optional<Reduction>>(name)
                       .Case("none", Reduction::None)
                       .Case("add", Reduction::Add)
                       .Case("mul", Reduction::Mul)
                       .Case("max", Reduction::Max)
                       .Case("min", Reduction::Min)
                       .Default(std::nullopt);
  bool isNumber = c.isFloat(0) || c.type(0).getElementTypeBitWidth() >= 32;
  if (!reduction)
    c.problem = ("attribute reduction = '" + name + "' is not supported").str();
  else if (*reduction != Reduction::None && !isNumber)
    c.problem = ("attribute reduction = '" + name +
                 "' needs floating-point numbers, or integers of 32 or 64 bits")
                    .str();
  return c.problem.empty() ? reduction : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static APInt combined(Reduction reduction, const APInt &a, const APInt &b) {
  switch (reduction) {
  case Reduction::None:
    return b;
  case Reduction::Add:
    return a + b;
  case Reduction::Mul:
    return a * b;
  case Reduction::Max:
    return llvm::APIntOps::smax(a, b);
  case Reduction::Min:
    return llvm::APIntOps::smin(a, b);
  }
  return b;
}

static APFloat combined(Reduction reduction, const APFloat &a,
                        const APFloat &b) {
  switch (reduction) {
  case Reduction::None:
    return b;
  case Reduction::Add:
    return a + b;
  case Reduction::Mul:
    return a * b;
  case Reduction::Max:
    return llvm::maximum(a, b);
  case Reduction::Min:
    return llvm::minimum(a, b);
  }
  return b;
}

template <typename Number>
static DenseElementsAttr
combineConstants(const Scatter &scatter, DenseElementsAttr table,
                 DenseElementsAttr updates, ArrayRef<int64_t> rows) {
  SmallVector<Number> result(table.getValues<Number>());
  SmallVector<Number> from(updates.getValues<Number>());
  int64_t columns = rows.empty() ? 0 : from.size() / rows.size();
  for (auto [i, row] : llvm::enumerate(rows))
    for (int64_t column = 0; column < columns; ++column) {
      Number &to = result[row * columns + column];
      to = combined(scatter.reduction, to, from[i * columns + column]);
    }
  return DenseElementsAttr::get(table.getType(), result);
}

/// Returns the result as a constant; null if an operand is none, or large.
static Value foldScatter(nn::TensorBuilder &b, const Scatter &scatter) {
  DenseElementsAttr table = constantOf(scatter.table),
                    updates = constantOf(scatter.updates);
  auto rows = integersOf(scatter.rows);
  if (!table || !updates || !rows ||
      table.getNumElements() > kMostComputedElements ||
      updates.getNumElements() > kMostComputedElements)
    return {};
  bool isFloat = isa<FloatType>(table.getElementType());
  return b.create<arith::ConstantOp>(
      isFloat ? combineConstants<APFloat>(scatter, table, updates, *rows)
              : combineConstants<APInt>(scatter, table, updates, *rows));
}

//===----------------------------------------------------------------------===//
// Without a reduction
//===----------------------------------------------------------------------===//

/// Returns for each row of the table the number of the last update that goes
/// there, or -1.
static Value ownersOf(nn::TensorBuilder &b, Value places, int64_t rowCount) {
  auto type = RankedTensorType::get({rowCount}, b.getI64Type());
  auto rows = integersOf(places);
  if (rows && rowCount <= kMostComputedElements) {
    SmallVector<int64_t> owners(type.getDimSize(0), -1);
    for (auto [i, row] : llvm::enumerate(*rows))
      owners[row] = i;
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, ArrayRef<int64_t>(owners)));
  }
  int64_t count = b.type(places).getNumElements();
  Value numbers =
      b.reshape(b.create<nn::IotaOp>(type.clone({count}), 0), b.shape(places));
  return b.create<nn::ScatterOp>(nn::ReductionKind::Max, b.splat(-1, type),
                                 numbers, places);
}

Value gpuopt::replaceRows(nn::TensorBuilder &b, Value table, Value updates,
                          Value rows) {
  int64_t indexRank = b.type(rows).getRank();
  if (b.type(rows).getNumElements() == 0 || b.type(table).getNumElements() == 0)
    return table;
  Value owners = ownersOf(b, rows, b.shape(table)[0]);
  RankedTensorType type = b.type(owners);
  Value zero = b.splat(0, type);
  Value isOwned = b.compare(arith::CmpIPredicate::sge, owners, zero);
  Value picked = b.createOrFold<arith::MaxSIOp>(owners, zero);
  Value taken =
      b.create<nn::TakeOp>(withMergedRows(b, updates, indexRank), picked);
  auto constant = integersOf(owners);
  if (constant && !llvm::is_contained(*constant, -1))
    return taken;
  SmallVector<int64_t> perRow(b.type(table).getRank(), 1);
  perRow[0] = type.getDimSize(0);
  // A kernel repeats the marks of rows; as a constant they would be as many as
  // the table's elements.
  RankedTensorType marks = b.type(table).clone(b.getI1Type());
  Value isReplaced = b.reshape(isOwned, perRow);
  if (b.type(isReplaced) != marks)
    isReplaced = b.create<nn::BroadcastOp>(marks, isReplaced);
  return b.createOrFold<arith::SelectOp>(isReplaced, taken, table);
}

//===----------------------------------------------------------------------===//
// The operators
//===----------------------------------------------------------------------===//

static nn::ReductionKind kindOf(Reduction reduction) {
  switch (reduction) {
  case Reduction::Mul:
    return nn::ReductionKind::Prod;
  case Reduction::Max:
    return nn::ReductionKind::Max;
  case Reduction::Min:
    return nn::ReductionKind::Min;
  default:
    return nn::ReductionKind::Sum;
  }
}

static Value scatterRows(nn::TensorBuilder &b, const Scatter &scatter) {
  if (Value folded = foldScatter(b, scatter))
    return folded;
  if (scatter.reduction == Reduction::None)
    return replaceRows(b, scatter.table, scatter.updates, scatter.rows);
  RankedTensorType table = b.type(scatter.table);
  if (scatter.reduction == Reduction::Add &&
      isa<FloatType>(table.getElementType()))
    return b.add(scatter.table, b.create<nn::ScatterAddOp>(
                                    scatter.updates, scatter.rows,
                                    table.getDimSize(0), Value(), TypeAttr()));
  return b.create<nn::ScatterOp>(kindOf(scatter.reduction), scatter.table,
                                 scatter.updates, scatter.rows);
}

static LogicalResult scatterND(NodeConversion &c) {
  auto reduction = reductionOf(c);
  if (!reduction)
    return failure();
  ArrayRef<int64_t> shape = c.type(0).getShape();
  Value rows = rowPlaces(c, c.input(1), shape);
  if (!rows)
    return failure();
  int64_t depth = c.type(1).getShape().back();
  SmallVector<int64_t> expected(c.b.shape(rows));
  llvm::append_range(expected, shape.drop_front(depth));
  if (c.type(2).getShape() != ArrayRef(expected))
    return c.fail("updates must have the shape of the indices, without the "
                  "last dimension, and of the rows that they name");
  Value table = withMergedRows(c.b, c.input(0), depth);
  Value result = scatterRows(c.b, {table, c.input(2), rows, *reduction});
  return c.yield(c.b.reshape(result, shape));
}

static LogicalResult scatterElements(NodeConversion &c) {
  auto axis = c.axis(c.node.getInt("axis", 0), c.type(0).getRank());
  auto reduction = reductionOf(c);
  if (!axis || !reduction)
    return failure();
  if (c.type(2).getShape() != c.type(1).getShape())
    return c.fail("updates must have the shape of the indices");
  ArrayRef<int64_t> shape = c.type(0).getShape();
  Value places = elementPlaces(c, c.input(1), shape, *axis);
  if (!places)
    return failure();
  Value table = c.b.reshape(c.input(0), {c.type(0).getNumElements()});
  Value result = scatterRows(c.b, {table, c.input(2), places, *reduction});
  return c.yield(c.b.reshape(result, shape));
}

ArrayRef<OperatorEntry> gpuopt::scatterOperators() {
  static const OperatorEntry entries[] = {
      {"Scatter", scatterElements, "up to opset 10"},
      {"ScatterElements", scatterElements},
      {"ScatterND", scatterND}};
  return entries;
}
