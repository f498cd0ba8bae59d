//===- Gather.cpp - Elements picked by index ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongLoop.h"
#include "Places.h"
#include "gpuopt/Dialect/NN/IR/RepeatedElements.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace gpuopt;

/// Returns whether the indices are an input of the model, whole. Programs check
/// what they load into it, and refuse negative numbers.
static bool isInput(Value indices) {
  while (Operation *op = indices.getDefiningOp()) {
    if (!isa<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp, arith::ExtSIOp,
             arith::ExtUIOp>(op))
      return false;
    indices = op->getOperand(0);
  }
  Block *block = cast<BlockArgument>(indices).getOwner();
  return isa_and_nonnull<func::FuncOp>(block->getParentOp());
}

/// Gathers by indices that follow from the number of a loop's iteration.
/// Returns nothing if they do not, or if the operand differs from iteration to
/// iteration.
static Value gatherByNumber(NodeConversion &c, int64_t axis) {
  if (!c.state.iteration)
    return {};
  auto indices = c.state.iteration->integersOf(c.input(1));
  if (!indices || indices->empty())
    return {};
  int64_t size = c.type(0).getDimSize(axis);
  for (int64_t &index : *indices) {
    index = index < 0 ? index + size : index;
    if (index < 0 || index >= size)
      return {};
  }
  Value taken = c.state.iteration->pick(c.input(0), axis, *indices);
  if (!taken)
    return {};
  SmallVector<int64_t> shape(c.type(0).getShape().take_front(axis));
  llvm::append_range(shape, c.type(1).getShape());
  llvm::append_range(shape, c.type(0).getShape().drop_front(axis + 1));
  return c.b.reshape(taken, shape);
}

/// Optimizers may treat a parameter of which rows are taken as a table, also
/// where these rows are a slice, of which nothing else tells it later. Where
/// nn.take reads them, train-build-step marks it.
static void markTable(NodeConversion &c, Value table) {
  auto read = table.getDefiningOp<train::ReadOp>();
  auto module = read ? read->getParentOfType<ModuleOp>() : ModuleOp();
  if (!module)
    return;
  if (auto variable =
          module.lookupSymbol<train::VariableOp>(read.getVariable()))
    variable.setIsTable(true);
}

/// Gathers by constant indices that are evenly spaced in row-major order once
/// repeats are left out, as those of positions are and those of a single type
/// of token: a slice, which is repeated. Its gradient is a sum, where that of
/// other entries adds rows to a table. Returns nothing for other indices.
static Value pickRun(NodeConversion &c, int64_t axis,
                     DenseElementsAttr indices) {
  if (indices.empty())
    return {};
  DenseElementsAttr once = nn::withoutRepeats(indices);
  auto numbers =
      llvm::map_to_vector(once.getValues<APInt>(), [](const APInt &number) {
        return number.getSExtValue();
      });
  int64_t stride = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
  for (auto [i, number] : llvm::enumerate(numbers))
    if (stride < 1 || number != numbers[0] + int64_t(i) * stride)
      return {};
  ArrayRef<int64_t> from = c.type(0).getShape();
  auto shapeBy = [&](DenseElementsAttr by) {
    SmallVector<int64_t> shape(from.take_front(axis));
    llvm::append_range(shape, by.getType().getShape());
    llvm::append_range(shape, from.drop_front(axis + 1));
    return shape;
  };
  if (axis == 0 && indices.getNumElements() > 1)
    markTable(c, c.input(0));
  Value run = partOf(c.b, c.input(0), axis, numbers[0], numbers.size(), stride);
  return c.b.broadcast(c.b.reshape(run, shapeBy(once)), shapeBy(indices));
}

