//===- KernelPrinter.cpp - Kernels as C++ -----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What varies by lane and what is written in place of its one use is found
// before the first line is printed; printing is one function per op.
//
//===----------------------------------------------------------------------===//

#include "KernelPrinter.h"

#include "Expressions.h"
#include "Names.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;
using cxx::Operand;

namespace {

/// Longer expressions get a name.
constexpr size_t kLongestInline = 56;

class KernelPrinter {
public:
  KernelPrinter(device::KernelOp kernel, raw_ostream &stream) : kernel(kernel), stream(stream) {}

  LogicalResult print() {
    findVarying(kernel.getBody());
    stream << "KERNEL void " << cxx::identifier(kernel.getSymName()) << "(";
    SmallVector<std::string> declarations;
    for (auto [argument, name] : llvm::zip(kernel.getBody().getArguments(), kernel.getArgumentNames())) {
      std::string text = cxx::identifier(cast<StringAttr>(name).getValue());
      known[argument] = {text};
      parameters.insert(text);
      declarations.push_back(parameterType(argument) + text);
    }
    printWrapped(declarations, /*indent=*/13 + cxx::identifier(kernel.getSymName()).size());
    stream << ") {\n";
    LogicalResult result = printBlock(kernel.getBody().front());
    stream << "}\n";
    return result;
  }

private:
  /// Separated by commas, wrapped at 110 columns.
  void printWrapped(ArrayRef<std::string> texts, size_t indent) {
    size_t column = indent;
    constexpr size_t kColumns = 108;
    for (auto [index, text] : llvm::enumerate(texts)) {
      if (index && column + text.size() + 2 > kColumns) {
        stream << ",\n" << std::string(indent, ' ');
        column = indent;
      } else if (index) {
        stream << ", ";
        column += 2;
      }
      stream << text;
      column += text.size();
    }
  }

  static std::string parameterType(BlockArgument argument) {
    auto pointer = dyn_cast<device::PtrType>(argument.getType());
    if (!pointer)
      return "const StepState *";
    bool isWritten = llvm::any_of(argument.getUsers(), [](Operation *user) { return isa<device::StoreOp>(user); });
    return (isWritten ? "" : "const ") + cxx::memoryType(pointer.getElement()) + " *";
  }

  //===--------------------------------------------------------------------===//
  // What varies by lane
  //===--------------------------------------------------------------------===//

