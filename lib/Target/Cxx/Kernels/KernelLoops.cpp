//===- KernelLoops.cpp - Loops of kernels, and what they add up -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPrinter.h"

#include "Text.h"
#include "Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;
using cxx::KernelPrinter;

static std::string identityOf(device::Combiner combiner, Type type) {
  auto number = [&](StringRef ofFloat, StringRef ofInteger) {
    return isa<FloatType>(type) ? (ofFloat + (type.isF64() ? "" : "f")).str()
                                : ofInteger.str();
  };
  auto limit = [&](StringRef sign, StringRef suffix) {
    if (isa<FloatType>(type))
      return (sign + "INFINITY").str();
    return StringRef(cxx::computeType(type)).drop_back(2).upper() +
           suffix.str();
  };
  switch (combiner) {
  case device::Combiner::Sum:
    return number("0.0", "0");
  case device::Combiner::Prod:
    return number("1.0", "1");
  case device::Combiner::Max:
    return limit("-", "_MIN");
  case device::Combiner::Min:
    return limit("", "_MAX");
  case device::Combiner::SumExp: // that of the maximum beside it
    break;
  }
  return "";
}

/// Returns the names for the combination of all lanes and threads, and of one
/// lane.
static std::pair<StringRef, StringRef> stemsOf(device::Combiner combiner) {
  switch (combiner) {
  case device::Combiner::Sum:
    return {"sum", "sums"};
  case device::Combiner::Prod:
    return {"product", "products"};
  case device::Combiner::Max:
    return {"maximum", "maxima"};
  case device::Combiner::Min:
    return {"minimum", "minima"};
  case device::Combiner::SumExp:
    return {"sum", "exponentials"};
  }
  return {"", ""};
}

static StringRef verbOf(device::Combiner combiner) {
  switch (combiner) {
  case device::Combiner::Sum:
  case device::Combiner::SumExp:
    return "sum";
  case device::Combiner::Prod:
    return "prod";
  case device::Combiner::Max:
    return "max";
  case device::Combiner::Min:
    return "min";
  }
  return "";
}

/// Returns the type of the elements that a loop combines, as memory has them.
static std::string rowTypeOf(device::LoopOp op, unsigned number) {
  auto yield = cast<device::YieldOp>(op.getBody().front().getTerminator());
  Value element = yield.getValues()[number];
  auto widened = element.getDefiningOp<arith::ExtFOp>();
  if (widened && widened.getIn().getType().getIntOrFloatBitWidth() == 16)
    element = widened.getIn();
  return cxx::memoryType(element.getType());
}

LogicalResult KernelPrinter::checkLoop(device::LoopOp op) const {
  if (analysis.isVarying(op.getLower()) || analysis.isVarying(op.getUpper()))
    return op.emitOpError("expects bounds that are the same in all lanes");
  if (op.getKind() == device::LoopKind::Lanes && enclosingLanesLoop(op))
    return op.emitOpError("over lanes cannot lie in another one");
  if (op.getKind() == device::LoopKind::RowGroups &&
      op->getParentOfType<device::KernelOp>().getGroups() == 1)
    return op.emitOpError("over row groups expects a kernel with several");
  for (Type type : op.getResultTypes())
    if (type.isInteger(1) || computeType(type).empty())
      return op.emitOpError("cannot combine values of type ") << type;
  return success();
}

KernelPrinter::Accumulator KernelPrinter::declareAccumulator(device::LoopOp op,
                                                             unsigned number) {
  device::Combiner combiner = op.getCombiner(number);
  Value result = op.getResult(number);
  Type type = result.getType();
  bool isLanes = op.getKind() == device::LoopKind::Lanes ||
                 analysis.isVarying(result),
       isExpSum = op.getSumExpOf(number).has_value();
  auto [one, many] = stemsOf(isExpSum ? device::Combiner::SumExp : combiner);
  Accumulator accumulator{names.unique(isLanes ? many : one),
                          identityOf(combiner, type),
                          type,
                          combiner,
                          isLanes,
                          isExpSum};
  if (isExpSum)
    line("ExpSum<" + rowTypeOf(op, number) + "> " + accumulator.name + ";");
  else if (isLanes)
    line(lanesOf(type) + " " + accumulator.name + "(" + accumulator.identity +
         ");");
  else
    line(computeType(type) + " " + accumulator.name + " = " +
         accumulator.identity + ";");
  return accumulator;
}

