//===- Converters.cpp - How each ONNX operator is converted ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "gpuopt/Conversion/OnnxToNN/Passes.h"

#include "mlir/Dialect/Traits.h"
#include "mlir/IR/Matchers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the names of the inputs of the model that a value is computed from.
/// Takes one from `budget` for each value that it visits, and returns no names
/// once the budget is used up.
static SmallVector<StringRef> inputsBehind(Value value, int64_t &budget) {
  SmallVector<Value> left{value};
  llvm::SetVector<Value> seen;
  llvm::SetVector<StringRef> names;
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (!seen.insert(next))
      continue;
    if (budget <= 0)
      return {};
    --budget;
    if (Operation *op = next.getDefiningOp()) {
      llvm::append_range(left, op->getOperands());
      continue;
    }
    auto argument = cast<BlockArgument>(next);
    auto function =
        dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function ? function.getArgAttrOfType<StringAttr>(
                               argument.getArgNumber(),
                               nn::NNDialect::NameAttrHelper::getNameStr())
                         : StringAttr();
    if (name)
      names.insert(name);
  }
  return names.takeVector();
}

std::string NodeConversion::whatDecides(unsigned index) const {
  if (!has(index))
    return "";
  SmallVector<StringRef> names =
      inputsBehind(input(index), state.explanationBudget);
  if (names.empty())
    return "";
  std::string text = "; it depends on ", flags;
  for (auto [place, name] : llvm::enumerate(names)) {
    text += (place == 0 ? "input '" : " and '") + name.str() + "'";
    flags += " --constant-input " + name.str() + "=FILE.npy";
  }
  return text + ", which" + flags + " makes constant";
}

std::optional<SmallVector<int64_t>>
NodeConversion::constantInts(unsigned index) {
  DenseElementsAttr value;
  if (!has(index) || !matchPattern(input(index), m_Constant(&value)) ||
      !isa<IntegerType>(value.getElementType())) {
    problem = "operand " + std::to_string(index) +
              " must be an integer constant once shapes are known" +
              whatDecides(index);
    return std::nullopt;
  }
  if (!canCompute(value.getNumElements()))
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const APInt &number : value.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  return numbers;
}

std::optional<int64_t> NodeConversion::constantInt(unsigned index) {
  auto numbers = constantInts(index);
  if (numbers && numbers->size() == 1)
    return numbers->front();
  problem = "operand " + std::to_string(index) +
            " must be a single integer constant" + whatDecides(index);
  return std::nullopt;
}

std::optional<double> NodeConversion::constantFloat(unsigned index) {
  auto numbers = constantFloats(index);
  if (numbers && numbers->size() == 1)
    return numbers->front();
  problem = "operand " + std::to_string(index) +
            " must be a single floating-point constant" + whatDecides(index);
  return std::nullopt;
}

std::optional<SmallVector<double>>
NodeConversion::constantFloats(unsigned index) {
  DenseElementsAttr value;
  if (!has(index) || !matchPattern(input(index), m_Constant(&value)) ||
      !isa<FloatType>(value.getElementType())) {
    problem = "operand " + std::to_string(index) +
              " must be a floating-point constant" + whatDecides(index);
    return std::nullopt;
  }
  if (!canCompute(value.getNumElements()))
    return std::nullopt;
  SmallVector<double> numbers;
  for (APFloat number : value.getValues<APFloat>()) {
    bool lossy = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    numbers.push_back(number.convertToDouble());
  }
  return numbers;
}

std::optional<int64_t> NodeConversion::axis(int64_t axis, int64_t rank) {
  int64_t fromFront = axis < 0 ? axis + rank : axis;
  if (fromFront >= 0 && fromFront < rank)
    return fromFront;
  problem = "axis " + std::to_string(axis) + " is outside of rank " +
            std::to_string(rank);
  return std::nullopt;
}

bool NodeConversion::isShape(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 0) {
      problem = "the result has a dimension of " + std::to_string(size);
      return false;
    }
    if (llvm::MulOverflow(elements, size, elements) ||
        elements > kMostElements) {
      problem = "the result has more than 2^48 elements";
      return false;
    }
  }
  return true;
}

std::string gpuopt::shapesText(nn::TensorBuilder &b, ArrayRef<Value> values) {
  std::string text;
  for (Value value : values) {
    text += text.empty() ? "" : " and ";
    text += '[';
    text += llvm::join(
        llvm::map_range(b.shape(value),
                        [](int64_t size) { return std::to_string(size); }),
        ", ");
    text += ']';
  }
  return text;
}

