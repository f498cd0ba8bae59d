//===- KernelBatches.cpp - Loops of kernels that load ahead as C++ --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A loop with `unroll` is written as batches of iterations: first all their
// loads, then what is made of them. A compiler left to itself moves no load
// over a branch, such as that of a division, and so waits for one load after
// another. It also moves loads behind the test whether an iteration is still
// one of the loop, so iterations that are no whole batch have a loop of their
// own. Long rows of a GPU, of which a thread takes vectors in turn with the
// others of its block, are written in batches as well: batches of vectors that
// are whole need no test of the row's end, and a second loop takes what is
// left.
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPrinter.h"

#include "Text.h"
#include "Types.h"
#include "gpuopt/settings/limits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;
using cxx::Expression;
using cxx::KernelPrinter;
using device::AccessPattern;

/// Rows with more elements than this take batches: of 512 threads, two vectors
/// of 8 elements are 8192. A row with more than twice as many, where a thread
/// loads no more than 16 bits for each, takes batches of four.
static constexpr int64_t kLongRow = 8192;

static bool isIn(Value value, Block &body) {
  return value.getDefiningOp() && value.getDefiningOp()->getBlock() == &body;
}

/// Whether a value is the index of a loop, comes from outside, or is a product
/// of two such values.
static bool isPlace(Value value, Block &body) {
  if (!isIn(value, body))
    return true;
  auto product = value.getDefiningOp<arith::MulIOp>();
  return product && !isIn(product.getLhs(), body) &&
         !isIn(product.getRhs(), body);
}

/// Loads that wait for nothing that the iteration computes.
static bool isBatchedLoad(Operation *op, Block &body) {
  auto load = dyn_cast<device::LoadOp>(op);
  return load && load.getPattern() != device::AccessPattern::Indirect &&
         llvm::all_of(load.getIndices(),
                      [&](Value index) { return isPlace(index, body); });
}

/// Whether a load reads an operand that lies along the rows of `loop`, so that
/// a batch of it is a tile.
static bool isTileLoad(Operation *op, device::LoopOp loop) {
  Block &body = loop.getBody().front();
  auto load = dyn_cast<device::LoadOp>(op);
  return load && loop.getUnroll() == kTileRows &&
         load.getPattern() == AccessPattern::Strided &&
         isa<FloatType>(load.getType()) && isBatchedLoad(op, body) &&
         llvm::any_of(llvm::zip(load.getIndices(), load.getStrides()),
                      [&](auto place) {
                        auto [index, stride] = place;
                        return index == body.getArgument(0) && stride == 1;
                      });
}

namespace {
/// Which ops of an iteration come with the loads and which come after them. A
/// place that both need is computed twice.
struct Iteration {
  explicit Iteration(Block &body) : body(body) {}

  bool isBatched(Operation *op) const { return isBatchedLoad(op, body); }
  bool comesWithLoads(Operation *op) const {
    return isBatched(op) || llvm::any_of(op->getUsers(), [&](Operation *user) {
             return isBatched(user) && isa<arith::MulIOp>(op);
           });
  }
  bool comesAfterLoads(Operation *op) const {
    if (!comesWithLoads(op))
      return true;
    return !isBatched(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !isBatched(user);
    });
  }
  /// Whether what comes after the loads asks for the loop's index.
  bool usesIndexAfterLoads() const {
    return llvm::any_of(body.getArgument(0).getUsers(), [&](Operation *user) {
      return user->getBlock() != &body || comesAfterLoads(user);
    });
  }

  Block &body;
};
} // namespace

