//===- ControlFlow.cpp - If, Loop, SequenceMap ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Programs have no branches, so graphs inside of nodes become part of the graph
// around them. If the condition of an If is a constant, one branch is left;
// otherwise both are computed, and their results are selected. A Loop or Scan
// of many iterations stays a loop where it can (LongLoop.h). The iterations of
// others are converted one after the other. Where data decide whether a Loop
// goes on, all of its iterations are computed, and those after its end keep
// what the iterations before them have made. Gradients leave such a graph only
// where it counts: the slopes of others may be infinite, and 0 times that NaN.
//
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"

#include "LongLoop.h"

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace gpuopt;

LogicalResult gpuopt::runGraph(NodeConversion &c, StringRef name,
                               ArrayRef<Converted> arguments,
                               SmallVectorImpl<Converted> &results,
                               bool isOnce) {
  Region *graph = c.node.getSubgraph(name);
  if (!graph)
    return c.fail("attribute " + name + " (a graph) is missing");
  if (graph->getNumArguments() != arguments.size())
    return c.fail("the graph " + name + " has " +
                  Twine(graph->getNumArguments()) +
                  " inputs, but the node gives it " + Twine(arguments.size()));
  c.state.unrolledNodes += graph->front().getOperations().size();
  if (c.state.unrolledNodes > kMostUnrolledNodes)
    return c.fail("the loops of the model would be unrolled to more than " +
                  Twine(kMostUnrolledNodes) +
                  " nodes and ops: make them shorter");
  c.state.uncertainGraphs += !isOnce;
  LogicalResult result = c.state.convertGraph(*graph, arguments, results);
  c.state.uncertainGraphs -= !isOnce;
  return result;
}

/// Returns the boolean that a constant of one element holds; nothing for other
/// values.
static std::optional<bool> constantTruth(const Converted &value) {
  if (value.tensors.size() != 1)
    return std::nullopt;
  DenseElementsAttr constant = constantOf(value.tensors.front());
  if (!constant || constant.getNumElements() != 1 ||
      !constant.getElementType().isInteger(1))
    return std::nullopt;
  return *constant.getValues<bool>().begin();
}

/// Whether a value is a boolean of one element, as conditions must be.
static bool isTruth(const Converted &value) {
  if (value.isSequence || value.tensors.size() != 1)
    return false;
  auto type = cast<RankedTensorType>(value.tensors.front().getType());
  return type.getNumElements() == 1 && type.getElementType().isInteger(1);
}

static Converted makeTruth(NodeConversion &c, bool truth) {
  return {{c.b.splat(truth, RankedTensorType::get({}, c.b.getI1Type()))},
          false};
}

/// Selects one of two values by a boolean of one element. Notes the problem if
/// they differ in type or length.
static std::optional<Converted> selected(NodeConversion &c, Value condition,
                                         const Converted &a,
                                         const Converted &b) {
  if (a.isSequence != b.isSequence || a.tensors.size() != b.tensors.size()) {
    c.problem = "the condition depends on data, but decides the length of a "
                "sequence";
    return std::nullopt;
  }
  Converted result{{}, a.isSequence};
  for (auto [x, y] : llvm::zip(a.tensors, b.tensors)) {
    if (x.getType() != y.getType()) {
      llvm::raw_string_ostream(c.problem)
          << "the condition depends on data, but decides whether a result is "
          << x.getType() << " or " << y.getType();
      return std::nullopt;
    }
    Value scalar = c.b.reshape(condition, {});
    result.tensors.push_back(
        x == y ? x : c.b.select(c.b.broadcast(scalar, c.b.shape(x)), x, y));
  }
  return result;
}

/// Whether a gradient may be asked of a value of a block: not of integers,
/// constants, inputs and frozen weights. Values from outside of a long loop's
/// iteration are of another block; what would be computed from them alone moves
/// out of the iteration.
static bool mayHaveGradient(Value value, Block *block) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || constantOf(value) ||
      value.getParentBlock() != block)
    return false;
  if (isa<BlockArgument>(value))
    return !isa_and_nonnull<func::FuncOp>(block->getParentOp());
  auto read = value.getDefiningOp<train::ReadOp>();
  if (!read)
    return true;
  auto variable = SymbolTable::lookupNearestSymbolFrom<train::VariableOp>(
      read, read.getVariableAttr());
  return variable && variable.isTrained();
}