SmallVector<KernelPrinter::Accumulator>
KernelPrinter::declareAccumulators(device::LoopOp op) {
  SmallVector<Accumulator> accumulators;
  for (unsigned number = 0; number < op.getNumResults(); ++number) {
    if (op.getCombiner(number) == device::Combiner::SumExp) {
      accumulators.push_back(accumulators[*op.getMaximumOf(number)]);
      accumulators.back().combiner = device::Combiner::SumExp;
    } else {
      accumulators.push_back(declareAccumulator(op, number));
    }
  }
  return accumulators;
}

/// "lower + term", or the term alone where it is added to 0.
static std::string added(const std::string &lower, const std::string &term) {
  return lower == "0" ? term : lower + " + " + term;
}

/// "<8>", the threads of a group, or nothing where that is the whole block and
/// may be of any size.
static std::string widthOf(device::KernelOp kernel) {
  return kernel.getGroups() == 1 && !kernel.hasRowsInRegisters()
             ? ""
             : "<" + std::to_string(kernel.getWidth()) + ">";
}

void KernelPrinter::printLoopHeader(device::LoopOp op,
                                    const std::string &index) {
  if (op.getKind() == device::LoopKind::Lanes)
    return printLanesHeader(op, index);
  std::string step = stepOf(op);
  openFor(index, firstIteration(op), operand(op.getUpper()).text,
          index + (step.empty() ? "++" : " += " + step));
}

std::string KernelPrinter::firstIteration(device::LoopOp op) {
  std::string lower = operand(op.getLower()).text;
  return op.getKind() == device::LoopKind::RowGroups
             ? added(lower, "group" + widthOf(kernel) + "()")
             : lower;
}

/// "iterations<32>(768)", in which a group walks over a row.
std::string KernelPrinter::iterationsOf(const std::string &size) {
  return "iterations" + widthOf(kernel) + "(" + size + ")";
}

/// Holds for one thread of those that have a row.
std::string KernelPrinter::firstOfGroup() {
  return kernel.getGroups() == 1 ? "first_thread()"
                                 : "first_lane" + widthOf(kernel) + "() == 0";
}

/// "groups<16>()" where groups share the iterations of a loop, empty otherwise.
std::string KernelPrinter::stepOf(device::LoopOp op) {
  return op.getKind() == device::LoopKind::RowGroups
             ? "groups<" + std::to_string(kernel.getGroups()) + ">()"
             : "";
}

void KernelPrinter::openUnrolledFor(const std::string &index,
                                    const std::string &count) {
  line("UNROLL for (int64_t " + index + " = 0; " + index + " < " + count +
       "; " + index + "++) {");
  ++depth;
}

void KernelPrinter::openFor(const std::string &index, const std::string &lower,
                            const std::string &upper, const std::string &step) {
  line("for (int64_t " + index + " = " + lower + "; " + index + " < " + upper +
       "; " + step + ") {");
  ++depth;
}

void KernelPrinter::closeBrace() {
  flushGuarded();
  --depth;
  line("}");
}

/// Whether a group walks over a row in a fixed number of iterations, so that
/// rows are in registers.
bool KernelPrinter::hasFixedIterations(device::LoopOp op) {
  return op.getKind() == device::LoopKind::Lanes &&
         (kernel.getGroups() > 1 || kernel.hasRowsInRegisters()) &&
         !sharesRows(op);
}

/// Whether two loops over lanes have the same number of elements.
static bool hasSameSize(device::LoopOp one, device::LoopOp other) {
  APInt size, otherSize;
  return matchPattern(one.getUpper(), m_ConstantInt(&size)) &&
         matchPattern(other.getUpper(), m_ConstantInt(&otherSize)) &&
         size == otherSize;
}

