//===- KernelPrinter.cpp - Kernels as C++ ---------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Prints statements, values and loops; KernelMemory.cpp prints loads and
// stores. KernelAnalysis knows which values vary by lane and which are written
// where they are used.
//
//===----------------------------------------------------------------------===//

#include "KernelPrinter.h"

#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Device/IR/ValueRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;
using cxx::Expression;
using cxx::KernelPrinter;

/// A longer expression gets a name.
constexpr size_t kLongestInline = 64;

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

LogicalResult KernelPrinter::printBody() {
  LogicalResult result = printBlock(kernel.getBody().front());
  stream << "}\n";
  return result;
}

std::string KernelPrinter::signature() {
  SmallVector<std::string> parameters;
  for (auto [argument, attribute] :
       llvm::zip(kernel.getBody().getArguments(), kernel.getArgumentNames())) {
    std::string parameter =
        names.unique(cast<StringAttr>(attribute).getValue());
    known[argument] = {parameter};
    if (isa<IndexType, FloatType>(argument.getType())) {
      parameters.push_back(computeType(argument.getType()) + " " + parameter);
      continue;
    }
    auto pointer = dyn_cast<device::PtrType>(argument.getType());
    bool isWritten = llvm::any_of(argument.getUsers(), [](Operation *user) {
      return isa<device::StoreOp, device::InRangeOp>(user);
    });
    std::string type = pointer ? memoryType(pointer.getElement()) : "StepState";
    bool isApart = pointer && !llvm::is_contained(kernel.getAliased(),
                                                  argument.getArgNumber());
    parameters.push_back((isWritten ? "" : "const ") + type + " *" +
                         (isApart ? "RESTRICT " : "") + parameter);
  }
  return callText(("void " + name).str(), parameters);
}

void KernelPrinter::line(const Twine &text) {
  flushGuarded();
  printLine(stream, std::string(2 * depth, ' ') + text.str());
}

void KernelPrinter::guarded(StringRef condition, const Twine &text) {
  if (condition != pendingCondition)
    flushGuarded();
  pendingCondition = condition.str();
  pending.push_back(text.str());
}

void KernelPrinter::flushGuarded() {
  if (pending.empty())
    return;
  std::string indent(2 * depth, ' ');
  stream << indent << "if (" << pendingCondition << ")"
         << (pending.size() > 1 ? " {\n" : "\n");
  for (const std::string &text : pending)
    printLine(stream, indent + "  " + text);
  if (pending.size() > 1)
    stream << indent << "}\n";
  pending.clear();
}

LogicalResult KernelPrinter::printBlock(Block &block) {
  for (Operation &op : block)
    if (failed(printOperation(&op)))
      return failure();
  flushGuarded();
  return success();
}