/// Lets the ops behind `mark` pass gradients on to values of before it, and to
/// weights, only where `condition` is `counts`. The forward stays as it is: a
/// selection between a value and the same without a gradient folds as soon as
/// the backward is built.
static void gateGradients(NodeConversion &c, Operation *mark, Value condition,
                          bool counts) {
  auto behind =
      llvm::make_range(std::next(mark->getIterator()), mark->getBlock()->end());
  llvm::DenseSet<Value> inside;
  llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
  for (Operation &op : behind)
    op.walk<WalkOrder::PreOrder>([&](Operation *each) {
      for (OpOperand &operand : each->getOpOperands())
        if (!inside.contains(operand.get()) &&
            mayHaveGradient(operand.get(), mark->getBlock()))
          uses[operand.get()].push_back(&operand);
      if (!isa<train::ReadOp>(each))
        inside.insert(each->result_begin(), each->result_end());
      for (Region &region : each->getRegions())
        for (Block &block : region)
          inside.insert(block.args_begin(), block.args_end());
    });
  OpBuilder::InsertionGuard guard(c.b);
  for (auto &[value, operands] : uses) {
    auto read = value.getDefiningOp<train::ReadOp>();
    bool isBehind = read && mark->isBeforeInBlock(read);
    c.b.setInsertionPointAfter(isBehind ? read : mark);
    Value stopped = withoutGradient(c.b, value),
          each = c.b.broadcast(c.b.reshape(condition, {}), c.b.shape(value));
    Value gated =
        c.b.select(each, counts ? value : stopped, counts ? stopped : value);
    for (OpOperand *operand : operands)
      operand->set(gated);
  }
}

