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

using namespace mlir;
using namespace gpuopt;

std::optional<SmallVector<int64_t>>
NodeConversion::constantInts(unsigned index) {
  DenseElementsAttr value;
  if (!has(index) || !matchPattern(input(index), m_Constant(&value)) ||
      !isa<IntegerType>(value.getElementType())) {
    problem = "operand " + std::to_string(index) +
              " must be an integer constant once shapes are known";
    return std::nullopt;
  }
  SmallVector<int64_t> numbers;
  for (const APInt &number : value.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  return numbers;
}

std::optional<double> NodeConversion::constantFloat(unsigned index) {
  auto numbers = constantFloats(index);
  if (numbers && numbers->size() == 1)
    return numbers->front();
  problem = "operand " + std::to_string(index) +
            " must be a single floating-point constant";
  return std::nullopt;
}

std::optional<SmallVector<double>>
NodeConversion::constantFloats(unsigned index) {
  DenseElementsAttr value;
  if (!has(index) || !matchPattern(input(index), m_Constant(&value)) ||
      !isa<FloatType>(value.getElementType())) {
    problem = "operand " + std::to_string(index) +
              " must be a floating-point constant";
    return std::nullopt;
  }
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

std::optional<SmallVector<int64_t>>
NodeConversion::commonShape(ArrayRef<Value> values) {
  SmallVector<int64_t> common;
  for (Value value : values) {
    SmallVector<int64_t> next;
    if (!OpTrait::util::getBroadcastedShape(common, b.shape(value), next)) {
      problem = "operands do not broadcast to each other";
      return std::nullopt;
    }
    common = next;
  }
  return common;
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

Value gpuopt::sliceAlong(NodeConversion &c, int64_t axis, int64_t offset,
                         int64_t size, int64_t stride) {
  SmallVector<int64_t> offsets(c.type(0).getRank(), 0),
      sizes(c.type(0).getShape()), strides(c.type(0).getRank(), 1);
  offsets[axis] = offset;
  sizes[axis] = size;
  strides[axis] = stride;
  return c.b.createOrFold<nn::SliceOp>(c.input(0), offsets, sizes, strides);
}

/// All operators by name.
static const std::map<StringRef, const OperatorEntry *> &allOperators() {
  static const auto all = [] {
    std::map<StringRef, const OperatorEntry *> map;
    for (ArrayRef<OperatorEntry> family :
         {elementwiseOperators(), contractionOperators(), einsumOperators(),
          spatialOperators(), resampleOperators(), normalisationOperators(),
          shapeOperators(), gatherOperators(), scanOperators(),
          reductionOperators()})
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
            "Of the default domain, from opset 13 on; printed by `gpuopt "
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