LogicalResult KernelPrinter::printOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<device::BlockIndexOp, device::DelinearizeOp, device::LoopOp,
            device::RowOp, device::StoreOp, device::LoadOp, device::PositionOp,
            device::InRangeOp, device::RandomOp, device::CombineGroupsOp,
            device::YieldOp>([&](auto typed) { return printOp(typed); })
      .Default([&](Operation *other) { return printExpression(other); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Expression KernelPrinter::operand(Value value) const {
  Expression expression = known.lookup(value);
  // The index of a loop over lanes is the index of its first lane. Where it is
  // used as a number, each lane needs its own.
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && analysis.isVarying(value))
    expression.text = "iota<int64_t>(" + expression.text + ")";
  expression.isVarying = analysis.isVarying(value);
  return expression;
}

/// Returns the role of a value; empty where it is not known.
StringRef KernelPrinter::roleOf(Value value) const {
  device::KernelOp op = kernel;
  SmallVector<StringRef> roles;
  for (auto name : op.getArgumentNames().getAsValueRange<StringAttr>()) {
    // A second parameter of the same role has a number.
    auto [stem, number] = name.rsplit('_');
    bool isNumbered = !number.empty() && llvm::all_of(number, llvm::isDigit);
    roles.push_back(isNumbered ? stem : name);
  }
  roles.resize(op.getBody().getNumArguments());
  return device::roleOfValue(value, roles);
}

/// Returns a noun for what an op makes of its operands or, if a function of the
/// runtime computes it, the function's name, as in "abs_x".
std::string KernelPrinter::stemOfWork(Operation *op) const {
  if (StringRef role = roleOf(op->getResult(0)); !role.empty())
    return role.str();
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](arith::AddFOp) { return "added"; })
      .Case([&](arith::SubFOp typed) {
        return roleOf(typed.getRhs()) == "mean" ? "centred" : "difference";
      })
      .Case([](arith::MulFOp typed) {
        return typed.getLhs() == typed.getRhs() ? "square" : "product";
      })
      .Case([](arith::DivFOp) { return "quotient"; })
      .Case([](arith::NegFOp) { return "negated"; })
      .Case([](arith::SelectOp) { return "selected"; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>([](auto) { return "larger"; })
      .Case<arith::MinimumFOp, arith::MinSIOp>([](auto) { return "smaller"; })
      .Default([](Operation *other) {
        StringRef function = cxx::functionOf(other);
        return function.empty() ? "v" : (function + "_x").str();
      });
}

/// Returns the name of a value. A loop's bounds are called so, other values by
/// what they are.
std::string KernelPrinter::stemOf(Operation *op) const {
  Value value = op->getResult(0);
  for (Operation *user : value.getUsers())
    if (auto loop = dyn_cast<device::LoopOp>(user))
      return loop.getLower() == value ? "begin" : "end";
  return value.getType().isInteger(1) ? "mask" : stemOfWork(op);
}

void KernelPrinter::define(Value value, Expression expression, StringRef stem) {
  expression.isVarying = analysis.isVarying(value);
  bool isConstant = isa_and_nonnull<arith::ConstantOp>(value.getDefiningOp());
  if (isConstant ||
      (analysis.isInlined(value) && expression.text.size() <= kLongestInline)) {
    known[value] = expression;
    return;
  }
  std::string variable = stem.size() == 1 || stem == "mask"
                             ? names.numbered(stem)
                             : names.unique(stem);
  std::string type =
      expression.isVarying ? "auto" : computeType(value.getType());
  line("const " + type + " " + variable + " = " + expression.text + ";");
  known[value] = {variable};
}

LogicalResult KernelPrinter::printExpression(Operation *op) {
  SmallVector<Expression> operands;
  for (Value value : op->getOperands())
    operands.push_back(operand(value));
  FailureOr<Expression> expression = expressionOf(op, operands);
  if (failed(expression))
    return failure();
  define(op->getResult(0), *expression, stemOf(op));
  return success();
}

LogicalResult KernelPrinter::printOp(device::BlockIndexOp op) {
  if (op.getResult().use_empty())
    return success();
  std::string variable = names.unique("b");
  line("const int64_t " + variable + " = block();");
  known[op.getResult()] = {variable};
  return success();
}

/// Prints such as "i / 12, i / 4 % 3, i % 4": all but the first one need a
/// remainder.
LogicalResult KernelPrinter::printOp(device::DelinearizeOp op) {
  Expression index = operand(op.getIndex());
  if (index.isVarying)
    return op.emitOpError("expects an index that is the same in all lanes");
  ArrayRef<int64_t> sizes = op.getSizes();
  std::string declarations;
  int64_t divisor = 1;
  for (int64_t size : sizes)
    divisor *= size;
  for (auto [digit, size] : llvm::zip(op.getDigits(), sizes)) {
    int64_t outer = divisor;
    divisor = size ? divisor / size : 0;
    if (digit.use_empty())
      continue;
    std::string text = index.within(Binding::Atom);
    if (divisor != 1)
      text += " / " + std::to_string(divisor);
    if (outer != divisor && digit != op.getDigits().front())
      text += " % " + std::to_string(size);
    std::string variable =
        names.unique(index.text + std::to_string(digit.getResultNumber()));
    declarations +=
        (declarations.empty() ? "" : ", ") + variable + " = " + text;
    known[digit] = {variable};
  }
  if (!declarations.empty())
    line("const int64_t " + declarations + ";");
  return success();
}

LogicalResult KernelPrinter::printOp(device::RandomOp op) {
  if (!op.getType().isF32())
    return op.emitOpError("cannot be written as C++ for ") << op.getType();
  std::string state = operand(op.getState()).text, function = "random_uniform";
  auto position = op.getElement().getDefiningOp<device::PositionOp>();
  if (position && isFirstOfNeighbours(position))
    function +=
        knownMultiple(enclosingLanesLoop(op), position.getAlignment()) % 4 == 0
            ? "_vector"
            : "_from";
  std::string draw =
      callText(function, {state + "->seed", std::to_string(op.getStream()),
                          state + "->draw", operand(op.getElement()).text});
  define(op.getResult(), {draw}, "u");
  return success();
}

LogicalResult KernelPrinter::printOp(device::InRangeOp op) {
  Expression index = operand(op.getIndex());
  Expression position = operand(op.getPosition());
  if (position.isVarying && !index.isVarying) // its first reader
    position = Expression("lane(" + position.text + ", 0)");
  SmallVector<std::string> arguments{
      operand(op.getState()).text, std::to_string(rows.lookup(op)),
      std::to_string(op.getSize()), index.text,
      argument(position, op.getType(), index.isVarying)};
  if (index.isVarying)
    arguments.push_back(rest);
  define(op.getResult(), {callText("in_range", arguments)}, "index");
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

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
    line("ExpSum<" + computeType(type) + "> " + accumulator.name + ";");
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
  openFor(index, firstTurn(op), operand(op.getUpper()).text,
          index + (step.empty() ? "++" : " += " + step));
}

std::string KernelPrinter::firstTurn(device::LoopOp op) {
  std::string lower = operand(op.getLower()).text;
  return op.getKind() == device::LoopKind::RowGroups
             ? added(lower, "group" + widthOf(kernel) + "()")
             : lower;
}

/// "turns<32>(768)", in which a group walks over a row.
std::string KernelPrinter::turnsOf(const std::string &size) {
  return "turns" + widthOf(kernel) + "(" + size + ")";
}

/// Holds for one thread of those that have a row.
std::string KernelPrinter::firstOfGroup() {
  return kernel.getGroups() == 1 ? "first_thread()"
                                 : "first_lane" + widthOf(kernel) + "() == 0";
}

/// "groups<16>()" where groups share the turns of a loop, empty otherwise.
std::string KernelPrinter::stepOf(device::LoopOp op) {
  return op.getKind() == device::LoopKind::RowGroups
             ? "groups<" + std::to_string(kernel.getGroups()) + ">()"
             : "";
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

void KernelPrinter::printLanesHeader(device::LoopOp op,
                                     const std::string &index) {
  std::string lower = operand(op.getLower()).text,
              upper = operand(op.getUpper()).text,
              first = "first_lane" + widthOf(kernel) + "()",
              step = " += lane_step" + widthOf(kernel) + "()";
  if ((kernel.getGroups() > 1 || kernel.hasRowsInRegisters()) &&
      !sharesRows(op)) {
    // A fixed number of turns, so that rows are in registers.
    if (turn.empty())
      turn = names.unique("turn");
    line("UNROLL");
    openFor(turn, "0", turnsOf(upper), turn + "++");
    line("const int64_t " + index + " = " + turn + " * lane_step" +
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
  active.push_back(accumulators);
  if (op.getUnroll() > 1) {
    if (failed(printBatches(op, index)))
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
