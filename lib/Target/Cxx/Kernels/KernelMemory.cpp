//===- KernelMemory.cpp - Loads and stores of kernels as C++ --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPrinter.h"

#include "Text.h"
#include "Types.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt;
using cxx::Expression;
using cxx::KernelPrinter;
using device::AccessPattern;

static void addTerm(std::string &sum, const std::string &term) {
  sum += (sum.empty() ? "" : " + ") + term;
}

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

std::string KernelPrinter::Place::sum() const {
  std::string text = uniform;
  if (laneStride)
    addTerm(text, scaled({lane}, laneStride));
  return origin.empty() ? text : text + " - " + origin;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

FailureOr<KernelPrinter::Place>
KernelPrinter::placeOf(Operation *op, AccessPattern pattern, ValueRange indices,
                       ArrayRef<int64_t> strides, int64_t offset) {
  Place place;
  device::LoopOp loop = enclosingLanesLoop(op);
  Value laneIndex = loop ? Value(loop.getBody().getArgument(0)) : Value();
  for (auto [index, stride] : llvm::zip(indices, strides)) {
    if (stride == 0)
      continue;
    if (index == laneIndex) {
      place.lane = printed(index).text;
      place.laneStride += stride;
    } else if (stride == -1 && !analysis.isVarying(index)) {
      place.origin = operand(index).within(Binding::Product);
    } else {
      addTerm(analysis.isVarying(index) ? place.gathered : place.uniform,
              scaled(operand(index), stride));
    }
  }
  if (offset != 0)
    addTerm(place.uniform, std::to_string(offset));
  bool isRegular = place.gathered.empty();
  bool agrees =
      pattern == AccessPattern::Uniform ? isRegular && !place.laneStride
      : pattern == AccessPattern::Contiguous
          ? isRegular && place.laneStride == 1
      : pattern == AccessPattern::Strided ? isRegular && place.laneStride
                                          : loop && !isRegular;
  if (!agrees)
    return op->emitOpError("expects indices that vary by lane as '")
           << stringifyAccessPattern(pattern) << "' says";
  return place;
}

std::string KernelPrinter::pointerText(Value pointer, const Place &place) {
  std::string sum = place.sum();
  return printed(pointer).text + (sum.empty() ? "" : " + " + sum);
}

std::string KernelPrinter::elementText(Value pointer, const Place &place) {
  return printed(pointer).text + "[" +
         (place.uniform.empty() ? "0" : place.uniform) + "]";
}

/// As of the loop, or as of whole vectors of it, which begin at multiples of
/// kLanes.
int64_t KernelPrinter::knownMultiple(device::LoopOp loop,
                                     int64_t alignment) const {
  if (!hasAllLanes)
    return cxx::knownMultiple(loop, alignment);
  return alignment % 16 == 0  ? 16
         : alignment % 8 == 0 ? 8
         : alignment % 4 == 0 ? 4
                              : 1;
}

/// "load_vector(x + i)", "load<8>(x + i, left)" or "load(x + i, left)".
std::string KernelPrinter::contiguousText(Operation *op, const Twine &function,
                                          int64_t alignment,
                                          SmallVector<std::string> arguments) {
  int64_t multiple = knownMultiple(enclosingLanesLoop(op), alignment);
  if (multiple == 16)
    return callText((function + "_vector").str(), arguments);
  arguments.push_back(rest);
  if (multiple == 1)
    return callText(function.str(), arguments);
  return callText((function + "<" + Twine(multiple) + ">").str(), arguments);
}

/// Whether a row is there to add something up.
static bool beginsAsZeros(device::RowOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto store = dyn_cast<device::StoreOp>(user);
    return store && matchPattern(store.getValue(), m_AnyZeroFloat());
  });
}