static LogicalResult pickEntries(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  auto axis = c.axis(c.node.getInt("axis", 0), type.getRank());
  if (!axis)
    return failure();
  if (!constantOf(c.input(1)))
    if (Value taken = gatherByNumber(c, *axis))
      return c.yield(taken);
  Value indices = normalised(c, c.input(1), type.getDimSize(*axis));
  DenseElementsAttr constant = constantOf(indices);
  if (constant)
    for (const APInt &number : constant.getValues<APInt>()) {
      if (number.getSExtValue() < 0 ||
          number.getSExtValue() >= type.getDimSize(*axis))
        return c.fail("index " + Twine(number.getSExtValue()) +
                      " is outside of the dimension");
      if (constant.isSplat())
        break;
    }
  // Many equal indices would become as many ops here, where pickRun picks their
  // entry once and repeats it.
  constexpr int64_t kManyEntries = 4096;
  bool isOneEntry = constant && constant.isSplat() &&
                    constant.getNumElements() > kManyEntries;
  if (constant && !isOneEntry && constantOf(c.input(0)) &&
      constant.getNumElements() <= kMostComputedElements) {
    // Entries are picked one by one, because each of these ops folds.
    SmallVector<Value> parts;
    for (const APInt &number : constant.getValues<APInt>())
      parts.push_back(partOf(c.b, c.input(0), *axis, number.getSExtValue(), 1));
    if (parts.empty())
      parts.push_back(partOf(c.b, c.input(0), *axis, 0, 0));
    SmallVector<int64_t> shape(type.getShape().take_front(*axis));
    llvm::append_range(shape, c.b.shape(indices));
    llvm::append_range(shape, type.getShape().drop_front(*axis + 1));
    return c.yield(
        c.b.reshape(c.b.createOrFold<nn::ConcatOp>(parts, *axis), shape));
  }
  if (constant)
    if (Value taken = pickRun(c, *axis, constant))
      return c.yield(taken);
  if (!constant && c.b.type(indices).getNumElements() > 0 &&
      type.getDimSize(*axis) == 0)
    return c.fail("the dimension has no entries to pick");
  if (!constant && !isInput(indices) && type.getDimSize(*axis) > 0)
    indices = inRange(c, indices, type.getDimSize(*axis));
  // The gathered dimension comes first; afterwards the indices' dimensions take
  // its place.
  auto toFront = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  toFront.erase(toFront.begin() + *axis);
  toFront.insert(toFront.begin(), *axis);
  Value taken =
      c.b.create<nn::TakeOp>(c.b.transpose(c.input(0), toFront), indices);
  int64_t indexRank = c.b.type(indices).getRank();
  SmallVector<int64_t> back;
  for (int64_t dim = 0; dim < *axis; ++dim)
    back.push_back(indexRank + dim);
  for (int64_t dim = 0; dim < indexRank; ++dim)
    back.push_back(dim);
  for (int64_t dim = *axis; dim < type.getRank() - 1; ++dim)
    back.push_back(indexRank + dim);
  return c.yield(c.b.transpose(taken, back));
}

/// gpuopt.export notes the row of an embedding's padding, which is read like
/// the others and gets no gradient.
static LogicalResult gather(NodeConversion &c) {
  if (failed(pickEntries(c)))
    return failure();
  int64_t padding = c.node.getInt("padding_row", -1);
  RankedTensorType type = c.type(0);
  if (padding < 0 || !c.isFloat(0) || constantOf(c.input(0)) ||
      c.node.getInt("axis", 0) != 0)
    return success();
  Value indices = normalised(c, c.input(1), type.getDimSize(0));
  Value isPadding = c.b.compare(arith::CmpIPredicate::eq, indices,
                                c.b.splat(double(padding), c.b.type(indices)));
  SmallVector<int64_t> shape(c.b.shape(indices));
  shape.resize(shape.size() + type.getRank() - 1, 1);
  Value &taken = c.outputs.back().tensors.front();
  taken = c.b.select(c.b.reshape(isPadding, shape), withoutGradient(c.b, taken),
                     taken);
  return success();
}

/// Picks elements of a constant one by one.
static Value pickConstants(NodeConversion &c, DenseElementsAttr data,
                           ArrayRef<int64_t> rows, int64_t inner,
                           RankedTensorType result) {
  if (data.isSplat())
    return c.b.create<arith::ConstantOp>(data.resizeSplat(result));
  auto elements = data.getValues<Attribute>();
  SmallVector<Attribute> picked;
  for (int64_t row : rows)
    for (int64_t i = 0; i < inner; ++i)
      picked.push_back(elements[row * inner + i]);
  return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(result, picked));
}