/// Whether `op`, which is in a later walk than `first`, reads a row of a float
/// tensor that nothing else aliases, from a place that is known before.
bool KernelPrinter::isLoadedAhead(device::LoadOp op, device::LoopOp first) {
  auto loop = cast<device::LoopOp>(op->getParentOp());
  Value index = loop.getBody().getArgument(0);
  auto isKnown = [&](Value each) {
    Operation *definition = each.getDefiningOp();
    return !definition || (definition->getBlock() != &loop.getBody().front() &&
                           (definition->getBlock() != first->getBlock() ||
                            definition->isBeforeInBlock(first)));
  };
  auto argument = dyn_cast<BlockArgument>(op.getPointer());
  return argument && op.getPattern() == device::AccessPattern::Contiguous &&
         isa<FloatType>(op.getType()) &&
         !llvm::is_contained(kernel.getAliased(), argument.getArgNumber()) &&
         llvm::all_of(op.getIndices(), isKnown) &&
         llvm::any_of(op.getIndices(), [&](Value each) {
           return each != index && !each.getDefiningOp<arith::ConstantOp>();
         });
}

/// What only a later walk over a row reads is loaded together with what the
/// first one reads: a warp would wait for memory once more behind the sums that
/// it exchanges. This is for threads that may have all registers.
LogicalResult KernelPrinter::loadRowsAhead(device::LoopOp op,
                                           const std::string &index) {
  constexpr int64_t kThreadsOfAllRegisters = 256;
  if (!hasFixedIterations(op) || op.getNumResults() == 0 ||
      kernel.getResidentBlocks() == 0 ||
      kernel.getResidentBlocks() * kernel.getThreads() > kThreadsOfAllRegisters)
    return success();
  auto isMemory = [](device::StoreOp store) {
    return !isInRegisters(store.getPointer());
  };
  for (Operation *next = op; next; next = next->getNextNode()) {
    auto later = dyn_cast<device::LoopOp>(next);
    if (later && later != op && hasFixedIterations(later) &&
        hasSameSize(later, op))
      for (auto load : later.getBody().getOps<device::LoadOp>())
        if (isLoadedAhead(load, op) && !ahead.contains(load)) {
          if (iteration.empty())
            iteration = names.unique("t");
          known[later.getBody().getArgument(0)] = {index};
          std::string upper = operand(op.getUpper()).text;
          rest = upper + " - " + index;
          FailureOr<Place> place =
              placeOf(load, load.getPattern(), load.getIndices(),
                      load.getStrides(), load.getOffset());
          if (failed(place))
            return failure();
          std::string row = names.unique(loadStem(load) + "_row");
          line(lanesOf(load.getType()) + " " + row + "[" + iterationsOf(upper) +
               "];");
          openUnrolledFor(iteration, iterationsOf(upper));
          line("const int64_t " + index + " = " + iteration + " * lane_step" +
               widthOf(kernel) + "() + first_lane" + widthOf(kernel) + "();");
          line(row + "[" + iteration + "] = " +
               contiguousText(load, "load", load.getAlignment(),
                              {pointerText(load.getPointer(), *place)}) +
               ";");
          closeBrace();
          ahead[load] = row;
        }
    if (next->walk([&](device::StoreOp store) {
              return isMemory(store) ? WalkResult::interrupt()
                                     : WalkResult::advance();
            })
            .wasInterrupted())
      break;
  }
  return success();
}

void KernelPrinter::printLanesHeader(device::LoopOp op,
                                     const std::string &index) {
  std::string lower = operand(op.getLower()).text,
              upper = operand(op.getUpper()).text,
              first = "first_lane" + widthOf(kernel) + "()",
              step = " += lane_step" + widthOf(kernel) + "()";
  if (hasFixedIterations(op)) {
    if (iteration.empty())
      iteration = names.unique("t");
    openUnrolledFor(iteration, iterationsOf(upper));
    line("const int64_t " + index + " = " + iteration + " * lane_step" +
         widthOf(kernel) + "() + " + first + ";");
    return defineRest(op, upper + " - " + index);
  }
  // All threads take part in what groups share, those behind the end too.
  std::string place = sharesRows(op) ? names.unique("tile") : index;
  openFor(place, place == index ? added(lower, first) : lower, upper,
          place + step);
  if (place != index)
    line("const int64_t " + index + " = " + added(place, first) + ";");
  defineRest(op, upper + " - " + index);
}

void KernelPrinter::defineRest(device::LoopOp op, const std::string &text) {
  rest = text;
  if (analysis.usesOfRest(op) < 2)
    return;
  line("const int64_t left = " + rest + ";");
  rest = "left";
}