LogicalResult KernelPrinter::printOp(device::RowOp op) {
  Type element = cast<device::PtrType>(op.getType()).getElement();
  if (!isa<FloatType>(element) || computeType(element).empty())
    return op.emitOpError("cannot be written as C++ for ") << element;
  bool outlivesRows =
      kernel.getGroups() > 1 && isa<device::KernelOp>(op->getParentOp());
  std::string variable = names.unique(outlivesRows        ? "totals"
                                      : beginsAsZeros(op) ? "sums"
                                                          : "row");
  if (isInRegisters(op)) {
    line(lanesOf(element) + " " + variable + "[" +
         iterationsOf(std::to_string(op.getSize())) + "];");
    known[op.getResult()] = {variable};
    return success();
  }
  line("ROW_MEMORY " + computeType(element) + " " + variable + "[" +
       Twine(op.getSize()) + "];");
  known[op.getResult()] = {variable};
  return success();
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

std::string KernelPrinter::uniformLoad(device::LoadOp op, const Place &place) {
  if (isHalf(op.getType()))
    return callText("load_scalar", {pointerText(op.getPointer(), place)});
  std::string element = elementText(op.getPointer(), place);
  return op.getType().isInteger(1) ? "(" + element + " != 0)" : element;
}

/// Returns a name for what a load reads: "x0_i" for the element of x0 at i. Of
/// a batch of loads, the index may be computed later, inside the batch.
std::string KernelPrinter::loadStem(device::LoadOp op) {
  std::string stem = printed(op.getPointer()).text, last = "0";
  if (!op.getIndices().empty())
    last = known.lookup(op.getIndices().back()).text;
  bool isName = !last.empty() && llvm::all_of(last, [](char c) {
    return llvm::isAlnum(c) || c == '_';
  });
  return stem + "_" + (isName ? last : "at");
}

LogicalResult KernelPrinter::printOp(device::LoadOp op) {
  if (auto row = ahead.find(op); row != ahead.end()) {
    known[op.getResult()] = {row->second + "[" + iteration + "]"};
    return success();
  }
  FailureOr<Place> place = placeOf(op, op.getPattern(), op.getIndices(),
                                   op.getStrides(), op.getOffset());
  if (failed(place))
    return failure();
  Type type = op.getType();
  if (type.isInteger(8) || type.isInteger(16) || memoryType(type).empty())
    return op.emitOpError("cannot be written as C++ for ") << type;
  std::string mask = type.isInteger(1) ? "_mask" : "",
              pointer = pointerText(op.getPointer(), *place);
  std::string text;
  switch (op.getPattern()) {
  case AccessPattern::Uniform:
    text = uniformLoad(op, *place);
    break;
  case AccessPattern::Contiguous:
    text =
        isInRegisters(op.getPointer())
            ? printed(op.getPointer()).text + "[" + iteration + "]"
            : contiguousText(op, "load" + mask, op.getAlignment(), {pointer});
    break;
  case AccessPattern::Strided:
    text = callText("load" + mask + "_strided",
                    {pointer, std::to_string(place->laneStride), rest});
    break;
  case AccessPattern::Indirect: {
    std::string index = place->gathered;
    if (place->laneStride)
      addTerm(index, scaled({"iota<int64_t>(" + place->lane + ")"},
                            place->laneStride));
    place->laneStride = 0;
    text = callText("gather" + mask,
                    {pointerText(op.getPointer(), *place), index, rest});
    break;
  }
  }
  auto array = batched.find(op);
  if (array == batched.end()) {
    define(op.getResult(), {text}, loadStem(op));
  } else {
    line(array->second + " = " + text + ";");
    known[op.getResult()] = {array->second};
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Stores and positions
//===----------------------------------------------------------------------===//

LogicalResult KernelPrinter::printOp(device::StoreOp op) {
  FailureOr<Place> place = placeOf(op, op.getPattern(), op.getIndices(),
                                   op.getStrides(), op.getOffset());
  if (failed(place))
    return failure();
  Type type = op.getValue().getType();
  Expression value = operand(op.getValue());
  std::string pointer = pointerText(op.getPointer(), *place),
              lanes = argument(value, type, /*asLanes=*/true);
  auto print = [&](const std::string &text) {
    device::LoopOp loop = enclosingLanesLoop(op);
    if (op->getParentOp() == loop && storesInFirstGroup(loop))
      guarded("group<" + std::to_string(kernel.getWidth()) + ">() == 0", text);
    else
      line(text);
  };
  switch (op.getPattern()) {
  case AccessPattern::Uniform:
    if (value.isVarying)
      return op.emitOpError("expects a value that is the same in all lanes");
    if (isHalf(type))
      guarded(firstOfGroup(),
              callText("store_scalar", {pointer, value.text}) + ";");
    else
      guarded(firstOfGroup(),
              elementText(op.getPointer(), *place) + " = " + value.text + ";");
    return success();
  case AccessPattern::Contiguous:
    if (isInRegisters(op.getPointer()))
      line(printed(op.getPointer()).text + "[" + iteration + "] = " + lanes +
           ";");
    else
      print(contiguousText(op, "store", op.getAlignment(), {pointer, lanes}) +
            ";");
    return success();
  case AccessPattern::Strided:
    if (type.isInteger(1))
      break;
    print(callText("store_strided",
                   {pointer, std::to_string(place->laneStride), lanes, rest}) +
          ";");
    return success();
  case AccessPattern::Indirect:
    break;
  }
  return op.emitOpError("cannot be written as C++");
}

LogicalResult KernelPrinter::printOp(device::PositionOp op) {
  FailureOr<Place> place = placeOf(op, op.getPattern(), op.getIndices(),
                                   op.getStrides(), op.getOffset());
  if (failed(place))
    return failure();
  if (op.getPattern() == AccessPattern::Uniform) {
    Expression sum(place->uniform.empty() ? "0" : place->uniform, Binding::Sum);
    sum.isInteger = llvm::all_of(sum.text, llvm::isDigit);
    define(op.getResult(), sum, "n");
  } else if (isFirstOfNeighbours(op)) {
    define(op.getResult(), {place->sum(), Binding::Sum}, "n");
  } else if (op.getPattern() == AccessPattern::Contiguous) {
    define(op.getResult(), {callText("iota<int64_t>", {place->sum()})}, "n");
  } else if (op.getPattern() == AccessPattern::Strided) {
    std::string text =
        scaled({callText("iota<int64_t>", {place->lane})}, place->laneStride);
    addTerm(text, place->uniform.empty() ? "0" : place->uniform);
    define(op.getResult(), {text, Binding::Sum}, "n");
  } else {
    return op.emitOpError("cannot be written as C++");
  }
  return success();
}