/// Does what runGraph does for a graph that counts only where `condition`, a
/// boolean of one element, is `counts`.
static LogicalResult runConditional(NodeConversion &c, StringRef name,
                                    ArrayRef<Converted> arguments,
                                    SmallVectorImpl<Converted> &results,
                                    Value condition, bool counts) {
  auto mark = c.b.create<UnrealizedConversionCastOp>(TypeRange(), ValueRange());
  LogicalResult converted = runGraph(c, name, arguments, results);
  if (succeeded(converted))
    gateGradients(c, mark, condition, counts);
  mark.erase();
  return converted;
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static LogicalResult branch(NodeConversion &c) {
  if (!isTruth(c.sequence(0)))
    return c.fail("the condition must have one element");
  SmallVector<Converted> whenTrue, whenFalse;
  if (auto truth = constantTruth(c.sequence(0)))
    return runGraph(c, *truth ? "then_branch" : "else_branch", {}, c.outputs,
                    /*isOnce=*/true);
  Value condition = c.input(0);
  if (failed(runConditional(c, "then_branch", {}, whenTrue, condition, true)) ||
      failed(runConditional(c, "else_branch", {}, whenFalse, condition, false)))
    return failure();
  if (whenTrue.size() != whenFalse.size())
    return c.fail("the branches have " + Twine(whenTrue.size()) + " and " +
                  Twine(whenFalse.size()) + " results");
  for (auto [a, b] : llvm::zip(whenTrue, whenFalse)) {
    auto result = selected(c, c.input(0), a, b);
    if (!result)
      return failure();
    c.outputs.push_back(*result);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Results of all iterations
//===----------------------------------------------------------------------===//

Value gpuopt::stacked(NodeConversion &c, ArrayRef<Value> iterations,
                      int64_t axis) {
  SmallVector<Value> parts;
  RankedTensorType type = c.b.type(iterations.front());
  auto dim = c.axis(axis, type.getRank() + 1);
  if (!dim)
    return {};
  SmallVector<int64_t> shape(type.getShape()), all(shape);
  shape.insert(shape.begin() + *dim, 1);
  all.push_back(iterations.size());
  if (!c.isShape(all))
    return {};
  for (Value iteration : iterations) {
    if (iteration.getType() != type) {
      c.problem =
          "the iterations give results of different types, which cannot be "
          "joined";
      return {};
    }
    parts.push_back(c.b.reshape(iteration, shape));
  }
  return c.b.createOrFold<nn::ConcatOp>(parts, *dim);
}

LogicalResult gpuopt::collect(NodeConversion &c, ArrayRef<Converted> results,
                              SmallVectorImpl<SmallVector<Value>> &iterations) {
  iterations.resize(results.size());
  for (auto [result, all] : llvm::zip(results, iterations)) {
    if (result.isSequence || result.tensors.size() != 1)
      return c.fail(
          "a result that is joined over all iterations must be a tensor");
    all.push_back(result.tensors.front());
  }
  return success();
}

void gpuopt::noteUnrolled(NodeConversion &c, int64_t iterations,
                          StringRef why) {
  auto &known = c.state.unrolledLoops;
  if (iterations > kMostUnrolledSteps && !why.empty() &&
      llvm::none_of(known, [&](auto &loop) { return loop.node == c.node; }))
    known.push_back({c.node, iterations, why.str()});
}

LogicalResult gpuopt::failTooLong(NodeConversion &c, StringRef why) {
  return c.fail("the loop would be unrolled to more than " +
                Twine(kMostIterations) + " iterations" +
                (why.empty() ? "" : ", since " + why) + ": make it shorter");
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

namespace {

class Loop {
public:
  explicit Loop(NodeConversion &c) : c(c) {}

  LogicalResult convert() {
    if (failed(prepare()))
      return failure();
    std::string why;
    bool mayBeLong = !trips || *trips > kMostUnrolledSteps;
    if (mayBeLong && !isOver && staysLoop(why))
      return success();
    int64_t iteration = 0;
    for (; !isOver && (!trips || iteration < *trips); ++iteration) {
      if (iteration >= kMostIterations)
        return failTooLong(c, why);
      if (failed(runIteration(iteration)))
        return failure();
    }
    noteUnrolled(c, iteration, why);
    c.outputs.append(carried);
    if (iteration == 0)
      return yieldNoIterations();
    for (ArrayRef<Value> all : joined) {
      Value result = stacked(c, all, 0);
      if (!result)
        return failure();
      c.outputs.push_back({{result}, false});
    }
    return success();
  }

private:
  LogicalResult prepare() {
    if (c.has(0)) {
      trips = c.constantInt(0);
      if (!trips)
        return c.fail(
            "operand 0 (the number of iterations) must be a constant: "
            "it is a part of the program" +
            c.whatDecides(0));
    }
    if (c.has(1) && !isTruth(c.sequence(1)))
      return c.fail("the condition must have one element");
    if (c.has(1) && failed(proceed(c.sequence(1))))
      return failure();
    for (size_t index = 2; index < c.inputCount(); ++index)
      carried.push_back(c.sequence(index));
    // Values at the end may be left out.
    if (Region *body = c.node.getSubgraph("body"))
      while (carried.size() + 2 < body->getNumArguments())
        carried.emplace_back();
    return success();
  }

  /// Makes a loop of it if that can hold it, and says why if not.
  bool staysLoop(std::string &why) {
    if (active) {
      why = "data decide whether it begins";
      return false;
    }
    LongLoop loop(c, trips, /*isReversed=*/false);
    loop.hasCondition = true;
    loop.states = carried;
    if (!loop.convert()) {
      why = loop.why;
      return false;
    }
    for (ArrayRef<Value> results : {loop.finals, loop.stacked})
      for (Value result : results)
        c.outputs.push_back({{result}, false});
    return true;
  }

  /// Takes the condition for the next iteration.
  LogicalResult proceed(const Converted &condition) {
    if (auto truth = constantTruth(condition)) {
      isOver = !*truth;
      return success();
    }
    if (!trips)
      return c.fail(
          "data decide the number of iterations, which needs a limit: "
          "give operand 0");
    Value is = c.b.reshape(condition.tensors.front(), {});
    active = active ? c.b.createOrFold<arith::AndIOp>(active, is) : is;
    return success();
  }

  LogicalResult runIteration(int64_t iteration) {
    Converted condition =
        active ? Converted{{active}, false} : makeTruth(c, true);
    SmallVector<Converted> arguments{
        {{makeInts(c, iteration, /*isScalar=*/true)}, false}, condition};
    arguments.append(carried);
    SmallVector<Converted> results;
    if (failed(active ? runConditional(c, "body", arguments, results, active,
                                       /*counts=*/true)
                      : runGraph(c, "body", arguments, results)))
      return failure();
    size_t count = carried.size();
    if (results.size() < 1 + count || !isTruth(results.front()))
      return c.fail(
          "the graph body must give a condition and as many results "
          "as the loop has values that go from iteration to iteration, " +
          Twine(count));
    ArrayRef<Converted> next = ArrayRef(results).slice(1, count),
                        more = ArrayRef(results).drop_front(1 + count);
    if (active && !more.empty())
      return c.fail(
          "data decide the number of iterations, and so the length of "
          "result " +
          Twine(count));
    for (auto [value, fresh] : llvm::zip(carried, next)) {
      auto kept = active ? selected(c, active, fresh, value) : fresh;
      if (!kept)
        return failure();
      value = *kept;
    }
    if (failed(collect(c, more, joined)))
      return failure();
    return proceed(results.front());
  }

  /// Gives results without entries for a loop without iterations.
  LogicalResult yieldNoIterations() {
    Region *body = c.node.getSubgraph("body");
    size_t fixed = 1 + carried.size();
    ValueRange results =
        body ? body->front().getTerminator()->getOperands() : ValueRange();
    for (Value result : results.drop_front(std::min(fixed, results.size()))) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !type.hasStaticShape())
        return c.fail(
            "the loop has no iterations, and the file does not say which "
            "shape its results have");
      if (!type.getElementType().isIntOrFloat())
        return c.fail("complex numbers are not supported");
      SmallVector<int64_t> shape(type.getShape());
      shape.insert(shape.begin(), 0);
      c.outputs.push_back({{c.b.splat(0, type.clone(shape))}, false});
    }
    return success();
  }

  NodeConversion &c;
  std::optional<int64_t> trips;
  bool isOver = false;
  Value active; ///< Whether the next iteration counts; null if it does for
                ///< certain.
  SmallVector<Converted> carried;
  SmallVector<SmallVector<Value>> joined; ///< By result, then by iteration.
};

} // namespace

static LogicalResult loop(NodeConversion &c) { return Loop(c).convert(); }

//===----------------------------------------------------------------------===//
// SequenceMap
//===----------------------------------------------------------------------===//

/// Applies a graph to each element of sequences; tensors are the same for all.
static LogicalResult sequenceMap(NodeConversion &c) {
  if (c.inputCount() < 1 || !c.sequence(0).isSequence)
    return c.fail("operand 0 must be a sequence");
  size_t length = c.sequence(0).tensors.size();
  SmallVector<Converted> all(c.node.getNumResults(), Converted{{}, true});
  for (size_t at = 0; at < length; ++at) {
    SmallVector<Converted> arguments, results;
    for (size_t index = 0; index < c.inputCount(); ++index) {
      const Converted &value = c.sequence(index);
      if (value.isSequence && value.tensors.size() != length)
        return c.fail("the sequences have " + Twine(length) + " and " +
                      Twine(value.tensors.size()) + " elements");
      arguments.push_back(
          value.isSequence ? Converted{{value.tensors[at]}, false} : value);
    }
    if (failed(runGraph(c, "body", arguments, results)))
      return failure();
    if (results.size() < all.size())
      return c.fail("the graph body must give " + Twine(all.size()) +
                    " results");
    for (auto [result, list] : llvm::zip(results, all)) {
      if (result.isSequence || result.tensors.size() != 1)
        return c.fail("the graph body must give tensors");
      list.tensors.push_back(result.tensors.front());
    }
  }
  c.outputs.append(all);
  return success();
}

ArrayRef<OperatorEntry> gpuopt::controlFlowOperators() {
  static const OperatorEntry entries[] = {
      {"If", branch, "where data decide, both branches are computed"},
      {"Loop", loop,
       "at most 65536 iterations, 4096 where they are unrolled; data may end "
       "it within a constant limit"},
      {"Scan", scanNode,
       "at most 65536 iterations, 4096 where they are unrolled"},
      {"SequenceMap", sequenceMap}};
  return entries;
}