/// Reads "load_tile(x_r, x + start + i * 512, 512, end - start, left);" for
/// each operand that lies along the rows.
LogicalResult KernelPrinter::printTiles(device::LoopOp op,
                                        const std::string &start) {
  Block &body = op.getBody().front();
  Expression row = known[body.getArgument(0)];
  known[body.getArgument(0)] = {start};
  llvm::SmallDenseSet<Value> products;
  for (Operation &inner : body) {
    if (!isTileLoad(&inner, op))
      continue;
    auto load = cast<device::LoadOp>(inner);
    // Places that are products have to be known first.
    for (Value index : load.getIndices())
      if (isIn(index, body) && products.insert(index).second &&
          failed(printOperation(index.getDefiningOp())))
        return failure();
    FailureOr<Place> place = placeOf(load, load.getPattern(), load.getIndices(),
                                     load.getStrides(), load.getOffset());
    if (failed(place))
      return failure();
    std::string tile = names.unique(loadStem(load));
    line(lanesOf(load.getType()) + " " + tile + "[" + Twine(op.getUnroll()) +
         "];");
    line(callText("load_tile",
                  {tile, pointerText(load.getPointer(), *place),
                   std::to_string(place->laneStride),
                   operand(op.getUpper()).text + " - " + start, rest}) +
         ";");
    tiles[load] = tile;
  }
  known[body.getArgument(0)] = row;
  return success();
}

/// Declares "Lanes<float> x_r[4];" for each load.
void KernelPrinter::declareBatched(device::LoopOp op,
                                   const std::string &iteration,
                                   int64_t count) {
  Block &body = op.getBody().front();
  for (Operation &inner : body) {
    if (!isBatchedLoad(&inner, body))
      continue;
    auto load = cast<device::LoadOp>(inner);
    if (auto tile = tiles.find(load); tile != tiles.end()) {
      known[load] = {tile->second + "[" + iteration + "]"};
      continue;
    }
    Type type = load.getType();
    std::string name = names.unique(loadStem(load));
    line((analysis.isVarying(load) ? lanesOf(type) : computeType(type)) + " " +
         name + "[" + Twine(count) + "];");
    batched[load] = name + "[" + iteration + "]";
  }
}

/// Opens the loop over batches. Where the last batch may not be whole, `start`
/// is known behind the loop as well.
void KernelPrinter::openBatches(device::LoopOp op, const std::string &start,
                                bool leavesRest) {
  std::string count = std::to_string(op.getUnroll()), step = stepOf(op),
              upper = operand(op.getUpper()).text,
              times = step.empty() ? "" : " * " + step;
  if (!leavesRest)
    return openFor(start, firstIteration(op), upper,
                   start + " += " + count + times);
  line("int64_t " + start + " = " + firstIteration(op) + ";");
  line("for (; " + start + " + " + Twine(op.getUnroll() - 1) + times + " < " +
       upper + "; " + start + " += " + count + times + ") {");
  ++depth;
}

LogicalResult KernelPrinter::printBatches(device::LoopOp op,
                                          const std::string &index) {
  Iteration work(op.getBody().front());
  std::string start = names.unique("start"), iteration = names.unique("k"),
              count = std::to_string(op.getUnroll()), step = stepOf(op),
              upper = operand(op.getUpper()).text,
              place = start + " + " + iteration +
                      (step.empty() ? "" : " * " + step);
  const int64_t groups = step.empty() ? 1 : kernel.getGroups();
  const bool isWhole = op.getMultiple() % (op.getUnroll() * groups) == 0,
             hasTiles = llvm::any_of(
                 work.body,
                 [&](Operation &inner) { return isTileLoad(&inner, op); }),
             leavesRest = !isWhole && !hasTiles,
             isTested = !isWhole && hasTiles;
  auto openIterations = [&](const std::string &row, bool isUsed) {
    openUnrolledFor(iteration, count);
    if (isUsed)
      line("const int64_t " + index + " = " + row + ";");
  };
  openBatches(op, start, leavesRest);
  if (failed(printTiles(op, start)))
    return failure();
  declareBatched(op, iteration, op.getUnroll());
  auto isTile = [&](Operation *inner) { return tiles.contains(inner); };
  // Beside a tile, iterations behind the last one load what it loads, and are
  // left out after that.
  auto comesFirst = [&](Operation &inner) {
    if (work.isBatched(&inner))
      return !isTile(&inner);
    // The places of tiles have been printed with them.
    return work.comesWithLoads(&inner) &&
           llvm::any_of(inner.getUsers(), [&](Operation *user) {
             return work.isBatched(user) && !isTile(user);
           });
  };
  if (llvm::any_of(work.body, comesFirst)) {
    openIterations(isTested
                       ? callText("min", {place, "int64_t(" + upper + ") - 1"})
                       : place,
                   /*isUsed=*/true);
    for (Operation &inner : work.body)
      if (comesFirst(inner) && failed(printOperation(&inner)))
        return failure();
    closeBrace();
  }
  openIterations(place, isTested || work.usesIndexAfterLoads());
  if (isTested) {
    line("if (" + index + " >= " + upper + ")");
    line("  break;");
  }
  for (Operation &inner : work.body)
    if (!isTile(&inner) && work.comesAfterLoads(&inner) &&
        failed(printOperation(&inner)))
      return failure();
  closeBrace();
  closeBrace();
  names.release(iteration);
  if (leavesRest) // the block has `start` from now on
    return printRestOfBatches(op, index, start);
  names.release(start);
  return success();
}