LogicalResult KernelPrinter::printOp(device::LoopOp op) {
  if (failed(checkLoop(op)))
    return failure();
  bool overLanes = op.getKind() == device::LoopKind::Lanes;
  SmallVector<Accumulator> accumulators = declareAccumulators(op);
  std::string index = names.unique(overLanes ? "i" : "r");
  known[op.getBody().getArgument(0)] = {index};
  if (failed(loadRowsAhead(op, index)))
    return failure();
  active.push_back(accumulators);
  if (op.getUnroll() > 1 || vectorsOfBatch(op) > 1) {
    if (failed(op.getUnroll() > 1 ? printBatches(op, index)
                                  : printLongRow(op, index)))
      return failure();
  } else {
    printLoopHeader(op, index);
    if (failed(printBlock(op.getBody().front())))
      return failure();
    closeBrace();
  }
  active.pop_back();
  names.release(index); // the next loop may have the same
  for (auto [accumulator, result] : llvm::zip(accumulators, op.getResults()))
    defineResult(op, accumulator, result);
  return success();
}

/// "sum_of_groups<8, 32>", of 32 groups of 8 threads.
std::string KernelPrinter::ofGroups(device::Combiner combiner) {
  return (verbOf(combiner) + "_of_groups<" + Twine(kernel.getWidth()) + ", " +
          Twine(kernel.getGroups()) + ">")
      .str();
}

LogicalResult KernelPrinter::printOp(device::CombineGroupsOp op) {
  std::string variable = names.unique(stemsOf(op.getCombiner()).first);
  line("const auto " + variable + " = " +
       callText(ofGroups(op.getCombiner()), {operand(op.getValue()).text}) +
       ";");
  known[op.getResult()] = {variable};
  return success();
}

/// What a loop has combined in each thread is combined over threads: of the
/// block after a loop over lanes, of all groups after one over row groups.
void KernelPrinter::defineResult(device::LoopOp op,
                                 const Accumulator &accumulator,
                                 OpResult result) {
  known[result] = {accumulator.name};
  if (op.getKind() == device::LoopKind::Sequential)
    return;
  bool isOverGroups = op.getKind() == device::LoopKind::RowGroups,
       isWhole = kernel.getGroups() == 1;
  StringRef verb = verbOf(accumulator.combiner);
  std::string variable = names.unique(stemsOf(accumulator.combiner).first),
              type = "auto",
              function = (isWhole ? "block_" + verb
                                  : "group_" + verb + widthOf(kernel))
                             .str();
  if (isOverGroups)
    function = ofGroups(accumulator.combiner);
  else
    type = computeType(result.getType());
  SmallVector<std::string> arguments{accumulator.name};
  if (accumulator.combiner == device::Combiner::SumExp)
    arguments.push_back(
        known[op.getResult(*op.getMaximumOf(result.getResultNumber()))].text);
  line("const " + type + " " + variable + " = " +
       callText(function, arguments) + ";");
  known[result] = {variable};
}

void KernelPrinter::combine(const Accumulator &accumulator,
                            const std::string &value) {
  if (accumulator.isExpSum) {
    if (accumulator.combiner == device::Combiner::Max) // takes both in
      line(accumulator.name + ".add(" + value + ");");
    return;
  }
  switch (accumulator.combiner) {
  case device::Combiner::SumExp:
    return;
  case device::Combiner::Sum:
    return line(accumulator.name + " += " + value + ";");
  case device::Combiner::Prod:
    return line(accumulator.name + " *= " + value + ";");
  case device::Combiner::Max:
    return line(accumulator.name + " = " +
                callText("max", {accumulator.name, value}) + ";");
  case device::Combiner::Min:
    return line(accumulator.name + " = " +
                callText("min", {accumulator.name, value}) + ";");
  }
}

LogicalResult KernelPrinter::printOp(device::YieldOp op) {
  auto loop = cast<device::LoopOp>(op->getParentOp());
  int64_t multiple =
      loop.getKind() == device::LoopKind::Lanes ? knownMultiple(loop) : 16;
  for (auto [value, accumulator] : llvm::zip(op.getValues(), active.back())) {
    std::string text =
        argument(operand(value), value.getType(), accumulator.isLanes);
    if (multiple < 16)
      text = callText(
          multiple == 1 ? "masked" : "masked<" + std::to_string(multiple) + ">",
          {text, rest, accumulator.identity});
    combine(accumulator, text);
  }
  return success();
}