std::optional<SmallVector<int64_t>>
NodeConversion::commonShape(ArrayRef<Value> values) {
  SmallVector<int64_t> common;
  for (Value value : values) {
    SmallVector<int64_t> next;
    if (!OpTrait::util::getBroadcastedShape(common, b.shape(value), next)) {
      problem = "operands of shapes " + shapesText(b, values) +
                " do not broadcast to each other";
      return std::nullopt;
    }
    common = next;
  }
  return common;
}

Type gpuopt::elementTypeOf(Builder &b, int64_t dataType) {
  switch (dataType) {
  case 1:
    return b.getF32Type();
  case 2:
  case 3:
  case 4:
  case 5:
  case 6:
    return b.getI32Type();
  case 7:
  case 12:
    return b.getI64Type();
  case 9:
    return b.getI1Type();
  case 10:
    return b.getF16Type();
  case 11:
    return b.getF64Type();
  case 16:
    return b.getBF16Type();
  default:
    return nullptr;
  }
}

DenseElementsAttr gpuopt::constantOf(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) ? constant
                                                    : DenseElementsAttr();
}

Value gpuopt::makeInts(NodeConversion &c, ArrayRef<int64_t> numbers,
                       bool isScalar) {
  SmallVector<int64_t> shape;
  if (!isScalar)
    shape.push_back(numbers.size());
  auto type = RankedTensorType::get(shape, c.b.getI64Type());
  return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, numbers));
}

Value gpuopt::partOf(nn::TensorBuilder &b, Value x, int64_t axis,
                     int64_t offset, int64_t size, int64_t stride) {
  SmallVector<int64_t> offsets(b.type(x).getRank(), 0), sizes(b.shape(x)),
      strides(offsets.size(), 1);
  offsets[axis] = offset;
  sizes[axis] = size;
  strides[axis] = stride;
  return b.createOrFold<nn::SliceOp>(x, offsets, sizes, strides);
}

Value gpuopt::multiplyAlong(nn::TensorBuilder &b, Value x, int64_t dim,
                            Value matrix, bool isTransposed) {
  std::string letters;
  for (int64_t i = 0; i < b.type(x).getRank(); ++i)
    letters += 'a' + i;
  std::string result = letters, from(1, letters[dim]);
  result[dim] = 'z';
  std::string spec =
      letters + "," + (isTransposed ? "z" + from : from + "z") + "->" + result;
  return b.create<nn::ContractOp>(spec, x, matrix);
}

Value gpuopt::inDouble(nn::TensorBuilder &b, Value integers) {
  return b.createOrFold<arith::SIToFPOp>(b.type(integers).clone(b.getF64Type()),
                                         integers);
}

bool gpuopt::exceedsSigned(DenseElementsAttr constant) {
  auto isLarge = [](const APInt &number) { return number.isNegative(); };
  return constant.isSplat()
             ? isLarge(constant.getSplatValue<APInt>())
             : llvm::any_of(constant.getValues<APInt>(), isLarge);
}

Value gpuopt::fromDouble(nn::TensorBuilder &b, Value numbers, Type element) {
  RankedTensorType type = b.type(numbers).clone(element),
                   wide = type.clone(b.getI64Type());
  Value integers = b.createOrFold<arith::FPToSIOp>(wide, numbers);
  if (type != wide)
    return b.createOrFold<arith::TruncIOp>(type, integers);
  Value isLargest = b.compare(arith::CmpFPredicate::OGE, numbers,
                              b.splat(0x1p63, b.type(numbers)));
  auto largest = DenseElementsAttr::get(wide, APInt::getSignedMaxValue(64));
  return b.select(isLargest, b.create<arith::ConstantOp>(largest), integers);
}

Value gpuopt::inFloatType(nn::TensorBuilder &b, Value x, Type element) {
  RankedTensorType type = b.type(x);
  unsigned from = type.getElementTypeBitWidth(),
           to = element.getIntOrFloatBitWidth();
  if (type.getElementType() == element)
    return x;
  if (from < to)
    return b.createOrFold<arith::ExtFOp>(type.clone(element), x);
  if (from > to)
    return b.createOrFold<arith::TruncFOp>(type.clone(element), x);
  // f16 and bf16 have numbers that the other one lacks.
  return inFloatType(b, inFloatType(b, x, b.getF32Type()), element);
}