/// The iterations that are no whole batch come one by one, from `start` on.
LogicalResult KernelPrinter::printRestOfBatches(device::LoopOp op,
                                                const std::string &index,
                                                const std::string &start) {
  std::string step = stepOf(op);
  batched.clear();
  openFor(index, start, operand(op.getUpper()).text,
          index + (step.empty() ? "++" : " += " + step));
  if (failed(printBlock(op.getBody().front())))
    return failure();
  closeBrace();
  return success();
}

/// Returns how many vectors of each operand a thread loads at once where the
/// threads of a block take a long row a vector at a time, and load one that has
/// a place of its own; 1 elsewhere.
int64_t KernelPrinter::vectorsOfBatch(device::LoopOp op) const {
  device::KernelOp parent = kernel;
  APInt size;
  if (op.getKind() != device::LoopKind::Lanes || parent.getThreads() == 1 ||
      parent.getGroups() != 1 || parent.hasRowsInRegisters() ||
      !matchPattern(op.getLower(), m_Zero()) ||
      !matchPattern(op.getUpper(), m_ConstantInt(&size)) || size.sle(kLongRow))
    return 1;
  Block &body = op.getBody().front();
  int64_t bits = 0;
  for (Operation &inner : body)
    if (isBatchedLoad(&inner, body))
      bits += cast<device::LoadOp>(inner).getType().getIntOrFloatBitWidth();
  if (bits == 0)
    return 1;
  return bits <= 16 && size.sgt(2 * kLongRow) ? 4 : 2;
}

LogicalResult KernelPrinter::printLongRow(device::LoopOp op,
                                          const std::string &index) {
  Iteration work(op.getBody().front());
  std::string start = names.unique("start"), iteration = names.unique("k"),
              upper = operand(op.getUpper()).text,
              count = std::to_string(vectorsOfBatch(op)),
              whole = "whole_batches<" + count + ">(" + upper + ")";
  auto print = [&](bool isIndexUsed, auto isWanted) -> LogicalResult {
    openUnrolledFor(iteration, count);
    if (isIndexUsed)
      line("const int64_t " + index + " = " + start + " + " + iteration +
           " * lane_step();");
    for (Operation &inner : work.body)
      if (isWanted(&inner) && failed(printOperation(&inner)))
        return failure();
    closeBrace();
    return success();
  };
  openFor(start, "first_lane()", whole,
          start + " += " + count + " * lane_step()");
  hasAllLanes = true;
  rest = "kLanes";
  declareBatched(op, iteration, vectorsOfBatch(op));
  if (failed(print(
          /*isIndexUsed=*/true,
          [&](Operation *inner) { return work.comesWithLoads(inner); })) ||
      failed(print(work.usesIndexAfterLoads(), [&](Operation *inner) {
        return work.comesAfterLoads(inner);
      })))
    return failure();
  closeBrace();
  hasAllLanes = false;
  batched.clear();
  names.release(iteration);
  names.release(start);
  openFor(index, whole + " + first_lane()", upper, index + " += lane_step()");
  defineRest(op, upper + " - " + index);
  if (failed(printBlock(op.getBody().front())))
    return failure();
  closeBrace();
  return success();
}