  void findVarying(Region &region) {
    region.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto load = dyn_cast<device::LoadOp>(op)) {
        if (load.getAccess() != device::Access::Uniform)
          varying.insert(load.getResult());
      } else if (auto position = dyn_cast<device::PositionOp>(op)) {
        if (position.getAccess() != device::Access::Uniform)
          varying.insert(position.getResult());
      } else if (!isa<device::LoopOp>(op) && llvm::any_of(op->getOperands(), [&](Value v) { return varying.contains(v); })) {
        for (Value result : op->getResults())
          varying.insert(result);
      } else if (auto random = dyn_cast<device::RandomOp>(op)) {
        varying.insert(random.getResult());
      }
      // Ops are visited in order, so the body of a loop is known at its yield.
      if (auto yield = dyn_cast<device::YieldOp>(op)) {
        auto loop = cast<device::LoopOp>(yield->getParentOp());
        if (loop.getKind() == device::LoopKind::Sequential)
          for (auto [value, result] : llvm::zip(yield.getValues(), loop.getResults()))
            if (varying.contains(value))
              varying.insert(result);
      }
    });
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  LogicalResult printBlock(Block &block) {
    depth += 2;
    for (Operation &op : block) {
      LogicalResult result =
          TypeSwitch<Operation *, LogicalResult>(&op)
              .Case<device::BlockIndexOp, device::DelinearizeOp, device::LoopOp, device::StoreOp, device::LoadOp,
                    device::PositionOp, device::RandomOp, device::YieldOp>([&](auto typed) { return printOp(typed); })
              .Default([&](Operation *other) { return printExpression(other); });
      if (failed(result))
        return failure();
    }
    depth -= 2;
    return success();
  }

  raw_ostream &line() { return stream.indent(depth); }

  std::string fresh(StringRef stem) {
    unsigned &count = names[stem];
    std::string name;
    do {
      name = count ? (stem + std::to_string(count)).str() : stem.str();
      ++count;
    } while (parameters.contains(name));
    return name;
  }

  /// Written in place of its one use, or given a name.
  void define(Value value, Operand expression, StringRef stem) {
    expression.isVarying = varying.contains(value);
    bool inlined = isa_and_nonnull<arith::ConstantOp>(value.getDefiningOp()) ||
                   (value.hasOneUse() && expression.text.size() <= kLongestInline &&
                    value.getUsers().begin()->getBlock() == value.getParentBlock());
    if (!inlined) {
      std::string name = fresh(stem);
      line() << "const auto " << name << " = " << expression.text << ";\n";
      expression = {name, true, expression.isVarying};
    }
    known[value] = expression;
  }

  const Operand &operand(Value value) { return known[value]; }

  LogicalResult printExpression(Operation *op) {
    SmallVector<Operand> operands;
    for (Value value : op->getOperands())
      operands.push_back(operand(value));
    std::optional<Operand> expression = cxx::expressionOf(op, operands);
    if (!expression || op->getNumResults() != 1)
      return op->emitError("'") << op->getName() << "' has no form in emitted code";
    define(op->getResult(0), *expression, "v");
    return success();
  }

  LogicalResult printOp(device::BlockIndexOp op) {
    if (op.getResult().use_empty())
      return success();
    line() << "const int64_t b = block();\n";
    known[op.getResult()] = {"b"};
    return success();
  }

  /// The last digit is a remainder, the others come from a running quotient.
  LogicalResult printOp(device::DelinearizeOp op) {
    std::string rest = operand(op.getIndex()).asAtom();
    ArrayRef<int64_t> sizes = op.getSizes();
    int64_t divisor = 1;
    SmallVector<std::string> texts(sizes.size());
    for (size_t digit = sizes.size(); digit-- > 0;) {
      std::string text = divisor == 1 ? rest : rest + " / " + std::to_string(divisor);
      if (digit > 0)
        text += " % " + std::to_string(sizes[digit]);
      texts[digit] = text;
      divisor *= sizes[digit];
    }
    for (auto [digit, text] : llvm::zip(op.getDigits(), texts)) {
      if (digit.use_empty())
        continue;
      std::string name = fresh("b");
      if (name == "b")
        name = fresh("b");
      line() << "const int64_t " << name << " = " << text << ";\n";
      known[digit] = {name};
    }
    return success();
  }

  /// p + offset + i * stride, split into what is uniform and the lanes' part.
  struct Place {
    std::string uniform; ///< "p + b * 128", without the lanes' index.
    std::string index;   ///< "b * 128", empty for 0.
    std::string lane;    ///< The lanes' loop index, empty where uniform.
    int64_t stride = 0;  ///< Of the lanes.
    Operand row;         ///< Of an indirect access: elements, per lane.
  };

  Value laneIndexOf(Operation *op) {
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      if (auto loop = dyn_cast<device::LoopOp>(parent); loop && loop.getKind() == device::LoopKind::Lanes)
        return loop.getBody().getArgument(0);
    return Value();
  }

  static std::string scaled(const std::string &index, int64_t stride) {
    return stride == 1 ? index : index + " * " + std::to_string(stride);
  }

  Place placeOf(Operation *op, StringRef base, ValueRange indices, ArrayRef<int64_t> strides, int64_t offset) {
    Place place;
    Value lane = laneIndexOf(op);
    std::string terms;
    for (auto [index, stride] : llvm::zip(indices, strides)) {
      const Operand &text = operand(index);
      if (index == lane) {
        place.lane = text.text;
        place.stride = stride;
      } else if (text.isVarying) {
        place.row = {scaled(text.asAtom(), stride), stride == 1 && text.isAtom, true};
      } else {
        terms += (terms.empty() ? "" : " + ") + scaled(text.asAtom(), stride);
      }
    }
    if (offset != 0)
      terms += (terms.empty() ? "" : " + ") + std::to_string(offset);
    place.index = terms;
    place.uniform = base.str() + (terms.empty() ? "" : " + " + terms);
    return place;
  }

  std::string remaining(Operation *op, const Place &place) {
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      if (auto loop = dyn_cast<device::LoopOp>(parent); loop && loop.getKind() == device::LoopKind::Lanes)
        return operand(loop.getUpper()).asAtom() + " - " + operand(loop.getBody().getArgument(0)).text;
    return "kLanes";
  }

  LogicalResult printOp(device::LoadOp op) {
    const std::string base = operand(op.getPointer()).text;
    Place place = placeOf(op, base, op.getIndices(), op.getStrides(), op.getOffset());
    bool isMask = op.getResult().getType().isInteger(1);
    std::string count = remaining(op, place);
    switch (op.getAccess()) {
    case device::Access::Uniform: {
      std::string element = base + "[" + (place.index.empty() ? "0" : place.index) + "]";
      Type type = op.getResult().getType();
      if (isMask)
        element = "(" + element + " != 0)";
      else if (type.isF16() || type.isBF16())
        element = "widen(" + element + ")";
      define(op.getResult(), {element}, "x");
      return success();
    }
    case device::Access::Contiguous:
      define(op.getResult(), {(isMask ? "load_mask(" : "load(") + place.uniform + " + " + place.lane + ", " + count + ")"}, "x");
      return success();
    case device::Access::Strided:
      define(op.getResult(),
             {(isMask ? "load_mask_strided(" : "load_strided(") + place.uniform + " + " + scaled(place.lane, place.stride) +
              ", " + std::to_string(place.stride) + ", " + count + ")"}, "x");
      return success();
    case device::Access::Indirect: {
      std::string index = place.row.text;
      if (!place.lane.empty())
        index += " + " + scaled("iota<int64_t>(" + place.lane + ")", place.stride);
      define(op.getResult(), {(isMask ? "gather_mask(" : "gather(") + place.uniform + ", " + index + ", " + count + ")"}, "x");
      return success();
    }
    }
    return failure();
  }

  LogicalResult printOp(device::StoreOp op) {
    Place place = placeOf(op, operand(op.getPointer()).text, op.getIndices(), op.getStrides(), op.getOffset());
    Operand value = operand(op.getValue());
    Type type = op.getValue().getType();
    if (op.getAccess() == device::Access::Uniform) {
      std::string element = operand(op.getPointer()).text + "[" + (place.index.empty() ? "0" : place.index) + "]";
      line() << "if (first_thread())\n";
      if (type.isF16() || type.isBF16())
        line() << "  narrow(" << element << ", " << value.text << ");\n";
      else
        line() << "  " << element << " = " << value.text << ";\n";
      return success();
    }
    std::string text = value.isVarying ? value.text : "Lanes<" + cxx::computeType(type) + ">(" + value.text + ")";
    bool isStrided = op.getAccess() == device::Access::Strided;
    line() << (isStrided ? "store_strided(" : "store(") << place.uniform << " + " << scaled(place.lane, place.stride)
           << ", " << (isStrided ? std::to_string(place.stride) + ", " : "") << text << ", " << remaining(op, place)
           << ");\n";
    return success();
  }

  LogicalResult printOp(device::PositionOp op) {
    Place place = placeOf(op, "", op.getIndices(), op.getStrides(), op.getOffset());
    std::string uniform = place.index.empty() ? "0" : place.index;
    Operand expression{"int64_t(" + uniform + ")"};
    if (op.getAccess() == device::Access::Contiguous)
      expression = {"iota<int64_t>(" + (place.index.empty() ? "" : place.index + " + ") + place.lane + ")"};
    else if (op.getAccess() == device::Access::Strided)
      expression = {"iota<int64_t>(" + place.lane + ") * int64_t(" + std::to_string(place.stride) + ") + int64_t(" + uniform + ")", false};
    define(op.getResult(), expression, "n");
    return success();
  }

  LogicalResult printOp(device::RandomOp op) {
    std::string element = operand(op.getElement()).text;
    if (!operand(op.getElement()).isVarying)
      element = "Lanes<int64_t>(" + element + ")";
    std::string state = operand(op.getState()).text;
    define(op.getResult(),
           {"random_uniform(" + state + "->seed, " + std::to_string(op.getStream()) + ", " + state + "->draw, " + element + ")"}, "u");
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  struct Accumulator {
    std::string name, type, identity;
    device::Combiner combiner;
    bool isLanes;
  };

  static std::string identityOf(device::Combiner combiner, Type type) {
    bool isFloat = isa<FloatType>(type);
    std::string zero = isFloat ? (type.isF64() ? "0.0" : "0.0f") : "0", one = isFloat ? (type.isF64() ? "1.0" : "1.0f") : "1";
    std::string limits = "std::numeric_limits<" + cxx::computeType(type) + ">::";
    switch (combiner) {
    case device::Combiner::Sum: return zero;
    case device::Combiner::Prod: return one;
    case device::Combiner::Max: return isFloat ? "-INFINITY" : limits + "lowest()";
    case device::Combiner::Min: return isFloat ? "INFINITY" : limits + "max()";
    }
    return zero;
  }

  static StringRef blockFunction(device::Combiner combiner) {
    switch (combiner) {
    case device::Combiner::Sum: return "block_sum";
    case device::Combiner::Max: return "block_max";
    case device::Combiner::Min: return "block_min";
    case device::Combiner::Prod: return "block_prod";
    }
    return "";
  }

  SmallVector<Accumulator> declareAccumulators(device::LoopOp op) {
    SmallVector<Accumulator> accumulators;
    bool overLanes = op.getKind() == device::LoopKind::Lanes;
    for (auto [attribute, result] : llvm::zip(op.getCombiners(), op.getResults())) {
      auto combiner = cast<device::CombinerAttr>(attribute).getValue();
      bool isLanes = overLanes || varying.contains(result);
      std::string scalar = cxx::computeType(result.getType());
      Accumulator accumulator{fresh(stemOf(combiner)), isLanes ? "Lanes<" + scalar + ">" : scalar,
                              identityOf(combiner, result.getType()), combiner, isLanes};
      line() << accumulator.type << " " << accumulator.name << "(" << accumulator.identity << ");\n";
      accumulators.push_back(accumulator);
    }
    return accumulators;
  }
  static StringRef stemOf(device::Combiner combiner) {
    switch (combiner) {
    case device::Combiner::Sum: return "sum";
    case device::Combiner::Max: return "most";
    case device::Combiner::Min: return "least";
    case device::Combiner::Prod: return "product";
    }
    return "";
  }

  LogicalResult printOp(device::LoopOp op) {
    SmallVector<Accumulator> accumulators = declareAccumulators(op);
    bool overLanes = op.getKind() == device::LoopKind::Lanes;
    std::string index = fresh(overLanes ? "i" : "r");
    std::string lower = operand(op.getLower()).text, upper = operand(op.getUpper()).asAtom();
    std::string first = overLanes ? (lower == "0" ? "first_lane()" : operand(op.getLower()).asAtom() + " + first_lane()") : lower;
    line() << "for (int64_t " << index << " = " << first << "; " << index << " < " << upper << "; "
           << (overLanes ? index + " += lane_step()" : index + "++") << ") {\n";
    known[op.getBody().getArgument(0)] = {index};
    active.push_back(accumulators);
    if (failed(printBlock(op.getBody().front())))
      return failure();
    active.pop_back();
    line() << "}\n";
    for (auto [accumulator, result] : llvm::zip(accumulators, op.getResults())) {
      if (!overLanes) {
        known[result] = {accumulator.name, true, accumulator.isLanes};
        continue;
      }
      std::string name = fresh("total");
      if (accumulator.combiner != device::Combiner::Sum)
        name = fresh((stemOf(accumulator.combiner) + "_of_block").str());
      line() << "const auto " << name << " = " << blockFunction(accumulator.combiner) << "(" << accumulator.name << ");\n";
      known[result] = {name};
    }
    // Indices of loops that are over may be used again.
    --names[overLanes ? "i" : "r"];
    return success();
  }

  LogicalResult printOp(device::YieldOp op) {
    auto loop = cast<device::LoopOp>(op->getParentOp());
    bool overLanes = loop.getKind() == device::LoopKind::Lanes;
    for (auto [value, accumulator] : llvm::zip(op.getValues(), active.back())) {
      Operand contribution = operand(value);
      std::string text = contribution.text;
      if (accumulator.isLanes && !contribution.isVarying)
        text = accumulator.type + "(" + text + ")";
      if (overLanes)
        text = "keep(" + text + ", " + operand(loop.getUpper()).asAtom() + " - " +
               operand(loop.getBody().getArgument(0)).text + ", " + accumulator.identity + ")";
      switch (accumulator.combiner) {
      case device::Combiner::Sum: line() << accumulator.name << " += " << text << ";\n"; break;
      case device::Combiner::Prod:
        line() << accumulator.name << " = " << accumulator.name << " * " << (overLanes ? text : "(" + text + ")") << ";\n";
        break;
      case device::Combiner::Max:
      case device::Combiner::Min:
        line() << accumulator.name << " = " << (accumulator.combiner == device::Combiner::Max ? "max(" : "min(")
               << accumulator.name << ", " << text << ");\n";
        break;
      }
    }
    return success();
  }

  device::KernelOp kernel;
  raw_ostream &stream;
  unsigned depth = 0;
  llvm::DenseSet<Value> varying;
  llvm::DenseMap<Value, Operand> known;
  llvm::StringMap<unsigned> names;
  llvm::StringSet<> parameters;
  std::vector<SmallVector<Accumulator>> active;
};

} // namespace

LogicalResult cxx::printKernel(device::KernelOp kernel, raw_ostream &stream) {
  return KernelPrinter(kernel, stream).print();
}
