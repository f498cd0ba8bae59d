//===- KernelPrinter.cpp - Kernels as C++ ---------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Prints statements and values; KernelLoops.cpp prints loops, and
// KernelMemory.cpp loads and stores. KernelAnalysis knows which values vary by
// lane and which are written where they are used.
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPrinter.h"

#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Device/IR/Accesses.h"
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
  return failure(failed(result) || readsUnprinted);
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
    std::string type = pointer ? memoryType(pointer.getElement()) : "StepState";
    bool isApart = pointer && !llvm::is_contained(kernel.getAliased(),
                                                  argument.getArgNumber());
    parameters.push_back(
        (device::isWritten(kernel, argument.getArgNumber()) ? "" : "const ") +
        type + " *" + (isApart ? "RESTRICT " : "") + parameter);
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

/// Returns how a value is written, which something printed earlier has decided.
/// A value that nothing has printed would be empty text, and so wrong code.
const Expression &KernelPrinter::printed(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  if (!readsUnprinted)
    emitError(value.getLoc())
        << "kernel '" << name
        << "' reads a value that its C++ does not define at that place: a "
           "defect of gpuopt, please report it with the model";
  readsUnprinted = true;
  static const Expression missing{"0"};
  return missing;
}

Expression KernelPrinter::operand(Value value) {
  Expression expression = printed(value);
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

/// Whether an expression is the name of a variable.
static bool isName(StringRef text) {
  return llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

LogicalResult KernelPrinter::printExpression(Operation *op) {
  if (op->use_empty()) // compilers warn of a variable that nothing reads
    return success();
  SmallVector<Expression> operands;
  for (Value value : op->getOperands())
    operands.push_back(operand(value));
  FailureOr<Expression> expression = expressionOf(op, operands);
  if (failed(expression))
    return failure();
  Value result = op->getResult(0);
  // Half precision is computed in float, so widening it changes nothing, and a
  // variable needs no second name.
  if (operands.size() == 1 && expression->text == operands.front().text &&
      isName(expression->text) &&
      computeType(op->getOperand(0).getType()) ==
          computeType(result.getType())) {
    known[result] = operands.front();
    return success();
  }
  define(result, *expression, stemOf(op));
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