/// GatherND of constants, which exporters use in masks, is a constant.
static LogicalResult gatherND(NodeConversion &c) {
  int64_t batchDims = c.node.getInt("batch_dims", 0);
  ArrayRef<int64_t> from = c.type(0).getShape();
  Value rows = rowPlaces(c, c.input(1), from, batchDims);
  if (!rows)
    return failure();
  int64_t depth = batchDims + c.type(1).getShape().back(), inner = 1;
  for (int64_t size : from.drop_front(depth))
    inner *= size;
  SmallVector<int64_t> shape(c.b.shape(rows));
  llvm::append_range(shape, from.drop_front(depth));
  DenseElementsAttr data = constantOf(c.input(0));
  auto numbers = integersOf(rows);
  if (data && (numbers || data.isSplat()))
    return c.yield(pickConstants(c, data,
                                 numbers ? *numbers : ArrayRef<int64_t>(),
                                 inner, c.type(0).clone(shape)));
  return c.yield(
      c.b.create<nn::TakeOp>(withMergedRows(c.b, c.input(0), depth), rows));
}

/// Gathers from the operand as one row of all elements.
static LogicalResult gatherElements(NodeConversion &c) {
  auto axis = c.axis(c.node.getInt("axis", 0), c.type(0).getRank());
  if (!axis)
    return failure();
  Value places = elementPlaces(c, c.input(1), c.type(0).getShape(), *axis);
  if (!places)
    return failure();
  DenseElementsAttr data = constantOf(c.input(0));
  auto numbers = integersOf(places);
  if (data && (numbers || data.isSplat()))
    return c.yield(pickConstants(c, data,
                                 numbers ? *numbers : ArrayRef<int64_t>(), 1,
                                 c.type(0).clone(c.type(1).getShape())));
  return c.yield(takePlaces(c.b, c.input(0), places));
}

/// Returns the depth of OneHot, a number of any type.
static std::optional<int64_t> depthOf(NodeConversion &c) {
  if (!c.isFloat(1))
    return c.constantInt(1);
  auto depth = c.constantFloat(1);
  if (!depth)
    return std::nullopt;
  if (*depth >= -1e15 && *depth <= 1e15) // nor NaN
    return static_cast<int64_t>(*depth);
  c.problem = "the depth is no number of classes";
  return std::nullopt;
}

/// Gives `on` where the index along a new dimension is the operand's, and `off`
/// elsewhere.
static LogicalResult oneHot(NodeConversion &c) {
  auto depth = depthOf(c);
  if (!depth)
    return failure();
  if (c.type(2).getNumElements() != 2)
    return c.fail("operand 2 must be the two values, off and on");
  auto axis = c.axis(c.node.getInt("axis", -1), c.type(0).getRank() + 1);
  if (!axis)
    return failure();
  SmallVector<int64_t> shape(c.type(0).getShape());
  shape.insert(shape.begin() + *axis, *depth);
  if (!c.isShape(shape))
    return failure();
  shape[*axis] = 1;
  Value indices = c.input(0);
  if (c.isFloat(0))
    indices = c.b.createOrFold<arith::FPToSIOp>(
        c.type(0).clone(c.b.getI64Type()), indices);
  indices = c.b.reshape(normalised(c, indices, 0), shape);
  RankedTensorType narrow = c.b.type(indices);
  Value isNegative =
      c.b.compare(arith::CmpIPredicate::slt, indices, c.b.splat(0, narrow));
  Value fromEnd =
      c.b.createOrFold<arith::AddIOp>(indices, c.b.splat(*depth, narrow));
  indices = c.b.select(isNegative, fromEnd, indices);
  shape[*axis] = *depth;
  Value place = c.b.create<nn::IotaOp>(narrow.clone(shape), *axis);
  Value pair = c.b.reshape(c.input(2), {2});
  auto filled = [&](int64_t number) {
    Value one = c.b.createOrFold<nn::SliceOp>(pair, ArrayRef<int64_t>{number},
                                              ArrayRef<int64_t>{1},
                                              ArrayRef<int64_t>{1});
    return c.b.broadcast(one, shape);
  };
  return c.yield(
      c.b.select(c.b.compare(arith::CmpIPredicate::eq, place, indices),
                 filled(1), filled(0)));
}

ArrayRef<OperatorEntry> gpuopt::gatherOperators() {
  static const OperatorEntry entries[] = {
      {"Gather", gather, "indices that are an input of the model: at least 0"},
      {"GatherElements", gatherElements},
      {"GatherND", gatherND},
      {"OneHot", oneHot, "constant depth"}};
  return entries;
}