Value gpuopt::rootOf(nn::TensorBuilder &b, Value x, int64_t degree) {
  RankedTensorType type = b.type(x);
  Value zero = b.splat(0, type), one = b.splat(1, type);
  Value isZero = b.compare(arith::CmpFPredicate::OEQ, x, zero);
  Value safe = b.select(isZero, one, x);
  Value root =
      degree == 2
          ? b.createOrFold<math::SqrtOp>(safe)
          : b.createOrFold<math::PowFOp>(safe, b.splat(1.0 / degree, type));
  return b.select(isZero, zero, root);
}

Value gpuopt::pick(nn::TensorBuilder &b, Value x, int64_t dim,
                   ArrayRef<int64_t> picked) {
  SmallVector<int64_t> shape(b.shape(x));
  int64_t from = shape[dim], to = picked.size();
  // Each element is repeated several times in a row.
  auto isRepeated = [&](int64_t i) { return picked[i] == i / (to / from); };
  if (to % from == 0 && llvm::all_of(llvm::seq(to), isRepeated)) {
    shape.insert(shape.begin() + dim + 1, 1);
    Value split = b.reshape(x, shape);
    shape[dim + 1] = to / from;
    Value repeated = b.broadcast(split, shape);
    shape.erase(shape.begin() + dim + 1);
    shape[dim] = to;
    return b.reshape(repeated, shape);
  }
  // The elements are taken with a stride.
  int64_t stride = to > 1 ? picked[1] - picked[0] : 1;
  auto isStrided = [&](int64_t i) {
    return picked[i] == picked[0] + i * stride;
  };
  if (stride >= 1 && llvm::all_of(llvm::seq(to), isStrided)) {
    SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
    offsets[dim] = picked[0];
    strides[dim] = stride;
    shape[dim] = to;
    return b.createOrFold<nn::SliceOp>(x, offsets, shape, strides);
  }
  auto toFront = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  std::swap(toFront[0], toFront[dim]);
  auto type = RankedTensorType::get({to}, b.getI64Type());
  Value indices =
      b.create<arith::ConstantOp>(DenseElementsAttr::get(type, picked));
  Value taken = b.create<nn::TakeOp>(b.transpose(x, toFront), indices);
  return b.transpose(taken, toFront); // a swap undoes itself
}

/// Returns all operators by name.
static const std::map<StringRef, const OperatorEntry *> &allOperators() {
  static const auto all = [] {
    std::map<StringRef, const OperatorEntry *> map;
    for (ArrayRef<OperatorEntry> family :
         {attentionOperators(),     elementwiseOperators(),
          contractionOperators(),   einsumOperators(),
          spatialOperators(),       resampleOperators(),
          normalisationOperators(), shapeOperators(),
          gatherOperators(),        rankOperators(),
          scanOperators(),          reductionOperators(),
          recurrentOperators(),     scatterOperators(),
          selectOperators(),        randomOperators(),
          lossOperators(),          samplingOperators(),
          poolOperators(),          rotaryOperators(),
          castOperators(),          paddingOperators(),
          controlFlowOperators(),   quantizeOperators(),
          recurrenceOperators(),    regionOperators(),
          sequenceOperators(),      signalOperators()})
      for (const OperatorEntry &entry : family)
        map[entry.name] = &entry;
    return map;
  }();
  return all;
}

const OperatorEntry *gpuopt::findOperator(StringRef name) {
  auto found = allOperators().find(name);
  return found == allOperators().end() ? nullptr : found->second;
}

void gpuopt::printOperatorTable(raw_ostream &stream) {
  stream << "# Supported ONNX operators\n\n"
            "Of the default domain, from opset 7 on; printed by `gpuopt "
            "operators`. Shapes are static once\n"
            "`--batch-size` and `--dim` are given; what depends on constants "
            "alone is computed by the compiler.\n\n"
            "To add an operator, write its converter in the file of its family "
            "in lib/Conversion/OnnxToNN and list it\n"
            "in that family's table; if it needs an op of its own, add that to "
            "the nn dialect with its gradient.\n\n"
            "| operator | limits |\n|---|---|\n";
  for (auto &[name, entry] : allOperators())
    stream << "| " << name << " | " << entry->note << " |\n";
}
