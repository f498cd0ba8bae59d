//===- Shapes.cpp - Shapes of library calls as constants ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step/Shapes.h"

#include "Text.h"

using namespace mlir;
using namespace gpuopt;

/// 4, or {1, 2}
static std::string valueText(Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value))
    return std::to_string(number.getInt());
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(cast<DenseI64ArrayAttr>(value).asArrayRef(), stream);
  return "{" + text + "}";
}

/// {.m = 4, .n = 8}
static std::string initialiser(device::StructAttr shape) {
  std::string text;
  for (NamedAttribute field : shape.getFields())
    text += (text.empty() ? "." : ", .") + field.getName().str() + " = " +
            valueText(field.getValue());
  return "{" + text + "}";
}

std::string cxx::ShapeTable::of(device::StructAttr shape) {
  std::string type = shape.getStructType().str(), value = initialiser(shape);
  std::string &known = nameOf[type + value];
  if (known.empty()) {
    known = names.unique(shape.getName());
    lines.push_back("constexpr " + type + " " + known + " = " + value + ";");
  }
  return known;
}

void cxx::ShapeTable::print(raw_ostream &stream) const {
  for (const std::string &line : lines)
    printLine(stream, line);
}
